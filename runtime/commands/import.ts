// `work-ledger import PATH…`: recorded runs of other agents into the ledger. One file that cannot be read never stops the
// others, and importing again brings only what is new.

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { parseRecordedRun } from '../../plv8/recordedRun.ts';
import type { RecordedRun } from '../../plv8/recordedRun.ts';
import type { Settings } from '../config.ts';
import type { Db } from '../db.ts';
import { withLedger } from './items.ts';
import { exit, note, print, StatusLine, UsageError, visible } from './output.ts';

export type ImportReport =
  | { file: string; session: string; workItemId: string; format: string; turns: number; calls: number; added: { turns: number; calls: number }; leftOut: { reason: string; count: number }[] }
  | { file: string; error: string };

export async function importFiles(paths: readonly string[], options: Settings): Promise<number> {
  const files: string[] = [];
  for (const path of paths) files.push(...(await filesBelow(path)));
  if (files.length === 0) throw new UsageError('there is no file to import');
  return withLedger(options, async (db) => {
    const status = new StatusLine();
    let failed = 0;
    for (const [n, file] of files.entries()) {
      status.show(`${n + 1} of ${files.length}: ${basename(file)}`);
      const report = await importFile(db, file);
      status.clear();
      if ('error' in report) failed++;
      print(report, lineOf(report), options.json ?? false);
    }
    if (failed > 0) note(`${failed} of ${files.length} files were not imported`);
    return failed === files.length ? exit.error : exit.ok;
  });
}

/** Reads a file and stores what is not there yet. */
export async function importFile(db: Db, file: string): Promise<ImportReport> {
  try {
    const text = await readFile(file, 'utf8');
    const run = parseRecordedRun(text);
    const stored = await db.sessionImport({ ...run, sessionId: run.sessionId ?? identityOf(file, text), file });
    return {
      file, session: stored.session, workItemId: stored.work_item_id, format: run.format, turns: run.exchanges.length, calls: callsOf(run),
      added: { turns: stored.turns, calls: stored.calls }, leftOut: run.skipped,
    };
  } catch (error) {
    return { file, error: error instanceof Error ? error.message : String(error) };
  }
}

const callsOf = (run: RecordedRun): number => run.exchanges.reduce((sum, exchange) => sum + exchange.calls.length, 0);

/** A record that does not say who it is: its name and how it begins, which stay when it grows. */
const identityOf = (file: string, text: string): string => `${basename(file).replace(/\.(traj\.json|traj|jsonl|json)$/, '')}-${createHash('sha256').update(text.slice(0, 2000)).digest('hex').slice(0, 12)}`;

async function filesBelow(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`there is no ${path}`);
  });
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && /\.(jsonl|traj|json)$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name)).toSorted();
}

function lineOf(report: ImportReport): string {
  if ('error' in report) return `not imported  ${visible(report.file)}: ${visible(report.error)}`;
  const { added, leftOut } = report;
  const rest = leftOut.length === 0 ? '' : `; left out: ${leftOut.map(({ reason, count }) => `${count} × ${visible(reason)}`).join(', ')}`;
  return `${report.workItemId}  ${report.format}  ${report.turns} turns, ${report.calls} calls (${added.turns} and ${added.calls} new)  ${visible(report.file)}${rest}`;
}
