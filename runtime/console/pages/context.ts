// What was in the context: the timeline of a session's model calls, one request part by part and its difference to the previous one, and
// the same conversation under other policies.

import type { ContextBucket, ContextColumn } from '../../ledger/consoleContext.ts';
import { LedgerError } from '../../ledger/errors.ts';
import { sign, spark, swatch } from '../draw.ts';
import { drawTimeline, layers } from '../drawTimeline.ts';
import type { Column, Cut, Layer, TimelinePicture } from '../drawTimeline.ts';
import { count, k, num, percent } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { exactTime } from '../times.ts';
import { blocksOf, cutWords, outcomeOf } from './cut.ts';
import { head, headInputs, itemFrame } from './item.ts';
import { address } from './journal.ts';
import { failedRequestPart, requestPart, sum } from './request.ts';
import type { Looked } from './request.ts';

const MOST_CALLS = 10_000;
const MOST_REPLAYED = 1000;
const MOST_COLUMNS = 280;
/** How many calls are shown of a conversation that has more calls than there are columns. */
const PAGE = 160;
const widths = [1120, 740, 350];

export const context: Page = {
  pattern: new RegExp(`^/work/(?<id>${uuid})/context$`),
  section: 'work',
  parts: { head, figures, timeline, request, policies },
  inputs: { head: headInputs, figures: ['turn', 'focus'], timeline: ['turn', 'focus'], policies: ['turn', 'focus'] },
  async whole(view, part) {
    const looked = await lookAt(view);
    const isLong = looked !== null && looked.total > MOST_COLUMNS && !view.query.has('turn');
    const [top, picture, one, others] = await Promise.all([
      part('figures'),
      part('timeline'),
      isLong ? requestLater(view, looked.selected) : part('request'),
      view.query.has('policy') ? part('policies') : later(view),
    ]);
    return itemFrame(view, '/context', part, html`${top}${picture}${one}${others}`);
  },
};

/** Replaying policies takes seconds, so they are fetched once the page is displayed. */
const later = (view: View): Html =>
  html`<div class="part" data-part="policies" data-later>${panel('The same conversation under other policies', 'no model is asked', html`<p class="empty tall" aria-busy="true"><a class="accent" href="${address(view, { policy: 'never' })}#policies">replay it under other policies</a></p>`)}</div>`;

/**
 * Reading a request takes time in proportion to its size, so that of a long conversation is fetched once the page is displayed. It never
 * changes.
 */
const requestLater = (view: View, n: number): Html =>
  html`<div class="part" data-part="request" data-later>${panel(`Request ${n}, part by part`, null, html`<p class="empty tall" aria-busy="true"><a class="accent" href="${address(view, { turn: String(n) })}#request">what it held</a></p>`)}</div>`;

async function sessionOf(view: View): Promise<string | null> {
  return view.query.get('session') ?? view.db.console.sessionOf(view.id);
}

/** Read once for all parts of a page. */
const read = new WeakMap<View, Promise<Looked | null>>();

function lookAt(view: View): Promise<Looked | null> {
  const known = read.get(view);
  if (known) return known;
  const made = look(view);
  read.set(view, made);
  return made;
}

async function look(view: View): Promise<Looked | null> {
  const session = await sessionOf(view);
  const total = session === null ? 0 : await view.db.console.callCount(session);
  if (session === null || total === 0) return null;
  const wanted = view.query.get('turn') ?? '';
  const n = new RegExp(`^${uuid}$`).test(wanted) ? await view.db.console.callNumber(wanted) : Number(wanted) || null;
  const { from, to } = range(total, n, Number(view.query.get('from')) || null, Number(view.query.get('to')) || null);
  const each = Math.ceil((to - from + 1) / MOST_COLUMNS);
  const columns = await view.db.console.timeline(session, from, to, each);
  const largest = columns
    .flatMap((one) => one.marks)
    .reduce((best, mark) => ((mark.tokens_elided ?? 0) > best.out ? { n: mark.n, out: mark.tokens_elided ?? 0 } : best), { n: to, out: 0 });
  return { session, total, from, to, each, columns, selected: n !== null && n >= 1 && n <= total ? n : largest.n };
}

