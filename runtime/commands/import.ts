// `work-ledger import PATH…`: imports recorded runs. An unreadable file never stops the others.

import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { Settings } from '../config.ts';
import { importFile } from '../import/importFile.ts';
import type { ImportReport } from '../import/importFile.ts';
import { isRecording } from '../import/sessionFolders.ts';
import { UsageError } from '../ledger/errors.ts';
import { exit, note, print, StatusLine, visible } from './output.ts';
import { literalName } from '../visible.ts';
import { withLedger } from './withLedger.ts';

export async function importFiles(paths: readonly string[], options: Settings & { keepSecrets?: boolean }): Promise<number> {
  if (options.keepSecrets) process.env['PGOPTIONS'] = `${process.env['PGOPTIONS'] ?? ''} -c work_ledger.redact=off`.trim();
  const files: string[] = [];
  for (const path of paths) files.push(...(await filesBelow(path)));
  if (files.length === 0) throw new UsageError('no files to import');
  return withLedger(options, async (db) => {
    await db.version(); // without a ledger, no file is to blame
    const status = new StatusLine();
    let failed = 0;
    const added = { sessions: 0, turns: 0, calls: 0 };
    for (const [n, file] of files.entries()) {
      const show = (part: string): void => status.show(`${n + 1} of ${files.length}: ${basename(file)}${part}`);
      show('');
      const report = await importFile(db, file, { onProgress: (percent) => show(`, ${percent} %`) });
      status.clear();
      if ('error' in report) failed++;
      for (const one of 'error' in report ? [] : report.sessions) {
        added.sessions++;
        added.turns += one.added.turns;
        added.calls += one.added.calls;
      }
      print(report, linesOf(report), options.json ?? false);
    }
    const left = failed === 0 ? '' : `; ${failed} of ${files.length} files were not imported`;
    note(
      `imported ${files.length - failed} of ${files.length} files: ${added.sessions} sessions, of which ${added.turns} turns and ${added.calls} calls are new${left}`,
    );
    return failed === files.length ? exit.error : exit.ok;
  });
}

async function filesBelow(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`there is no ${path}`);
  });
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name }) => isRecording(name))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function linesOf(report: ImportReport): string {
  if ('error' in report) return `not imported  ${literalName(report.file)}: ${visible(report.error)}`;
  const left = report.leftOut.map(
    ({ reason, count, line }) => `${count} × ${visible(reason)}${line === undefined ? '' : ` (line ${line})`}`,
  );
  return report.sessions
    .map(
      ({ workItemId, turns, calls, added, session }, n) =>
        `${workItemId}  ${report.format}  ${turns} turns, ${calls} calls (${added.turns} and ${added.calls} new)  ${literalName(n === 0 ? report.file : session)}${n > 0 || left.length === 0 ? '' : `; left out: ${left.join(', ')}`}`,
    )
    .join('\n');
}
