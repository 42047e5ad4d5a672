// First paint of the console: the server's time for a page of an item with 10,000 turns against one with 100, and for `/` with 100
// items under way against one. The pages take turns, so that a slow minute of the machine hits all of them alike; what counts is
// the ratio.
//   npm run bench -- console [rounds]

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { startConsole } from '../../runtime/console/server.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { longItem } from '../longItem.ts';

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const [rounds = 15] = process.argv.slice(2).map(Number);
const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`set search_path = work_ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
const running = await startConsole({ url, schema: 'work_ledger', port: 0 });

async function look(path: string): Promise<{ ms: number; bytes: number }> {
  const began = performance.now();
  const answer = await fetch(new URL(path, running.address));
  const body = await answer.text();
  if (!answer.ok || body.includes('failed-part')) throw new Error(`${path}: ${answer.status}`);
  return { ms: performance.now() - began, bytes: body.length };
}

const median = (some: number[]): number => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;

async function compare(pairs: readonly (readonly [small: string, large: string])[]): Promise<void> {
  for (const pair of pairs) for (const path of pair) await look(path); // connections, catalogs
  const times = new Map<string, number[]>();
  const bytes = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    for (const path of pairs.flat()) {
      const seen = await look(path);
      times.set(path, [...(times.get(path) ?? []), seen.ms]);
      bytes.set(path, seen.bytes);
    }
  }
  for (const [small, large] of pairs) {
    const [a, b] = [median(times.get(small) ?? []), median(times.get(large) ?? [])];
    process.stdout.write(`| \`${large.replace(/[0-9a-f-]{36}/, 'ID')}\` | ${a.toFixed(0)} | ${b.toFixed(0)} | ${(b / a).toFixed(2)} | ${((bytes.get(large) ?? 0) / (bytes.get(small) ?? 1)).toFixed(2)} |\n`);
  }
}

try {
  const [small, large] = [await longItem(client, 100), await longItem(client, 10_000)];
  await client.query('vacuum analyze');
  say('both items are there');
  await compare(['', '/turns', '/ledger', '/context', '/context?from=1', '/cost'].map((tab) => [`/work/${small}${tab}`, `/work/${large}${tab}`] as const));
  const before: number[] = [];
  for (let round = 0; round < rounds; round++) before.push((await look('/')).ms);
  for (let n = 0; n < 98; n++) await longItem(client, 3);
  await client.query('vacuum analyze');
  await look('/');
  const after: number[] = [];
  for (let round = 0; round < rounds; round++) after.push((await look('/')).ms);
  process.stdout.write(`| \`/\`, 2 items under way, then 100 | ${median(before).toFixed(0)} | ${median(after).toFixed(0)} | ${(median(after) / median(before)).toFixed(2)} | |\n`);
} finally {
  await running.close();
  await client.end();
  await stopEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