/** The default range: all calls of a short conversation, else the page with the wanted call, or else the last page. */
function range(total: number, wanted: number | null, from: number | null, to: number | null): { from: number; to: number } {
  if (from !== null || to !== null) {
    const last = Math.min(Math.max(to ?? total, 1), total);
    return { from: Math.max(Math.min(from ?? 1, last), 1, last - MOST_CALLS + 1), to: last };
  }
  if (total <= MOST_COLUMNS) return { from: 1, to: total };
  const last = total - PAGE * Math.floor((total - Math.min(Math.max(wanted ?? total, 1), total)) / PAGE);
  return { from: Math.max(1, last - PAGE + 1), to: last };
}

/** Turns the parts of a request into the layers of the picture. */
function pictured(one: ContextColumn): Column {
  const at: Record<Layer, number> = {
    system: sum(one.system, one.tools),
    task: sum(one.task, one.digest),
    stubs: sum(one.stubs),
    closed: sum(one.closed, one.kept),
    words: sum(one.words),
    results: sum(one.results),
    people: sum(one.people, one.engine),
  };
  const isCounted = one.written_tokens !== null || one.new_tokens !== null;
  return {
    n: one.n,
    at,
    sent: one.sent,
    cut: one.cut,
    said: one.said,
    written: isCounted ? sum(one.written_tokens, one.new_tokens) : null,
  };
}

const cutsOf = (columns: readonly ContextBucket[]): Cut[] =>
  columns.flatMap((one) =>
    one.marks.map((mark) => ({
      n: one.n,
      out: mark.tokens_elided ?? 0,
      blocks: blocksOf(mark),
      isCompaction: mark.kind !== 'elision' && mark.kind !== 'cut',
    })),
  );

async function figures(view: View): Promise<Html> {
  const looked = await lookAt(view);
  const last = looked?.columns.at(-1);
  if (!looked || !last) return html``;
  const { columns, from, to, total } = looked;
  const cuts = columns.flatMap((one) => one.marks);
  const largest = Math.max(...columns.map((one) => one.sent));
  const cached = columns.filter((one) => one.cached_tokens !== null);
  const fromCache = sum(...cached.map((one) => one.cached_tokens));
  const input = cached.reduce((all, one) => all + sum(one.cached_tokens, one.written_tokens, one.new_tokens), 0);
  const [sent, said] = [sum(...columns.map((one) => one.sent_sum)), sum(...columns.map((one) => one.said_sum))];
  return html`<dl class="figs"><div><dt>Sent, ${to - from + 1 < total ? `requests ${num(from)} to ${num(to)}` : 'all requests together'}</dt><dd title="${num(sent)} of ${num(said)} tokens">${percent(sent, said)} <small>of never cutting</small></dd></div>
<div><dt>Largest request</dt><dd>${k(largest)} <small>instead of ${k(last.said)} tokens</small></dd></div>
<div><dt>Cut out, and what stands for it</dt><dd>${k(sum(...cuts.map((cut) => cut.tokens_elided ?? 0)))} <small>tokens as ${k(sum(...cuts.map((cut) => cut.stub_tokens ?? 0)))} of stubs</small></dd></div>
<div><dt>Read from the cache</dt><dd>${input > 0 ? percent(fromCache, input, 1) : '–'} <small>${input > 0 ? 'of all input' : 'not counted'}</small></dd></div></dl>`;
}

