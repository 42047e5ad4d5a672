// How fast recorded runs become committed rows: `npm run bench -- import DIR [MB [one]]`. Copies of the Claude Code sessions
// below DIR, under ids of their own, until there are so many megabytes: each in a file of its own, or all of them as one long
// session in one file; then all of it again, when nothing is new.

import { appendFile, chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { importFile } from '../../runtime/commands/import.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';

const [directory = '../shared/transcripts', megabytes = '100', kind = 'many'] = process.argv.slice(2);
const sources: string[] = [];
for (const name of (await readdir(directory, { recursive: true })).filter((one) => one.endsWith('.jsonl') && !one.includes('subagents'))) {
  const text = await readFile(join(directory, name), 'utf8');
  if (/"sessionId":"[0-9a-f-]{36}"/.test(text) && text.includes('"type":"assistant"')) sources.push(text);
}
const work = await mkdtemp(join(tmpdir(), 'import-bench-'));
const dataDir = await mkdtemp(join(tmpdir(), 'import-bench-db-'));
await chmod(dataDir, 0o755);
try {
  const files: string[] = [];
  let bytes = 0;
  for (let n = 0; bytes < Number(megabytes) * 1_000_000; n++) {
    const number = String(n).padStart(8, '0');
    const session = kind === 'one' ? '00000000-0000-4000-8000-000000000000' : `00000000-0000-4000-8000-0000${number}`;
    const text = sources[n % sources.length]!
      .replaceAll(/"(uuid|parentUuid|logicalParentUuid)":"[0-9a-f]{8}/g, `"$1":"${number}`).replaceAll(/"(msg|toolu|req)_/g, `"$1_${number}_`).replaceAll(/"sessionId":"[0-9a-f-]{36}"/g, `"sessionId":"${session}"`);
    if (n === 0 || kind !== 'one') files.push(join(work, `${session}.jsonl`));
    await appendFile(files.at(-1)!, text.endsWith('\n') ? text : `${text}\n`);
    bytes += Buffer.byteLength(text);
  }
  const embedded = await ensureEmbedded({ dataDir });
  await installLedger(embedded.url, 'bench');
  const db = await openDb(embedded.url, 'bench', { maximumPoolSize: 2 });
  for (const round of ['new', 'again']) {
    const startedAt = performance.now();
    const memory: number[] = [];
    const look = (): void => void memory.push(process.memoryUsage().rss / 1e6);
    let [sessions, turns, calls] = [0, 0, 0];
    for (const file of files) {
      const report = await importFile(db, file, { onProgress: look });
      if ('error' in report) throw new Error(`${file}: ${report.error}`);
      sessions += report.sessions.length;
      for (const { added } of report.sessions) [turns, calls] = [turns + added.turns, calls + added.calls];
      look();
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const half = memory.length >> 1;
    const peak = (part: number[]): number => Math.round(Math.max(...part));
    console.log(`${round}: ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${sessions} sessions, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s: ${(bytes / 1e6 / seconds).toFixed(1)} MB/s; ${turns} turns, ${calls} calls; memory at most ${peak(memory.slice(0, half))} MB in the first half, ${peak(memory.slice(half))} MB in the second`);
  }
  await db.close();
  await stopEmbedded(dataDir);
} finally {
  await rm(work, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}
