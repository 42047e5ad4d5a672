// A row of the waterfall as a bar within the period that the page shows: coloured by kind, waits hatched, the critical path as a thin bar
// below.

import type { FallRow } from '../ledger/answers.ts';
import { nice, r } from './draw.ts';
import { markup } from './html.ts';
import type { Html } from './html.ts';

/** The period that the page shows, in milliseconds. */
export type Shown = { from: number; until: number };

/** The class of a bar. */
const bars: Record<FallRow['kind'], string> = {
  item: 'whole',
  agent: 'whole',
  queue: 'queue',
  model: 'model',
  tool: 'tool',
  hook: 'hook',
  child: 'wait',
  wait: 'wait',
  person: 'wait',
};

const H = 24;
const W = 1000;

/** The hatching of waits; once per page. */
export const hatch = (): Html =>
  markup(
    '<svg class="fall-defs" width="0" height="0" aria-hidden="true"><defs><pattern id="fall-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="3" height="6"/></pattern></defs></svg>',
  );

/** Round seconds within the period shown, counted from `start`. */
export function ticks({ from, until }: Shown, start: number): { at: number; seconds: number }[] {
  const unit = nice((until - from) / 1000 / 5);
  const first = Math.ceil((from - start) / 1000 / unit);
  const last = Math.floor((until - start) / 1000 / unit);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const seconds = (first + i) * unit;
    return { at: start + seconds * 1000, seconds };
  });
}

/** The seconds above the bars. */
export function drawTicks(
  grid: readonly { at: number; seconds: number }[],
  { from, until }: Shown,
  says: (seconds: number) => string,
): Html {
  const place = (at: number): number => r(((at - from) / Math.max(until - from, 1)) * 100);
  const text = grid.filter(({ at }) => place(at) < 92).map(({ at, seconds }) => `<text x="${place(at)}%" y="16">${says(seconds)}</text>`);
  return markup(`<svg aria-hidden="true">${text.join('')}</svg>`);
}

export function drawFall(row: FallRow, shown: Shown, grid: readonly { at: number }[], end: number): Html {
  const x = (at: number): number => r(Math.min(W, Math.max(0, ((at - shown.from) / Math.max(shown.until - shown.from, 1)) * W)));
  const bar = (name: string, from: number, until: number, y: number, height: number): string =>
    `<rect class="${name}" x="${Math.min(x(from), W - 3)}" width="${r(Math.max(x(until) - x(from), 3))}" y="${y}" height="${height}"/>`;
  const [from, until] = [Date.parse(row.started_at), row.ended_at === null ? end : Date.parse(row.ended_at)];
  const isIn = until >= shown.from && from <= shown.until;
  const kind = bars[row.kind];
  const lines = grid.map(({ at }) => `<line class="grid" x1="${x(at)}" x2="${x(at)}" y2="${H}"/>`).join('');
  const [y, height] = kind === 'whole' ? [11, 2] : [6, 12];
  const name = `b-${row.is_error && kind !== 'whole' ? 'bad' : kind}${row.ended_at === null ? ' open' : ''}`;
  const path =
    row.critical_from !== null && row.critical_until !== null
      ? { from: Date.parse(row.critical_from), until: Date.parse(row.critical_until) }
      : null;
  const isPath = path !== null && path.until >= shown.from && path.from <= shown.until;
  return markup(
    `<svg viewBox="0 0 ${W} ${H}" preserveAspectRatio="none" aria-hidden="true">${lines}${isIn ? bar(name, from, until, y, height) : ''}${isPath ? bar('crit', path.from, path.until, 20, 2) : ''}</svg>`,
  );
}
