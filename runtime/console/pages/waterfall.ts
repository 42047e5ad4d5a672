// Where the time of an item went: the rows of work_waterfall(), as bars. The address says which period is shown and from which row on.

import type { FallRow, FallWindow } from '../../ledger/answers.ts';
import { money } from '../../money.ts';
import { drawFall, drawTicks, hatch, ticks } from '../drawFall.ts';
import type { Shown } from '../drawFall.ts';
import { lasting, num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { head, headInputs, itemFrame } from './item.ts';
import { address } from './journal.ts';

/** Rows per page. */
const ROWS = 200;
/** The shortest period that can be shown, in seconds. */
const LEAST = 0.01;

export const waterfall: Page = {
  pattern: new RegExp(`^/work/(?<id>${uuid})/waterfall$`),
  section: 'work',
  parts: { head, fall },
  inputs: { head: headInputs, fall: ['item', 'focus', 'turn', 'calls', 'approvals', 'below', 'forks', grown] },
  whole: async (view, part) => itemFrame(view, '/waterfall', part, await part('fall')),
  watches: async (view) => [view.id],
};

/**
 * A growing bar is redrawn when the whole waterfall has become 2 % longer, at the earliest after 10 s: all rows are read for it, which
 * takes longer the more there are. Nothing grows once everything has ended.
 */
export const growth = (seconds: number | null): string =>
  seconds === null ? '' : String(seconds < 500 ? Math.floor(seconds / 10) : 50 + Math.floor(Math.log(seconds / 500) / Math.log(1.02)));
async function grown({ db, id }: View): Promise<string> {
  return growth(await db.waterfallGrows(id));
}

const numberOf = (text: string | null): number | null => (text !== null && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null);

/** 12 ms, 3.1 s, 5 min. */
const took = (seconds: number): string =>
  seconds < 0.1 ? `${Math.round(seconds * 1000)} ms` : seconds < 90 ? `${seconds.toFixed(1)} s` : lasting(seconds);

async function fall(view: View): Promise<Html> {
  const { query } = view;
  const [asked, until, after] = [numberOf(query.get('from')), numberOf(query.get('to')), numberOf(query.get('after')) ?? 0];
  const isTime = asked !== null && until !== null && until - asked >= LEAST;
  const [from, to] = isTime ? [asked, until] : [null, null];
  const window = await view.db.workWaterfall(view.id, { from, to, after: Math.floor(after), limit: ROWS });
  const { rows, root } = window;
  const start = Date.parse(root.started_at);
  const end = start + Math.max(root.seconds, ...rows.map((row) => (Date.parse(row.started_at) - start) / 1000 + row.seconds)) * 1000;
  const shown: Shown = { from: start + (from ?? 0) * 1000, until: to === null ? end : start + to * 1000 };
  const grid = ticks(shown, start);
  return panel(
    'Where the time went',
    html`<span class="legend">${legend.map(([kind, says]) => html`<span class="fall-key f-${kind}">${says}</span> `)}</span>`,
    html`<div class="body">${summary(window)}${ways(view, shown, start, end)}</div>${hatch()}<div class="fall" data-fall>
<div class="l head"><span>span</span><span>${drawTicks(grid, shown, axis)}</span><span class="n">took</span><span class="n">cost</span></div>
<ol data-list>${rows.map((row) => line(row, shown, grid, end))}</ol></div>${more(view, window)}`,
  );
}

/** 0.25 s, 25 s, 2:05, 1:00:00. */
function axis(seconds: number): string {
  if (seconds < 90) return `${Number(seconds.toFixed(seconds < 1 ? 3 : 1))} s`;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), Math.round(seconds % 60)];
  return [...(h > 0 ? [h] : []), h > 0 ? String(m).padStart(2, '0') : m, String(s).padStart(2, '0')].join(':');
}

const legend = [
  ['model', 'the model'],
  ['tool', 'tools'],
  ['hook', 'hooks'],
  ['queue', 'queue'],
  ['wait', 'waits'],
  ['bad', 'failed'],
  ['crit', 'critical path'],
] as const;

