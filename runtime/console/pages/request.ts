// One request of a conversation, part by part, the cut before it, and its difference to the previous one. A long request is shown with its
// beginning and its end, and the middle in pages, so that the cost depends on what is shown, however long the conversation is.

import type { ContextBucket, ContextColumn, RequestPart, TurnOptions } from '../../ledger/consoleContext.ts';
import { swatch } from '../draw.ts';
import type { Layer } from '../drawTimeline.ts';
import type { RunBlock } from '../../ledger/consoleRun.ts';
import { called } from '../called.ts';
import { brief, count, k, num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { markdown } from '../markdown.ts';
import { panel } from '../page.ts';
import type { View } from '../page.ts';
import { exactTime, runPlace } from '../times.ts';
import { blocksOf, cutName, outcomeOf, savedTokens } from './cut.ts';
import { forkLine } from './itemViews.ts';
import { address } from './journal.ts';

/** The range of calls shown, and all calls. */
export type Looked = {
  session: string;
  total: number;
  from: number;
  to: number;
  each: number;
  columns: readonly ContextBucket[];
  selected: number;
};

export const sum = (...some: (number | null)[]): number => some.reduce<number>((all, one) => all + (one ?? 0), 0);

const layerOf: Record<string, Layer> = {
  system: 'system',
  tools: 'system',
  task: 'task',
  digest: 'task',
  nudge: 'task',
  hook: 'task',
  engine: 'task',
  stubs: 'stubs',
  kept: 'closed',
  response: 'words',
  result: 'results',
  image: 'results',
  child_result: 'results',
  message: 'people',
  agent_message: 'task',
};
export const partNames: Record<string, string> = {
  system: 'System',
  tools: 'Tools',
  task: 'Task',
  digest: 'Digest',
  nudge: 'Reminder',
  hook: 'Hook',
  engine: 'Engine',
  stubs: 'Stub',
  kept: 'Kept',
  response: 'model',
  result: 'result',
  image: 'image',
  child_result: 'child',
  message: 'a person',
  agent_message: 'another agent',
};
/** How many calls at the beginning and at the end of a request are shown at once, and how many on a page of the middle. */
const [FIRST, LAST, BETWEEN] = [15, 25, 40];

type Parts = {
  rows: readonly RequestPart[];
  /** Calls left out after these rows: those after the first number, up to the second. */ gap: [after: number, to: number] | null;
};

/** The parts of a request: its beginning and its end, or a page of the middle. */
async function partsOf(view: View, one: Pick<ContextColumn, 'turn_id' | 'n'>): Promise<Parts[]> {
  const parts = (after: number | null, limit: number | null): Promise<readonly RequestPart[]> =>
    view.db.console.requestParts(one.turn_id, after, limit);
  const after = Number(view.query.get('after')) || null;
  if (after !== null) {
    const to = Math.min(after + BETWEEN, one.n);
    return [
      { rows: [], gap: [0, after] },
      { rows: await parts(after, BETWEEN), gap: to < one.n ? [to, one.n] : null },
    ];
  }
  const begin = await parts(null, FIRST);
  const shown = begin.findLast((part) => part.call !== null)?.call ?? one.n;
  if (shown >= one.n) return [{ rows: begin, gap: null }];
  if (one.n - LAST <= shown) return [{ rows: [...begin, ...(await parts(shown, null))], gap: null }];
  return [
    { rows: begin, gap: [shown, one.n - LAST] },
    { rows: await parts(one.n - LAST, null), gap: null },
  ];
}

/** The selected request. */
export async function requestPart(view: View, looked: Looked): Promise<Html> {
  const { selected, session } = looked;
  const beside = await view.db.console.timeline(session, Math.max(1, selected - 1), selected + 1, 1);
  const [before, one, after] = [selected - 1, selected, selected + 1].map((n) => beside.find((column) => column.n === n));
  if (!one) return html``;
  const [table, panelOfDifference, options, answered] = await Promise.all([
    partsTable(view, one),
    difference(view, before, one),
    view.db.console.turnOptions(one.turn_id),
    answer(view, one.turn_id),
  ]);
  const step = (to: ContextColumn | undefined, label: string): Html | string =>
    to ? html`<a class="btn small" href="${address(view, { turn: String(to.n), after: '' })}#request">${label}</a>` : '';
  return html`<div class="cols" id="request"><section class="panel" aria-label="Request ${one.n}"><header><h2>Request ${one.n}, part by part</h2><span class="quiet">${num(one.sent)} tokens, estimated${before ? ` · the one before had ${num(before.sent)}` : ''}</span></header>${table}</section>
<div class="stack">${answered}${cutPanel(view, one, looked)}${panelOfDifference}
${panel('This call', null, html`<div class="body stack"><dl class="kv"><dt>Model</dt><dd>${one.model}</dd><dt>Asked of it</dt><dd>${askedWords(options)}</dd><dt>Attempt, iteration</dt><dd>${one.attempt}, ${one.iteration}</dd><dt>From the cache</dt><dd>${one.cached_tokens === null ? 'not counted' : num(one.cached_tokens)}</dd><dt>Written to it</dt><dd>${one.written_tokens === null ? 'not counted' : num(one.written_tokens)}</dd><dt>Answer</dt><dd>${one.output_tokens === null ? '–' : num(one.output_tokens)}</dd></dl><div class="actions">${step(before, 'The one before')}${step(after, 'The next one')}<a class="btn" href="/turn/${one.turn_id}/request">Exact bytes</a>${one.status === 'completed' && view.formToken !== null ? forkLine(view, one.turn_id) : ''}</div></div>`)}</div></div>`;
}

/** A request by its parts. */
async function partsTable(view: View, one: Pick<ContextColumn, 'turn_id' | 'n'>): Promise<Html> {
  const pieces = await partsOf(view, one);
  const blocks = pieces.some(({ rows }) => rows.some((part) => part.part === 'stubs')) ? await view.db.explainTurn(one.turn_id) : [];
  const gapRow = ([from, to]: [number, number]): Html =>
    html`<tr class="sub"><td></td><td><a class="accent" href="${address(view, { turn: String(one.n), after: from === 0 ? '' : String(from) })}#request">${from === 0 ? 'from the beginning' : `calls ${num(from + 1)} to ${num(to)}`}</a></td><td></td><td class="hide-s"></td></tr>`;
  const piece = ({ rows, gap }: Parts): Html =>
    html`${rows.map((part) => (part.part === 'stubs' ? stubRows(view, part, blocks) : partRow(part)))}${gap ? gapRow(gap) : ''}`;
  return html`<div class="body"><table class="parts"><thead><tr><th>Part</th><th>What it says, or why it is out</th><th class="n">Tokens</th><th class="hide-s">Cache</th></tr></thead><tbody>${pieces.map(piece)}</tbody></table></div>`;
}

/** The model's text and calls, on the page of its request. */
async function answer(view: View, turnId: string): Promise<Html> {
  const rows = (await view.db.console.runOfTurn(view.id, turnId)).filter(({ kind }) => kind !== 'request');
  if (rows.length === 0) return html``;
  const link = (row: RunBlock): string => `/work/${view.id}?at=${placeOf(row)}#${row.id}`;
  return panel(
    'What it answered',
    html`<a href="${rows[0] ? link(rows[0]) : ''}">in the run</a>`,
    html`<div class="body stack gap-s said">${rows.map((row) => (row.kind === 'call' ? called(row, link(row), undefined, false) : html`${typeof row.data?.['thinking'] === 'string' ? html`<details class="thought"><summary>${brief(row.data['thinking'], 120)}</summary>${markdown(row.data['thinking'])}</details>` : ''}${markdown(row.content ?? '')}`))}</div>`,
  );
}

/** A request that was not answered: the provider's error, the request part by part, and a way to continue before it. */
export async function failedRequestPart(view: View, request: RunBlock, turnId: string, before: ContextColumn | null): Promise<Html> {
  const { data, content } = request;
  const n = Number(data?.['call_number'] ?? data?.['iteration'] ?? 1);
  const table = await partsTable(view, { turn_id: turnId, n });
  const says = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '–');
  return html`<div class="cols" id="request"><section class="panel" aria-label="Request ${n}"><header><h2><span class="bad">Request ${n} failed</span>, part by part</h2><span class="quiet">it was not answered</span></header>${table}</section>
<div class="stack">${panel(
    'What the provider said',
    null,
    html`<div class="body stack"><p class="bad wrapped" dir="auto">${content ?? 'nothing that is known'}</p><dl class="kv"><dt>Status</dt><dd>${says(data?.['provider_status'])}</dd><dt>Its id of the request</dt><dd class="wrapped mono">${says(data?.['request_id'])}</dd><dt>Sent</dt><dd>${count(Number(data?.['requests'] ?? 1), 'time')}</dd><dt>Model</dt><dd>${request.name ?? '–'}</dd><dt>Attempt, iteration</dt><dd>${says(data?.['attempt'])}, ${says(data?.['iteration'])}</dd><dt>Given up</dt><dd>${request.happened_at ? exactTime(request.happened_at) : '–'}</dd></dl><div class="actions"><a class="btn" href="/work/${view.id}?at=${placeOf(request)}#${request.id}">In the run</a><a class="btn" href="/turn/${turnId}/request">Exact bytes</a>${before?.status === 'completed' && view.formToken !== null ? forkLine(view, before.turn_id, 'Fork before it') : ''}</div></div>`,
  )}</div></div>`;
}

