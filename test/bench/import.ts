// How fast recorded runs become committed rows: copies of the Claude Code sessions below --runs, under ids of their own, each in a
// file of its own or all as one long session in one file; then all of it again, when nothing is new; and a COPY of the rows that
// came of it into tables with the same indexes, which parses, compares and links nothing.

import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type pg from 'pg';

import { importFile } from '../../runtime/import/importFile.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { against, lineOf, timed } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

const importing: Question = {
  asks: 'How fast do recorded runs become committed rows?',
  async measure({ quick, runs, say }) {
    const sources = await claudeSessions(runs);
    if (sources.length === 0) {
      say(`import: left out, there are no recorded Claude Code sessions below ${runs}`);
      return [];
    }
    const lines: Line[] = [];
    for (const [kind, megabytes] of quick ? [['many', 4] as const] : [['many', 100] as const, ['one', 300] as const]) {
      say(`import: ${megabytes} MB`);
      lines.push(
        ...(await withServer(async ({ url, admin }) => {
          const work = await mkdtemp(join(tmpdir(), 'import-bench-'));
          try {
            const { files, bytes } = await copies(sources, work, megabytes, kind === 'one');
            return await rounds(url, admin, files, bytes, `${megabytes} MB in ${files.length} ${files.length === 1 ? 'file' : 'files'}`);
          } finally {
            await rm(work, { recursive: true, force: true });
          }
        })),
      );
    }
    return lines;
  },
};
export { importing as import };

async function claudeSessions(directory: string): Promise<string[]> {
  const sources: string[] = [];
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  for (const name of names.filter((one) => one.endsWith('.jsonl') && !one.includes('subagents'))) {
    const text = await readFile(join(directory, name), 'utf8');
    if (/"sessionId":"[0-9a-f-]{36}"/.test(text) && text.includes('"type":"assistant"')) sources.push(text);
  }
  return sources;
}

async function copies(
  sources: readonly string[],
  folder: string,
  megabytes: number,
  isOneSession: boolean,
): Promise<{ files: string[]; bytes: number }> {
  const files: string[] = [];
  let bytes = 0;
  for (let n = 0; bytes < megabytes * 1_000_000; n++) {
    const number = String(n).padStart(8, '0');
    const session = isOneSession ? '00000000-0000-4000-8000-000000000000' : `00000000-0000-4000-8000-0000${number}`;
    const text = sources[n % sources.length]!.replaceAll(/"(uuid|parentUuid|logicalParentUuid)":"[0-9a-f]{8}/g, `"$1":"${number}`)
      .replaceAll(/"(msg|toolu|req)_/g, `"$1_${number}_`)
      .replaceAll(/"sessionId":"[0-9a-f-]{36}"/g, `"sessionId":"${session}"`);
    if (n === 0 || !isOneSession) files.push(join(folder, `${session}.jsonl`));
    await appendFile(files.at(-1)!, text.endsWith('\n') ? text : `${text}\n`);
    bytes += Buffer.byteLength(text);
  }
  return { files, bytes };
}

async function rounds(url: string, admin: pg.Client, files: readonly string[], bytes: number, what: string): Promise<Line[]> {
  const rates: Line[] = [];
  const memories: Line[] = [];
  const db = await openDb(url, 'work_ledger', { maximumPoolSize: 2 });
  for (const round of ['new', 'again']) {
    const memory: number[] = [];
    const look = (): void => void memory.push(process.memoryUsage().rss / 1e6);
    const ms = await timed(async () => {
      for (const file of files) {
        const report = await importFile(db, file, { onProgress: look });
        if ('error' in report) throw new Error(`${file}: ${report.error}`);
        look();
      }
    });
    rates.push(lineOf(`${what}, ${round}`, 'MB of files/s', [bytes / ms / 1000]));
    const half = memory.length >> 1;
    for (const [part, values] of [
      ['first', memory.slice(0, half)],
      ['second', memory.slice(half)],
    ] as const)
      memories.push(lineOf(`${what}, ${round}`, `MB of memory at most, ${part} half`, [Math.max(...values)]));
  }
  await db.close();
  const copied = lineOf(`${what}, COPY of its rows`, 'MB of files/s', [bytes / (await copyRows(admin)) / 1000]);
  return [...rates.map((rate) => against(rate, copied)), copied, ...memories];
}

/** Milliseconds to copy all rows of the ledger into tables of their own, in one transaction. */
async function copyRows(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ name: string; file: string }>(`
    select c.relname as name, quote_literal(current_setting('data_directory') || '/bench_' || c.relname) as file
      from pg_class c where c.relnamespace = 'work_ledger'::regnamespace and c.relkind = 'r'`);
  await admin.query('create schema bench_copy');
  for (const { name, file } of rows) {
    await admin.query(
      `create table bench_copy.${name} (like work_ledger.${name} including all); copy work_ledger.${name} to ${file} (format binary)`,
    );
  }
  return timed(async () => {
    await admin.query('begin');
    for (const { name, file } of rows) await admin.query(`copy bench_copy.${name} from ${file} (format binary)`);
    await admin.query('commit');
  });
}