async function timeline(view: View): Promise<Html> {
  const looked = await lookAt(view);
  const failed = await failures(view);
  if (!looked) return panel('What was in the context', null, html`${empty('No model call was answered yet.')}${failed}`);
  const { from, to, total, each } = looked;
  const at =
    looked.selected < from || looked.selected > to ? null : (looked.columns.findLast((one) => one.n <= looked.selected)?.n ?? null);
  const link = (label: string, changes: Record<string, string>): Html =>
    html`<a class="accent" href="${address(view, { turn: '', from: '', to: '', ...changes })}">${label}</a> · `;
  const ways =
    from > 1 || to < total
      ? html`${from > 1 ? link('earlier', { turn: String(from - 1) }) : ''}${to < total ? link('later', { turn: String(Math.min(to + PAGE, total)) }) : ''}${link('all', { from: '1' })}`
      : total > MOST_COLUMNS
        ? link('the newest', {})
        : '';
  const shown =
    to - from + 1 < total ? `${num(from)} to ${num(to)} of ${num(total)} model calls` : `${num(total)} model calls, oldest first`;
  return html`<section class="panel" aria-label="Context timeline"><header><h2>What was in the context</h2><span class="quiet"><span>${ways}</span><span class="hide-s" data-keys>${shown}${each > 1 ? `, ${each} a column` : ''} · <kbd>←</kbd> <kbd>→</kbd> · next cut <kbd>c</kbd> · zoom <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></span></span></header>
<div class="body">${figure(view, looked.columns, at, html`<div class="picture" data-timeline data-first="${from}" data-last="${to}" data-all="${total}" data-each="${each}" data-selected="${at ?? ''}">`, { failed: (await view.db.console.failedRequests(view.id)).flatMap(({ call_number: n }) => n ?? []) })}</div>${failed}</section>`;
}

const WHOLE = 'under elide_budget, not worth a cut yet, or kept word for word';

/**
 * A picture in three widths, the description of the selected call, and the table with its figures. whole: why closed blocks are still
 * whole.
 */
function figure(
  view: View,
  columns: readonly ContextBucket[],
  selected: number | null,
  opening: Html,
  { whole = WHOLE, ...more }: { whole?: string } & Pick<TimelinePicture, 'beside' | 'failed'> = {},
): Html {
  const drawn = { columns: columns.map(pictured), cuts: cutsOf(columns), selected, ...more };
  return html`<div data-figure>${opening}${widths.map((width) => drawTimeline({ ...drawn, width }))}</div><dl class="pointed" data-told></dl><div class="legend narrow">${layers.map(([name, label]) => html`<span>${swatch(name)}${label}</span>`)}</div>
<details class="table"><summary class="quiet small">The figures of the picture</summary><div class="wide" tabindex="0">${figuresTable(view, columns, whole)}</div></details></div>`;
}

/** Calls by part. The script reads the description of a call from it. */
function figuresTable(view: View, columns: readonly ContextBucket[], whole: string): Html {
  const marks = columns.flatMap((one) => one.marks);
  const last = columns.at(-1)?.last ?? 0;
  const cutsAt = (one: ContextBucket): Html[] =>
    one.marks.map((mark) => html`${one.n < one.last ? `At call ${mark.n}: ` : ''}${cutWords(mark, outcomeOf(mark, marks, last))} `);
  const outBy = (one: ContextBucket): string => {
    const block = /\d+$/.exec(marks.findLast((mark) => mark.n <= one.last && mark.blocks)?.blocks ?? '')?.[0];
    return one.cut > 0 ? `${num(one.cut)}${block === undefined ? '' : `, up to block ${block}`}` : '';
  };
  const counted = (one: ContextBucket): (number | null)[] => [one.cached_tokens, one.written_tokens, one.new_tokens];
  const isCounted = columns.some((one) => counted(one).some((tokens) => tokens !== null));
  const row = (one: ContextBucket): Html => {
    const { n, at, sent, said } = pictured(one);
    return html`<tr data-n="${n}" data-last="${one.last}" data-sent="${sent}" data-out="${sum(...one.marks.map((mark) => mark.tokens_elided ?? 0))}" data-cuts="${one.marks.length}"${one.is_recorded ? html` data-recorded` : ''}><td><a href="${address(view, { turn: String(n) })}#request">${n}</a></td><td class="n">${num(sent)}</td><td class="n">${one.n < one.last ? '' : one.block}</td>${layers.map(([name]) => html`<td class="n">${num(at[name])}</td>`)}${isCounted ? counted(one).map((tokens) => html`<td class="n">${tokens === null ? '–' : num(tokens)}</td>`) : ''}<td class="n">${outBy(one)}</td><td class="n">${num(said)}</td><td class="cutwords">${cutsAt(one)}</td></tr>`;
  };
  return html`<table data-columns><caption class="sr">Model calls: tokens by part</caption><thead><tr><th>Call</th><th class="n">Sent</th><th class="n" data-of="whole">In block</th>${layers.map(([name, label]) => html`<th class="n" data-of="held"${name === 'closed' ? html` data-why="Closed blocks are still whole: ${whole}."` : ''}>${swatch(name)} ${label}</th>`)}${isCounted ? ['Read from it', 'Written to it', 'New'].map((label) => html`<th class="n" data-of="cache">${label}</th>`) : ''}<th class="n" data-of="whole">Left out by now</th><th class="n" data-of="whole">All that was said</th><th data-of="cut">What left before it</th></tr></thead><tbody>${columns.map(row)}</tbody></table>`;
}

