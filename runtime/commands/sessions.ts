// `work-ledger sessions`: the sessions of other programs whose transcripts are kept here, most recently appended to first.

import type { Settings } from '../config.ts';
import { UsageError } from '../ledger/errors.ts';
import type { KeptSession } from '../ledger/overview.ts';
import { fitting, padded, widthOf } from './cells.ts';
import { exit, paint, print, span, visible } from './output.ts';
import { whereOf } from './where.ts';
import type { Where } from './where.ts';
import { withLooking } from './withLedger.ts';

export type SessionsOptions = Settings & Where & { limit?: number };

export function sessions(options: SessionsOptions): Promise<number> {
  const limit = options.limit ?? 20;
  if (limit < 1) throw new UsageError('--limit must be 1 or more');
  return withLooking(options, async (db) => {
    const project = await whereOf(options);
    const found = await db.keptSessions(project, limit);
    const text =
      found.length > 0
        ? table(found, process.stdout.isTTY ? process.stdout.columns : Infinity).join('\n')
        : `no sessions${project === null ? '' : ` in ${visible(project)}`} whose transcripts are kept here (docs/claude-agent-sdk.md)`;
    print(found, text, options.json ?? false);
    return exit.ok;
  });
}

function table(found: readonly KeptSession[], width: number): string[] {
  const room = Math.max(7, ...found.map(({ session_id: id }) => widthOf(visible(id))));
  const line = (id: string, age: string, status: string, entries: string): string =>
    `${padded(id, room)}  ${age.padStart(4)}  ${status.padEnd(9)}  ${entries.padStart(7)}  `;
  const left = Math.max(12, width - line('', '', '', '').length);
  return [
    paint('dim', `${line('SESSION', 'AGE', 'STATUS', 'ENTRIES')}ASKED FIRST`),
    ...found.map(
      (one) =>
        line(visible(one.session_id), span(one.age_seconds), one.session_status ?? 'unread', String(one.entry_count)) +
        fitting(
          `${visible(one.description ?? '–').split('\n')[0]}${one.is_resumable ? '' : ' (cannot be resumed)'}${one.problem === null ? '' : ` (not read: ${visible(one.problem).replaceAll('\n', ' ')})`}`,
          left,
        ),
    ),
  ];
}
