// What `work-ledger top` draws: pure functions from what was read to lines, none wider than the terminal.

import { doingOf, stateNow } from '../../console/doing.ts';
import { k, lasting, num, since } from '../../console/format.ts';
import type { Db } from '../../ledger/db.ts';
import type { UnderWayOfTree } from '../../ledger/consoleNow.ts';
import { money } from '../../money.ts';
import { approvalText } from '../approvals.ts';
import type { Approval } from '../approvals.ts';
import { ending, fitting, padded, widthOf } from '../cells.ts';
import { paint, stateColor, visible } from '../output.ts';

type Queued = Awaited<ReturnType<Db['console']['queue']>>[number];
type Used = { tokens: number; cost: number };

/** The latest state that was read. `words`: what agents are saying, by work item. */
export type Seen = {
  project: string | null;
  isReadOnly: boolean;
  rows: readonly UnderWayOfTree[];
  queue: readonly Queued[];
  sums: { trees: number; under_way: number; model: number; waits: number };
  approvals: number;
  used: readonly Used[];
  words: ReadonlyMap<string, string>;
  skipped: number;
  /** Null: it is live. */
  problem: string | null;
};

/** State of the display: the selected row, the first line drawn, the last message, the text being typed. */
export type Shown = { selected: string | null; from: number; says: string; typing: { label: string; text: string } | null };

/** On a smaller terminal, nothing can be read in full. */
export const SMALLEST = { width: 60, height: 10 };

const one = (text: string): string => visible(text).replaceAll(/\s+/g, ' ').trim();
const signs: Record<string, string> = { approval: '▲', paused: '‖', queued: '·', crashed: '↯', waiting: '◌' };

/** The lines of one row; `id`: the item to select, null: a line between rows. */
type Block = { id: string | null; lines: string[] };

const columns = (width: number): { who: number; tokens: number; cost: number; time: number } =>
  width >= 100 ? { who: 22, tokens: 8, cost: 10, time: 12 } : { who: 12, tokens: 7, cost: 8, time: 7 };

/** A title, with the columns at the right. */
function titled(title: string, who: string, tokens: string, cost: string, time: string, width: number): string {
  const size = columns(width);
  const right = `  ${padded(fitting(who, size.who), size.who)}${[
    [tokens, size.tokens],
    [cost, size.cost],
    [time, size.time],
  ]
    .map(([text, room]) => fitting(String(text), Number(room) - 1).padStart(Number(room)))
    .join('')}`;
  return `${padded(fitting(title, width - widthOf(right)), width - widthOf(right))}${right}`;
}

function rowOf(row: UnderWayOfTree, seen: Seen, width: number): string[] {
  const state = stateNow(row);
  const indent = ' '.repeat(2 + 2 * Math.min(row.depth, 8));
  const began = row.attempt_started_at ?? row.started_at;
  const color = state === 'approval' ? 'yellow' : state === 'crashed' ? 'red' : stateColor(state);
  const line = titled(
    `${indent}${signs[state] ?? '●'} ${one(row.description)}`,
    one(row.faculty ?? row.work_type),
    row.tokens ? k(row.tokens) : '',
    row.cost ? money(row.cost) : '',
    began === null ? '' : lasting(since(began)),
    width,
  );
  const does = fitting(
    `${indent}  ${one(
      doingOf(row)
        .map(({ text }) => text)
        .join(''),
    )}`,
    width,
  );
  const words = row.doing === 'model' ? one(seen.words.get(row.work_item_id) ?? row.last_words ?? '') : '';
  return [
    paint(color, line),
    state === 'approval' ? paint('yellow', does) : paint('dim', does),
    ...(words === '' ? [] : [`${indent}  ${ending(words, width - indent.length - 2)}`]),
  ];
}

function queuedRow(row: Queued, width: number): string[] {
  const why = row.waits_for === 'time' ? `starts in ${lasting(-since(row.run_at))}` : (row.why ?? 'ready');
  const line = titled(`  ${signs['queued']} ${one(row.description)}`, one(row.faculty ?? row.work_type), '', '', `p${row.priority}`, width);
  return [line, paint(row.waits_for === 'faculty' ? 'yellow' : 'dim', fitting(`    ${one(why)}`, width))];
}

/** Trees, parents first, then the queue. */
export function blocksOf(seen: Seen, width: number): Block[] {
  const blocks: Block[] = [];
  for (const tree of Map.groupBy(seen.rows, (row) => row.root_id).values()) {
    blocks.push(...tree.map((row) => ({ id: row.work_item_id, lines: rowOf(row, seen, width) })));
    const more = (tree[0]?.tree_under_way ?? 0) - tree.length;
    if (more > 0) blocks.push({ id: null, lines: [paint('dim', fitting(`    ${num(more)} more of this tree`, width))] });
  }
  const trees = seen.rows[0]?.trees ?? 0;
  const shown = new Set(seen.rows.map((row) => row.root_id)).size;
  if (shown === 0 && seen.skipped === 0) blocks.push({ id: null, lines: [fitting("  nothing runs: work-ledger submit '…'", width)] });
  else if (shown < trees || seen.skipped > 0)
    blocks.push({
      id: null,
      lines: [
        paint(
          'dim',
          fitting(`  trees ${seen.skipped + 1} to ${seen.skipped + shown} of ${num(Math.max(trees, seen.sums.trees))}: > and <`, width),
        ),
      ],
    });
  if (seen.queue.length > 0)
    blocks.push(
      { id: null, lines: ['', paint('bold', '  QUEUE')] },
      ...seen.queue.map((row) => ({ id: row.work_item_id, lines: queuedRow(row, width) })),
    );
  return blocks;
}