async function request(view: View): Promise<Html> {
  const [looked, turnId] = [await lookAt(view), view.query.get('turn') ?? ''];
  if (new RegExp(`^${uuid}$`).test(turnId)) {
    const asked = (await view.db.console.runOfTurn(view.id, turnId)).find(({ kind }) => kind === 'request');
    const n = Number(asked?.data?.['call_number'] ?? 0);
    if (asked?.status === 'failed') return failedRequestPart(view, asked, turnId, looked?.columns.find((one) => one.n === n - 1) ?? null);
  }
  return looked ? requestPart(view, looked) : html``;
}

/** Requests that failed are in no conversation, so they are listed next to it. */
async function failures(view: View): Promise<Html> {
  const failed = await view.db.console.failedRequests(view.id);
  if (failed.length === 0) return html``;
  return html`<ul class="rows pad">${failed.map((one) => html`<li class="line is-failed"><span class="state cut">${sign('failed')}<a class="bad cut" href="/turn/${one.id}">request ${one.call_number ?? one.iteration ?? ''} failed</a></span><span class="faint small">${one.completed_at ? exactTime(one.completed_at) : ''}</span><span class="quiet wrapped" dir="auto">${one.error ?? ''}</span></li>`)}</ul>`;
}

/** A block as it was, whether it is still in the context or not: what recall_block() gives the agent. */
export const blockPage: Page = {
  pattern: new RegExp(`^/work/(?<id>${uuid})/block/(?<n>[1-9]\\d{0,8})$`),
  section: 'work',
  parts: { head },
  inputs: { head: headInputs },
  async whole(view, part) {
    const n = Number(/\d+$/.exec(view.path)?.[0]);
    const body = await view.db.console.recallBlock(view.id, n).catch((error: unknown) => {
      if (error instanceof LedgerError) return null;
      throw error;
    });
    return body === null
      ? null
      : itemFrame(
          view,
          '/context',
          part,
          panel(
            `Block ${n}`,
            'what recall_block() gives the agent',
            html`<div class="body"><pre class="fence" dir="auto" tabindex="0">${body}</pre></div>`,
          ),
        );
  },
};

/** whole: why closed blocks are still whole under this policy, if it does not use elision. */
const policyNames: Record<string, { name: string; says: string; policy: object; whole?: string }> = {
  asrun: { name: 'As it ran', says: 'its own policy', policy: {} },
  every: { name: 'Cut at every step', says: 'elide_budget 0', policy: { elide_budget: 0 } },
  clear: {
    name: 'Clear old results',
    says: 'beyond 60k, the newest 3 kept',
    policy: { clear_results_over: 60_000, clear_keep: 3 },
    whole: 'only results are cleared',
  },
  never: {
    name: 'Never cut',
    says: 'everything is sent again',
    policy: { truncate_closed_blocks: false, context_window: 2_000_000_000 },
    whole: 'nothing is cut',
  },
  window: { name: 'Sliding window', says: 'the newest 40 messages', policy: { keep_messages: 40 }, whole: 'among the newest 40 messages' },
};

