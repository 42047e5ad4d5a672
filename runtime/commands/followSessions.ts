// `work-ledger follow [PATH…]`: records the sessions of other programs in the ledger while they run, until a signal ends it.

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
      if (event.event === 'progress') return status.show(wordsOf(event));
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

const words: { [Kind in FollowEvent['event']]: (event: Extract<FollowEvent, { event: Kind }>) => string } = {
  progress: ({ read, files, path }) => `${read + 1} of ${files}: ${visible(basename(path))}`,
  ready: ({ files, read, asBefore }) => `following ${files} files: ${read} were read now, ${asBefore} are as they were`,
  session: ({ workItemId, format, added, path }) =>
    `${workItemId}  ${format}  ${added.turns} turns and ${added.calls} calls more  ${visible(path)}`,
  rest: ({ work_item_ids: ids }) => `at rest: ${ids.join(', ')}`,
  problem: ({ path, problem }) => `not read  ${visible(path)}: ${visible(problem)}`,
  waiting: ({ problem }) => `the ledger is away, and is waited for: ${visible(problem)}`,
  back: () => 'the ledger is back',
};

const wordsOf = (event: FollowEvent): string => (words[event.event] as (event: FollowEvent) => string)(event);