/** The window of the run that begins where it happened. */
const placeOf = ({ happened_at: at }: RunBlock): string => (at === null ? '' : encodeURIComponent(runPlace(at)));

/** The options that the faculty adds to the request besides the conversation. */
function askedWords(options: TurnOptions | null): string {
  if (!options) return 'nothing';
  const { thinking, effort, temperature, top_p, tool_choice, cache_ttl, service_tier, betas } = options;
  const asked = {
    thinking,
    effort,
    temperature,
    top_p: top_p,
    'tool choice': tool_choice,
    'service tier': service_tier,
    betas: betas?.join(', '),
  };
  const words = Object.entries(asked).flatMap(([name, value]) => (value === null || value === undefined ? [] : `${name} ${value}`));
  return [...words, `cache for ${cache_ttl === '1h' ? 'an hour' : 'five minutes'}`].join(' · ');
}

function partRow(part: RequestPart): Html {
  const layer = layerOf[part.part] ?? 'task';
  const isStub = part.part === 'stubs';
  const label = isStub
    ? part.block === null
      ? 'Stubs'
      : `block ${part.block}`
    : part.iteration === null
      ? (partNames[part.part] ?? part.part)
      : `call ${part.iteration}, ${partNames[part.part] ?? part.part}`;
  const content = part.content ?? '';
  const text = brief(content, isStub ? 400 : 220);
  const body =
    content.length > 220
      ? html`<details><summary dir="auto">${text}</summary><pre class="fence" dir="auto" tabindex="0">${content.length > 20_000 ? `${content.slice(0, 20_000)}… (${num(content.length - 20_000)} characters more: see the exact bytes)` : content}</pre></details>`
      : html`<span dir="auto">${text}</span>`;
  return html`<tr class="${isStub ? 'out' : ''}"><td>${swatch(layer)}${label}</td><td class="wrapped">${body}${part.why ? html`<span class="why">${part.why}</span>` : ''}</td><td class="n">${num(part.tokens)}</td><td class="hide-s ${part.cache === 'written' ? 'accent' : 'quiet'}">${part.cache ?? ''}</td></tr>`;
}

