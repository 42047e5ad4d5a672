// What a person waits for when a command starts, and a client of the ledger at each of its hooks, against a bare `node -e 0` and
// against Node with one connection and one query. The built program, as the package has it; a ledger that stands already.
// The variants take turns, so that a slow minute of the machine hits all of them alike; what counts is the ratio.
//   npm run bench -- commands [rounds]

import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [rounds = 15] = process.argv.slice(2).map(Number);
execFileSync('make', ['build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
const { schema } = await installLedger(url, 'work_ledger');
const db = await openDb(url, schema);
const { id } = await db.workSubmit({ workType: 'analyze', description: 'Find why the import is slow' });
for (let n = 0; n < 20; n++) await db.ledgerAppend(id, 'finding', `Finding ${n}`);
await db.close();

const home = join(dataDir, 'home');
await mkdir(home);
const env = { PATH: process.env['PATH'], HOME: home, DATABASE_URL: url, DOCKER_HOST: 'unix:///nowhere.sock' };
const input = { cwd: home, prompt: 'Find why the import is slow', tool_name: 'Edit', tool_input: { file_path: join(home, 'a.ts') }, tool_response: 'done' };
const query = `const pg = require('pg'); (async () => { const c = new pg.Client({ connectionString: process.env.DATABASE_URL }); await c.connect(); await c.query('select 1'); await c.end(); })()`;
const ours = (...args: string[]): string[] => [join(root, 'bin', 'work-ledger.cjs'), ...args];
const variants: Record<string, string[]> = {
  '`node -e 0`': ['-e', '0'],
  'Node with `pg`: a connection, a query': ['-e', query],
  '`--version`': ours('--version'),
  '`--help`': ours('--help'),
  '`show ID`': ours('show', id),
  '`list`': ours('list'),
  '`submit`': ours('submit', 'Another', '--type', 'analyze'),
  ...Object.fromEntries(['session-start', 'user-prompt', 'post-tool-use', 'pre-compact', 'stop'].map((name) => [`\`hook ${name}\``, ours('hook', name)])),
};

function run(args: string[]): number {
  const began = performance.now();
  const ended = spawnSync(process.execPath, args, { cwd: root, env, input: JSON.stringify(input), encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`${args.join(' ')}: ${ended.stderr}`);
  return performance.now() - began;
}

const median = (some: readonly number[]): number => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;

try {
  for (const args of Object.values(variants)) run(args); // caches of the compiler and of the server
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries(variants)) times.set(name, [...(times.get(name) ?? []), run(args)]);
  }
  const [bare, connected] = [...times.values()].map(median);
  process.stdout.write('| | ms | of `node -e 0` | of Node with a query |\n| --- | ---: | ---: | ---: |\n');
  for (const [name, some] of times) process.stdout.write(`| ${name} | ${median(some).toFixed(0)} | ${(median(some) / (bare ?? 1)).toFixed(1)} | ${(median(some) / (connected ?? 1)).toFixed(1)} |\n`);
} finally {
  await stopEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