type Replayed = { columns: readonly ContextBucket[]; cost: number; peak: number; cuts: number };

/** A replay takes seconds and depends only on the existing turns, so it is kept until there is another turn. */
const kept = new Map<string, Promise<Replayed>>();

function replay(view: View, session: string, name: string, calls: number): Promise<Replayed> {
  const key = `${session}/${name}/${calls}`;
  const known = kept.get(key);
  if (known) return known;
  const made = view.db.console
    .timeline(session, 1, calls, Math.ceil(calls / MOST_COLUMNS), policyNames[name]?.policy ?? {})
    .then((columns) => {
      const [all, cached] = [sum(...columns.map((one) => one.sent_sum)), sum(...columns.map((one) => one.cached_tokens))];
      return {
        columns,
        cost: 0.1 * cached + 1.25 * (all - cached),
        peak: Math.max(0, ...columns.map((one) => one.sent)),
        cuts: sum(...columns.map((one) => one.marks.length)),
      };
    });
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  if (kept.size > 100) kept.delete(kept.keys().next().value ?? '');
  return made;
}

async function policies(view: View): Promise<Html> {
  const session = await sessionOf(view);
  const calls = session === null ? 0 : await view.db.console.callCount(session);
  if (session === null || calls === 0) return html``;
  if (calls > MOST_REPLAYED)
    return panel(
      'The same conversation under other policies',
      null,
      html`<p class="empty">A replay begins with the first call, and takes minutes for more than ${num(MOST_REPLAYED)} of them: it is not made here. In psql: <code>select * from context_replay('${session}', '{"elide_budget": 0}')</code></p>`,
    );
  const wanted = view.query.get('policy') ?? 'clear';
  const other = wanted in policyNames && wanted !== 'asrun' ? wanted : 'clear';
  const results = new Map<string, Replayed>();
  for (const name of Object.keys(policyNames)) results.set(name, await replay(view, session, name, calls));
  const never = results.get('never');
  const share = (one: Replayed | undefined): string => percent(one?.cost ?? 0, never?.cost ?? 0);
  const peak = Math.max(...[...results.values()].map((one) => one.peak), 1);
  const card = ([name, { name: label, says }]: [string, { name: string; says: string }]): Html => {
    const one = results.get(name);
    return html`<a href="${address(view, { policy: name })}#policies"${name === 'asrun' || name === other ? html` aria-current="true"` : ''}><span class="strong">${label}</span><span class="small quiet">${says}</span>${spark(one?.columns.map((column) => column.sent) ?? [], peak)}<span class="row spread"><span class="cost">${share(one)}</span><span class="small quiet num">largest ${k(one?.peak ?? 0)}</span></span></a>`;
  };
  const largest = Math.max(...['asrun', other].map((name) => results.get(name)?.peak ?? 0), 1);
  const one = (name: string): Html => {
    const { columns, cost, cuts } = results.get(name) ?? { columns: [], cost: 0, cuts: 0 };
    return html`<section aria-label="${policyNames[name]?.name}"><div class="row spread wrap"><div class="row"><h3 class="strong">${policyNames[name]?.name}</h3><span class="quiet small">${policyNames[name]?.says}</span></div><span class="num"><b class="strong">${share(results.get(name))}</b> <span class="quiet small">${k(cost)} full-price tokens · ${cuts === 0 ? 'no request changed what had been sent before' : `${num(cuts)} of ${count(calls, 'request')} changed what had been sent before`}</span></span></div>${figure(view, columns, null, html`<div class="picture" data-beside>`, { whole: policyNames[name]?.whole ?? WHOLE, beside: { name, largest } })}</section>`;
  };
  return html`<section class="panel" id="policies" aria-label="Other policies"><header><h2>The same conversation under other policies</h2><span class="quiet">cost of the input against never cutting, prompt cache included; no model is asked</span></header><div class="rows policies">${Object.entries(policyNames).map(card)}</div>
<div class="beside">${one('asrun')}${one(other)}</div></section>`;
}