type Block = Awaited<ReturnType<View['db']['explainTurn']>>[number];

/** Each block that is shown as a stub line, with its original size and why it is left out. */
function stubRows(view: View, part: RequestPart, blocks: readonly Block[]): Html {
  const out = blocks.filter((block) => block.shown === 'stub');
  const lines = new Map<number, string>();
  // The stub of a step that its own exchange shows comes later than its block's, or with another one.
  for (const [line, n] of (part.content ?? '').matchAll(/^\[completed step (\d+): .*$/gm))
    if (!/: (?:also|see below)\]$/.test(line) || !lines.has(Number(n))) lines.set(Number(n), line);
  if (out.length === 0 || lines.size === 0) return partRow(part);
  return html`<tr class="grp"><td>${swatch('stubs')}Stubs</td><td>${out.length} ${out.length === 1 ? 'block' : 'blocks'}, <span class="num">${num(sum(...out.map((block) => block.estimated_tokens)))}</span> tokens left out</td><td class="n">${num(part.tokens)}</td><td class="hide-s ${part.cache === 'written' ? 'accent' : 'quiet'}">${part.cache ?? ''}</td></tr>${out.map(
    (block) =>
      html`<tr class="sub"><td class="quiet">block ${block.block}</td><td class="wrapped"><span dir="auto">${brief(lines.get(block.block) ?? `of an earlier step`, 300)}</span><span class="why" dir="auto">${block.why}</span></td><td class="n quiet">−${num(block.estimated_tokens)}</td><td class="hide-s"><a class="btn small" href="/work/${view.id}/block/${block.block}">Recall<span class="sr"> block ${block.block}</span></a></td></tr>`,
  )}`;
}

