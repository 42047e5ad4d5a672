// `work-ledger follow [PATH…]`: records the sessions of other programs in the ledger while they run, until a signal ends it.

import { existsSync } from 'node:fs';
import { basename } from 'node:path';

import type { Settings } from '../config.ts';
import { SessionFollower } from '../import/followSessions.ts';
import type { FollowEvent } from '../import/followSessions.ts';
import { folderAt, sessionFolders } from '../import/sessionFolders.ts';
import { exit, note, print, StatusLine, visible } from './output.ts';
import { withLedger } from './withLedger.ts';
import { literalName } from '../visible.ts';

export async function followSessions(paths: readonly string[], options: Settings & { keepSecrets?: boolean }): Promise<number> {
  if (options.keepSecrets) process.env['PGOPTIONS'] = `${process.env['PGOPTIONS'] ?? ''} -c work_ledger.redact=off`.trim();
  const folders = paths.length === 0 ? sessionFolders() : await Promise.all(paths.map(folderAt));
  for (const { folder } of folders) if (paths.length > 0 && !existsSync(folder)) note(`warning: ${visible(folder)} does not exist yet`);
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
  ready: ({ files, read, asBefore }) => `following ${files} files: read ${read} now, ${asBefore} unchanged`,
  session: ({ workItemId, format, added, path }) =>
    `${workItemId}  ${format}  ${added.turns} more turns and ${added.calls} more calls  ${literalName(path)}`,
  rest: ({ work_item_ids: ids }) => `idle: ${ids.join(', ')}`,
  problem: ({ path, problem }) => `not read  ${literalName(path)}: ${visible(problem)}`,
  waiting: ({ problem }) => `the ledger is unreachable; waiting for it: ${visible(problem)}`,
  back: () => 'the ledger is reachable again',
};

const wordsOf = (event: FollowEvent): string => (words[event.event] as (event: FollowEvent) => string)(event);