const usedText = (label: string, used: Used | undefined): string =>
  used ? `${label} ${k(used.tokens)} tokens${used.cost > 0 ? `, cost ${money(used.cost)}` : ''}` : '';

/** The totals, in one line that fits. */
export function headOf(seen: Seen, width: number): string[] {
  const { sums, used, problem } = seen;
  const live = problem === null ? '● live' : '○ not live';
  const left = [
    paint('bold', 'work-ledger top'),
    seen.project === null ? 'all projects' : fitting(one(seen.project), Math.floor(width / 3)) || 'no project',
    `${num(sums.under_way)} under way, ${num(sums.model)} with the model, ${num(sums.waits)} wait`,
    usedText('today', used[0]),
    width >= 120 ? usedText('all', used[1]) : '',
  ].filter((text) => text !== '');
  const room = width - live.length - 2;
  let line = '';
  let size = 0;
  for (const text of left) {
    const bare = text === left[0] ? 'work-ledger top' : text;
    if (size + widthOf(bare) + 3 > room) continue;
    line += `${size > 0 ? ' · ' : ''}${text}`;
    size += widthOf(bare) + (size > 0 ? 3 : 0);
  }
  const asks =
    problem !== null
      ? paint('red', fitting(one(problem), width))
      : seen.approvals > 0
        ? paint('yellow', `${num(seen.approvals)} ${seen.approvals === 1 ? 'call waits' : 'calls wait'} for approval: a`)
        : '';
  return [
    `${line}${' '.repeat(Math.max(1, width - size - live.length))}${paint(problem === null ? 'green' : 'red', live)}`,
    asks,
    paint('dim', titled('  WORK', 'FACULTY', 'TOKENS', 'COST', 'FOR', width)),
  ];
}

function footOf(shown: Shown, keys: string, width: number): string[] {
  const typed = shown.typing === null ? '' : `${shown.typing.label} ${ending(shown.typing.text, width - widthOf(shown.typing.label) - 3)}█`;
  return [fitting(typed === '' ? one(shown.says) : typed, width), paint('dim', fitting(keys, width))];
}

const listKeys = (isReadOnly: boolean): string =>
  isReadOnly ? '↑↓ select  > < trees  q quit (read-only)' : '↑↓ select  a approve  x refuse  m message  p pause, resume  > < trees  q quit';

/** The whole screen, and the first line of the list on it. */
export function listScreen(seen: Seen, shown: Shown, width: number, height: number): { lines: string[]; from: number } {
  const head = headOf(seen, width);
  const foot = footOf(shown, listKeys(seen.isReadOnly), width);
  const room = Math.max(1, height - head.length - foot.length);
  const all: string[] = [];
  let [first, last] = [0, 0];
  for (const { id, lines } of blocksOf(seen, width)) {
    const isSelected = id !== null && id === shown.selected;
    if (isSelected) [first, last] = [all.length, all.length + lines.length];
    all.push(...lines.map((line, i) => (isSelected && i === 0 ? line.replace('  ', paint('bold', '> ')) : line)));
  }
  const least = Math.max(0, Math.min(shown.from, all.length - room));
  const from = first < least ? first : last > least + room ? last - room : least;
  const body = all.slice(from, from + room);
  return { lines: [...head, ...body, ...Array.from({ length: room - body.length }, () => ''), ...foot], from };
}

const approvalKeys = 'a approve  x refuse  ↑↓ PgUp PgDn scroll  Tab next  u undo  Esc back  q quit';

export type Asked = { call: Approval; nth: number; of: number; from: number };

/** A waiting call with everything that it would do. `to`: the line after the last one on screen; `all`: the number of lines. */
export function approvalScreen(
  asked: Asked,
  shown: Shown,
  width: number,
  height: number,
): { lines: string[]; from: number; to: number; all: number } {
  const text = approvalText(asked.call, width).split('\n');
  const head = [
    paint('yellow', fitting(`▲ ${asked.nth} of ${asked.of} that wait for approval: all that it would do, to the mark at the end`, width)),
    '',
  ];
  const foot = footOf(shown, approvalKeys, width);
  const room = Math.max(1, height - head.length - foot.length - 1);
  const from = Math.max(0, Math.min(asked.from, text.length - room));
  const to = Math.min(text.length, from + room);
  const body = text.slice(from, to);
  const more = to < text.length ? `${num(text.length - to)} lines more` : '';
  return {
    lines: [...head, ...body, ...Array.from({ length: room - body.length }, () => ''), paint('dim', more), ...foot],
    from,
    to,
    all: text.length,
  };
}

/** A single snapshot, for output that is not a terminal. */
export const once = (seen: Seen, width: number): string =>
  [...headOf(seen, width), ...blocksOf(seen, width).flatMap(({ lines }) => lines)].map((line) => line.trimEnd()).join('\n');
