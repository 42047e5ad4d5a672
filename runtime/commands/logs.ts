// `work-ledger logs`: what happened in a work item, from its rows.

import type { Settings } from '../config.ts';
import { UsageError } from '../ledger/errors.ts';
import type { Happened } from '../ledger/overview.ts';
import { itemOf } from './items.ts';
import { callText, entryLine, exit, paint, print, stateColor, toldBy, visible } from './output.ts';
import { withLooking } from './withLedger.ts';

export const logs = (workItemId: string, options: Settings & { limit?: number }): Promise<number> => {
  if ((options.limit ?? 1) < 1) throw new UsageError('--limit must be 1 or more');
  return withLooking(options, async (db) => {
    const item = await itemOf(db, workItemId);
    const lines = await db.workLog(item.id, options.limit ?? 200);
    print(lines, lines.map(logLine).join('\n') || 'nothing has happened yet', options.json ?? false);
    return exit.ok;
  });
};

function logLine({ at, kind, iteration, name, text, status, seconds, error }: Happened): string {
  const time = paint('dim', at.slice(11, 19));
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