/** The last cut at or before this request: what it left out, and what it saved. */
function cutPanel(view: View, one: ContextColumn, { columns, to }: Looked): Html {
  const marks = columns.flatMap((column) => column.marks);
  const mark = marks.findLast((cut) => cut.n <= one.n);
  if (!mark) return html``;
  const { since, saved } = outcomeOf(mark, marks, to);
  return panel(
    mark.n === one.n ? 'The cut before it' : `The last cut, at call ${mark.n}`,
    null,
    html`<div class="body stack"><p class="small quiet">${cutName(mark)}${mark.blocks ? `, ${mark.blocks.includes('-') ? 'blocks' : 'block'} ${blocksOf(mark)}` : ''}</p><dl class="kv"><dt>Left the context</dt><dd>${num(mark.tokens_elided ?? 0)}</dd><dt>Stands for it</dt><dd>${num(mark.stub_tokens ?? 0)}</dd><dt>Written again behind it</dt><dd>${num(mark.tokens_kept ?? 0)}</dd>${mark.breaks_even_after === null || mark.breaks_even_after === undefined ? '' : html`<dt>Pays after</dt><dd>${count(mark.breaks_even_after, 'request')}</dd>`}<dt>Requests since, until the next cut</dt><dd>${since}</dd><dt title="tokens at full price">Saved in those, about</dt><dd class="strong">${savedTokens(saved)}</dd></dl>${mark.n === one.n ? '' : html`<div class="actions"><a class="btn" href="${address(view, { turn: String(mark.n) })}#request">Request ${mark.n}</a></div>`}</div>`,
  );
}

/** Stubs are one part with a line for each block; they are compared by line, so that a new one does not show all of them again. */
function lineByLine(part: RequestPart): RequestPart[] {
  if (part.part !== 'stubs') return [part];
  const lines = (part.content ?? '').split('\n').filter((line) => line !== '');
  const chars = lines.join('').length;
  return lines.map((line) => ({ ...part, content: line, tokens: Math.round((part.tokens * line.length) / Math.max(chars, 1)) }));
}

/**
 * What left and what was added, part by part. Without a new cut, a request is the previous one with more at its end, so only the end is
 * read.
 */
async function difference(view: View, before: ContextColumn | undefined, one: ContextColumn): Promise<Html> {
  if (!before) return html``;
  const isLonger = (one.marks ?? []).length === 0 && before.n > 1;
  const [parts, partsBefore] = (await Promise.all(
    [one, before].map((column) => view.db.console.requestParts(column.turn_id, isLonger ? before.n - 1 : null, null)),
  )) as [readonly RequestPart[], readonly RequestPart[]];
  const keyOf = (part: RequestPart): string => `${part.part}/${part.iteration ?? ''}/${part.block ?? ''}/${part.content ?? ''}`;
  const counted = (some: readonly RequestPart[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const part of some) counts.set(keyOf(part), (counts.get(keyOf(part)) ?? 0) + 1);
    return counts;
  };
  const without = (some: readonly RequestPart[], others: Map<string, number>): RequestPart[] =>
    some.filter((part) => {
      const left = others.get(keyOf(part)) ?? 0;
      if (left > 0) others.set(keyOf(part), left - 1);
      return left === 0;
    });
  const [now, then] = [parts, partsBefore].map((some) => some.flatMap(lineByLine)) as [RequestPart[], RequestPart[]];
  const gone = without(then, counted(now));
  const came = without(now, counted(then));
  const line = (part: RequestPart): string =>
    `${part.iteration === null ? '' : `call ${part.iteration} `}${part.part === 'stubs' ? '' : `${partNames[part.part] ?? part.part}: `}${brief(part.content ?? '', 90)}`;
  const some = (all: readonly RequestPart[], kind: 'add' | 'del', mark: string): Html =>
    html`${all.slice(0, 30).map((part) => html`<div class="${kind}" dir="auto">${mark} ${line(part)}</div>`)}${all.length > 30 ? html`<div class="${kind}">${mark} ${all.length - 30} parts more</div>` : ''}`;
  const of = (all: readonly RequestPart[]): number => sum(...all.map((part) => part.tokens));
  return panel(
    `Difference to request ${before.n}`,
    `−${k(of(gone))}, +${k(of(came))}`,
    html`<div class="body diff"><div class="same">  ${isLonger ? 'all that it held' : `${now.length - came.length} parts as before`}</div>${some(gone, 'del', '−')}${some(came, 'add', '+')}</div>`,
  );
}
