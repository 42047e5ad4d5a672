// `work-ledger follow [PATH…]`: the sessions of other programs in the ledger, while they run, until a signal ends it.

import { basename } from 'node:path';

import type { Settings } from '../config.ts';
import { SessionFollower } from '../import/followSessions.ts';
import type { FollowEvent } from '../import/followSessions.ts';
import { folderAt, sessionFolders } from '../import/sessionFolders.ts';
import { exit, note, print, StatusLine, visible } from './output.ts';
import { withLedger } from './withLedger.ts';

export async function followSessions(paths: readonly string[], options: Settings & { keepSecrets?: boolean }): Promise<number> {
  if (options.keepSecrets) process.env['PGOPTIONS'] = `${process.env['PGOPTIONS'] ?? ''} -c work_ledger.redact=off`.trim();
  const folders = paths.length === 0 ? sessionFolders() : await Promise.all(paths.map(folderAt));
  return withLedger(options, async (db) => {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    const status = new StatusLine();
    const tell = (event: FollowEvent): void => {
      if (event.event === 'progress') return status.show(`${event.read + 1} of ${event.files}: ${visible(basename(event.path))}`);
      status.clear();
      const said = wordsOf(event);
      if (options.json === true || event.event === 'session') print(event, said, options.json ?? false);
      else note(said);
    };
    await new SessionFollower(db, folders, tell, stop.signal).run();
    status.clear();
    return exit.ok;
  });
}

function wordsOf(event: FollowEvent): string {
  switch (event.event) {
    case 'session':
      return `${event.workItemId}  ${event.format}  ${event.added.turns} turns and ${event.added.calls} calls more  ${visible(event.path)}`;
    case 'ready':
      return `following ${event.files} files: ${event.read} were read now, ${event.asBefore} are as they were`;
    case 'rest':
      return `at rest: ${event.work_item_ids.join(', ')}`;
    case 'problem':
      return `not read  ${visible(event.path)}: ${visible(event.problem)}`;
    case 'waiting':
      return `the ledger is away, and is waited for: ${visible(event.problem)}`;
    case 'back':
      return 'the ledger is back';
    default:
      return '';
  }
}
