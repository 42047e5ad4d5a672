// `work-ledger list`: the newest work items as a table, children below their parents.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Settings } from '../config.ts';
import { unknownState } from '../ledger/answers.ts';
import { UsageError } from '../ledger/errors.ts';
import type { ListedItem, UnderWay } from '../ledger/overview.ts';
import { fitting, padded, widthOf } from './cells.ts';
import { exit, note, paint, print, span, stateColor, visible } from './output.ts';
import { soonOver, stoppable } from './stoppable.ts';
import { whereOf } from './where.ts';
import type { Where } from './where.ts';
import { withLooking } from './withLedger.ts';

export type ListOptions = Settings & Where & { state?: string[]; limit?: number; watch?: boolean };

export const list = (options: ListOptions): Promise<number> => {
  const wanted = options.state?.flatMap((text) => text.split(',')) ?? null;
  const wrong = unknownState(wanted ?? []);
  if (wrong !== null) throw new UsageError(wrong);
  const limit = options.limit ?? 20;
  if (limit < 1) throw new UsageError('--limit must be 1 or more');
  const shown = (stopped: AbortSignal): Promise<number> => listed(options, wanted, limit, stopped);
  if (!options.watch) return shown(AbortSignal.abort());
  return stoppable((stopped) => soonOver(shown(stopped), stopped, () => exit.ok));
};

/** Shows the list again as it changes, until the signal fires. */
const listed = (options: ListOptions, wanted: string[] | null, limit: number, stopped: AbortSignal): Promise<number> =>
  withLooking(options, async (db) => {
    const project = await whereOf(options);
    const show = async (before: string): Promise<string> => {
      const items = await db.workList(wanted, project, limit);
      const text =
        items.length > 0
          ? table(items, process.stdout.isTTY ? process.stdout.columns : Infinity).join('\n')
          : `no work items${inWords(project)}${wanted ? ' in this state' : ' yet: work-ledger submit "…" --type TYPE'}`;
      const seen = options.json ? JSON.stringify(items.map((item) => ({ ...item, age_seconds: 0 }))) : text;
      if (seen === before) return seen;
      if (options.watch && process.stdout.isTTY && !options.json) process.stdout.write('\u001b[H\u001b[2J');
      print(items, text, options.json ?? false);
      if (!options.json) sayUnderWay(await db.underWay(project));
      const elsewhere = project === null ? 0 : await db.workCountBeyond(wanted, project);
      if (elsewhere > 0) note(`${elsewhere === 1000 ? 'at least ' : ''}${elsewhere} more in other projects: work-ledger list --all`);
      return seen;
    };
    for (let seen = await show(''); !stopped.aborted;) {
      await sleep(1000, undefined, { signal: stopped }).catch(() => {});
      if (!stopped.aborted) seen = await show(seen);
    }
    return exit.ok;
  });

/** Where a list was looked up, as a part of a sentence. */
function inWords(project: string | null): string {
  if (project === null) return '';
  return project === '' ? ' without a project' : ` in ${visible(project)}`;
}

/** Prints what is running in one line, and how to handle what waits for people. */
function sayUnderWay(now: UnderWay): void {
  const parts = [
    [now.model, 'with the model'],
    [now.tools, 'at their tools'],
    [now.waits, 'waiting'],
    [now.paused, 'paused'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, doing]) => `${count} ${doing}`);
  if (now.under_way > 0) note(`${now.under_way} under way${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`);
  if (now.approvals > 0) note(`${now.approvals} ${now.approvals === 1 ? 'call waits' : 'calls wait'} for approval: work-ledger approve`);
}

/** A terminal from this width on has room for whole ids next to the work. */
const ROOM_FOR_IDS = 110;

/** A header and a line for each item; `width`: that of the terminal. On a narrow one an id is its last six characters, as commands accept it. */
export function table(items: readonly ListedItem[], width: number): string[] {
  const ids = width < ROOM_FOR_IDS ? 6 : 36;
  const facultyOf = (item: ListedItem): string => fitting(visible(item.faculty ?? '–'), 16);
  const room = Math.max(7, ...items.map((item) => widthOf(facultyOf(item))));
  const line = (id: string, age: string, state: string, faculty: string): string =>
    `${id.padEnd(ids)}  ${age.padStart(4)}  ${state}  ${padded(faculty, room)}  `;
  const left = Math.max(12, width - (ids + 2 + 4 + 2 + 9 + 2 + room + 2));
  return [
    paint('dim', `${line('ID', 'AGE', 'STATE'.padEnd(9), 'FACULTY')}WORK`),
    ...inTrees(items).map(({ item, depth }) => {
      const why = item.why ?? item.state_reason;
      const what = `${'  '.repeat(Math.max(0, depth - 1))}${depth > 0 ? '└ ' : ''}${visible(item.description).split('\n')[0]}${why === null ? '' : ` (${visible(why).replaceAll('\n', ' ')})`}`;
      return (
        line(item.id.slice(-ids), span(item.age_seconds), paint(stateColor(item.state), item.state.padEnd(9)), facultyOf(item)) +
        fitting(what, left)
      );
    }),
  ];
}

/** Each item below its parent, if that is shown. The newest tree comes first; within a tree, the oldest item. */
function inTrees(items: readonly ListedItem[]): { item: ListedItem; depth: number }[] {
  const shown = new Set(items.map((item) => item.id));
  const isTop = (item: ListedItem): boolean => item.parent_id === null || !shown.has(item.parent_id);
  const below = (parent: ListedItem, depth: number): { item: ListedItem; depth: number }[] => [
    { item: parent, depth },
    ...items
      .filter((item) => item.parent_id === parent.id)
      .toReversed()
      .flatMap((item) => below(item, depth + 1)),
  ];
  return items.filter(isTop).flatMap((item) => below(item, item.parent_id === null ? 0 : 1));
}