/** The duration, and the share of the model, the tools and people. */
function summary({ root, kinds, all }: FallWindow): Html {
  const of = (...names: string[]): number => kinds.filter(({ kind }) => names.includes(kind)).reduce((sum, one) => sum + one.seconds, 0);
  const critical = kinds.reduce((sum, one) => sum + one.critical, 0);
  const part = (seconds: number, says: string): Html | string => (seconds > 0 ? html`, <b>${took(seconds)}</b> ${says}` : '');
  return html`<p class="meta" data-sums><span>${root.ended_at === null ? 'so far ' : ''}<b>${took(root.seconds)}</b>${part(of('model'), 'the model')}${part(of('tool'), 'tools')}${part(of('hook'), 'hooks')}${part(of('person'), 'people')}${part(of('child', 'wait'), 'waits for other work')}${part(of('queue'), 'queue')}; <b>${took(critical)}</b> on the critical path; ${num(all)} rows</span></p>`;
}

/** Controls for other periods: each is a link, and the keys follow them. */
function ways(view: View, { from, until }: Shown, start: number, end: number): Html {
  const [a, b, last] = [(from - start) / 1000, (until - start) / 1000, (end - start) / 1000];
  const size = b - a;
  const isAll = a <= 0 && b >= last;
  const to = (name: string, label: string, key: string, x: number, y: number, isOff: boolean): Html =>
    isOff
      ? html`<span class="chip off">${label}</span>`
      : html`<a class="chip" data-zoom="${name}" href="${timeAt(view, Math.max(0, x), Math.min(last, y), last)}">${label} <kbd class="hide-s">${key}</kbd></a>`;
  return html`<nav class="chips" aria-label="Time shown">${to('in', 'Closer', '+', a + size / 4, b - size / 4, size < LEAST * 4)}${to('out', 'Wider', '-', a - size / 2, b + size / 2, isAll)}${to('all', 'All', '0', 0, last, isAll)}${to('before', 'Earlier', '←', Math.max(0, a - size / 2), Math.max(size, b - size / 2), a <= 0)}${to('after', 'Later', '→', Math.min(a + size / 2, last - size), b + size / 2, b >= last)}</nav>`;
}

const timeAt = (view: View, from: number, to: number, last: number): string =>
  address(view, from <= 0 && to >= last ? { from: '', to: '', after: '' } : { from: from.toFixed(3), to: to.toFixed(3), after: '' });

const cause = (row: FallRow): string =>
  row.turn_id !== null && row.kind === 'model'
    ? `/turn/${row.turn_id}`
    : row.call_id !== null
      ? `/call/${row.call_id}`
      : `/work/${row.work_item_id}`;

function line(row: FallRow, shown: Shown, grid: readonly { at: number }[], end: number): Html {
  const start = Date.parse(row.started_at);
  const isRetry = (row.attempt ?? 1) > 1;
  const says = [
    row.ended_at === null ? 'under way' : null,
    row.is_error ? `failed${row.says ? `: ${row.says}` : ''}` : row.kind === 'person' ? row.says : null,
  ]
    .filter((one) => one !== null)
    .join(', ');
  return html`<li class="l${row.is_error ? ' bad' : ''}" data-key="${row.span_id}" data-row="span" data-kind="${row.kind}"${row.critical_from === null ? '' : html` data-critical`}><span class="name d${Math.min(row.depth, 12)}"><a class="cut" href="${cause(row)}" title="${row.name}${says ? ` (${says})` : ''}">${row.name}</a>${isRetry ? html`<span class="faint">attempt ${num(row.attempt ?? 1)}</span>` : ''}${says ? html`<span class="sr">${says}</span>` : ''}${row.critical_from === null ? '' : html`<span class="sr">on the critical path</span>`}</span><span>${drawFall(row, shown, grid, end)}</span><span class="n" title="${new Date(start).toISOString()}">${took(row.seconds)}${row.ended_at === null ? '…' : ''}</span><span class="n">${row.cost === null ? '' : money(row.cost)}</span></li>`;
}

/** The number of rows that are not shown, with a link to them. */
function more(view: View, { rows, found }: FallWindow): Html {
  const last = rows.at(-1)?.n ?? 0;
  const isFirst = !numberOf(view.query.get('after'));
  if (isFirst && rows.length >= found) return html``;
  return html`<p class="newer">${num(rows.length)} of ${num(found)} rows${isFirst ? '' : html` · <a href="${address(view, { after: '' })}">from the first</a>`}${rows.length === ROWS ? html` · <a href="${address(view, { after: String(last) })}">the rows below</a>` : ''}</p>`;
}
