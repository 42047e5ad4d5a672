// What a person waits for when a command starts, and a client of the ledger at each of its hooks, against a bare `node -e 0` and
// against Node with one connection and one query. The built program, as the package has it, each time in a process of its own; a
// ledger that stands already.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openDb } from '../../runtime/ledger/db.ts';
import { linesOf, takeTurns } from './harness/question.ts';
import type { Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BARE = 'node -e 0';
const CONNECTED = 'Node with pg: a connection, a query';
const query = `const pg = require('pg'); (async () => { const c = new pg.Client({ connectionString: process.env.DATABASE_URL }); await c.connect(); await c.query('select 1'); await c.end(); })()`;
const ours = (...args: string[]): string[] => [join(root, 'bin', 'work-ledger.cjs'), ...args];

export const commands: Question = {
  asks: 'How long does a command take from the shell?',
  measure: ({ quick, say }) =>
    withServer(async ({ url }) => {
      say('commands: builds the package');
      execFileSync('make', ['build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
      const db = await openDb(url, 'work_ledger');
      const { id } = await db.workSubmit({ workType: 'analyze', description: 'Find why the import is slow' });
      for (let n = 0; n < 20; n++) await db.ledgerAppend(id, 'finding', `Finding ${n}`);
      await db.close();
      const variants: Record<string, string[]> = {
        [BARE]: ['-e', '0'],
        [CONNECTED]: ['-e', query],
        '--version': ours('--version'),
        '--help': ours('--help'),
        'show ID': ours('show', id),
        list: ours('list'),
        submit: ours('submit', 'Another', '--type', 'analyze'),
        ...Object.fromEntries(
          ['session-start', 'user-prompt', 'post-tool-use', 'pre-compact', 'stop'].map((name) => [`hook ${name}`, ours('hook', name)]),
        ),
      };
      const home = await mkdtemp(join(tmpdir(), 'commands-bench-'));
      try {
        const turns = Object.fromEntries(Object.entries(variants).map(([name, args]) => [name, async () => run(args, url, home)]));
        for (const turn of Object.values(turns)) await turn(); // caches of the compiler and of the server
        return linesOf(await takeTurns(quick ? 3 : 15, turns), {
          unit: 'ms',
          of: Object.fromEntries(Object.keys(variants).map((name) => [name, name === CONNECTED ? [BARE] : [BARE, CONNECTED]])),
        });
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    }),
};

function run(args: string[], url: string, home: string): number {
  const env = { PATH: process.env['PATH'], HOME: home, DATABASE_URL: url, DOCKER_HOST: 'unix:///nowhere.sock' };
  const input = {
    cwd: home,
    prompt: 'Find why the import is slow',
    tool_name: 'Edit',
    tool_input: { file_path: join(home, 'a.ts') },
    tool_response: 'done',
  };
  const began = performance.now();
  const ended = spawnSync(process.execPath, args, { cwd: root, env, input: JSON.stringify(input), encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`${args.join(' ')}: ${ended.stderr}`);
  return performance.now() - began;
}
