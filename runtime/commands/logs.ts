// `work-ledger logs`: what happened in a work item, from its rows; with --follow also what happens next, until it ends.

import type { Settings } from '../config.ts';
import { UsageError } from '../ledger/errors.ts';
import type { Happened } from '../ledger/overview.ts';
import { followOn } from './follow.ts';
import { itemOf } from './items.ts';
import { clock, day } from './localTime.ts';
import { nowText, sayCost, Waits } from './now.ts';
import { callText, entryLine, exit, itemText, note, paint, print, StatusLine, stateColor, toldBy, visible } from './output.ts';
import { soonOver } from './stoppable.ts';
import { withLooking, withReader } from './withLedger.ts';
import { Words } from './words.ts';

export const logs = (workItemId: string, options: Settings & { limit?: number }): Promise<number> => {
  if ((options.limit ?? 1) < 1) throw new UsageError('--limit must be 1 or more');
  return withLooking(options, async (db) => {
    const item = await itemOf(db, workItemId);
    const lines = await db.workLog(item.id, options.limit ?? 200);
    print(lines, byDays(lines).join('\n') || 'nothing has happened yet', options.json ?? false);
    return exit.ok;
  });
};

/** The lines, each day but today before its first one: work may last for days. */
function byDays(lines: readonly Happened[]): string[] {
  let last = day(new Date().toISOString());
  return lines.flatMap((one) => {
    const before = last;
    last = day(one.at);
    return last === before ? [logLine(one)] : [paint('dim', last), logLine(one)];
  });
}

function logLine({ at, kind, iteration, name, text, status, seconds, error }: Happened): string {
  const time = paint('dim', clock(at));
  if (kind === 'told') return `${time}  ${toldBy(name, status)}: ${visible(text).replaceAll('\n', '\n          ')}`;
  if (kind === 'said') return `${time}  turn ${iteration} says: ${visible(text).replaceAll('\n', '\n          ')}`;
  if (kind === 'entry') return `${time}  ${entryLine({ seq: null, entry_type: name ?? '', content: text }).replaceAll('\n', '\n      ')}`;
  if (kind === 'goes on')
    return `${time}  ${name === 'retry' ? 'retried' : 'continued'} by ${visible(status ?? '')}${text === '' ? '' : `: ${visible(text).replaceAll('\n', '\n      ')}`}`;
  if (kind === 'next')
    return `${time}  ${name === 'retry' ? 'retried' : 'continued'} by ${visible(status ?? '')} as ${text}: work-ledger logs ${text}`;
  if (kind === 'attempt')
    return `${time}  ${paint('red', `${text} ${status}`)}${error === null ? '' : `: ${visible(error).replaceAll('\n', '\n      ')}`}`;
  if (kind === 'end')
    return `${time}  ${paint(stateColor(status ?? ''), status ?? '')}${text === '' ? '' : `: ${visible(text).replaceAll('\n', '\n      ')}`}`;
  return `${time}  ${callText({ name: name ?? '', input: text, status: status ?? '', seconds, error })}`;
}

export function followLogs(workItemId: string, options: Settings): Promise<number> {
  const interrupted = new AbortController();
  const status = new StatusLine();
  const followed = followFrom(workItemId, options, status, interrupted);
  return soonOver(followed, interrupted.signal, () => {
    status.clear();
    return exit.interrupted;
  });
}

const followFrom = (workItemId: string, options: Settings, status: StatusLine, interrupted: AbortController): Promise<number> =>
  withReader(options, async (db, url) => {
    const item = await itemOf(db, workItemId);
    process.once('SIGINT', () => interrupted.abort());
    const words = new Words();
    const waits = new Waits();
    const ended = await followOn(
      db,
      url,
      item.id,
      {
        onEntry: (entry) => {
          status.clear();
          if (options.json) print(entry, '', true);
          else words.entry(entry);
        },
        onActivity: (event) => {
          status.clear();
          if (options.json) print(event, '', true);
          else words.show(event);
        },
        onPoll: async (id) => {
          const now = await db.workNow(id);
          if (now === null) return;
          const why = waits.newReason(now);
          if (why !== null) {
            status.clear();
            words.end();
            note(why);
          }
          if (!words.isOpen && !options.json) status.show(nowText(now));
        },
      },
      interrupted.signal,
    );
    status.clear();
    words.end();
    if (interrupted.signal.aborted) return exit.interrupted;
    if (ended && !options.json) {
      print(ended, itemText(ended), false);
      await sayCost(db, ended.id);
    }
    return ended?.state === 'completed' ? exit.ok : exit.workItemFailed;
  });
