// A turn of a run: the request with the messages in it, the answer, its calls, and what was recorded.

import type { RunBlock } from '../../ledger/consoleRun.ts';
import { money } from '../../money.ts';
import { called } from '../called.ts';
import { brief, k, lasting, num, percent, trustWords, withShortIds } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { markdown } from '../markdown.ts';
import type { View } from '../page.ts';
import { exactTime } from '../times.ts';
import { counting } from '../work.ts';
import { forkLine } from './itemViews.ts';
import { address } from './journal.ts';

/** What rendering the blocks of a page requires. */
export type Says = {
  view: View;
  faculty: string;
  below: Map<string, Awaited<ReturnType<View['db']['console']['childrenAmong']>>[number]>;
  whole: string | null;
};

/** The address of a block. */
export const linkTo = (view: View, block: RunBlock): string => `/work/${view.id}?at=${encodeURIComponent(block.position)}#${block.id}`;

export const wordOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

export const tools = (view: View, row: RunBlock, fork: Html | string): Html =>
  html`<div class="tools"><a class="btn small" href="${linkTo(view, row)}">link</a><button class="btn small" type="button" data-copy hidden>copy</button>${row.turn_id === null ? '' : html`<a class="btn small" href="/because/${row.turn_id}">because</a>`}${fork}</div>`;

/** A request with the messages in it, the answer, its calls, and what was recorded. */
export function turn(says: Says, rows: readonly RunBlock[]): Html {
  const { view } = says;
  const request = rows.find(({ kind }) => kind === 'request');
  const [first] = rows;
  if (!first) return html``;
  const isAsked = request?.status === 'pending' || request?.status === 'streaming';
  const n = request?.data?.['call_number'] ?? request?.data?.['iteration'];
  const fork =
    request?.status === 'completed' && view.formToken !== null && request.turn_id !== null ? forkLine(view, request.turn_id) : '';
  const at = request?.data?.['started_at'] ?? first.happened_at;
  return html`<li class="turn" id="turn/${first.turn_id}" data-key="turn/${first.id}" data-row="block"><div class="at">${typeof at === 'string' ? exactTime(at) : ''}${n === undefined ? '' : html`<b><a href="/turn/${first.turn_id}" title="The request, part by part">${num(Number(n))}</a></b>`}</div><div class="said"><p class="who"><b>${says.faculty}</b> ${request ? requestWords(request) : ''}</p>${isAsked ? asked(view, request) : ''}${rows.map((row) => blockOf(says, row))}</div>${tools(view, first, fork)}</li>`;
}

/** While the model answers, its text arrives. */
const asked = (view: View, request: RunBlock): Html =>
  html`<p class="small quiet">the model is asked since ${counting(request.happened_at)}${request.content ? html` <span class="bad" dir="auto">${brief(request.content, 300)}</span>` : ''}</p><p class="stream" dir="auto" data-words="${view.id}"><span class="said"></span><span class="caret" aria-hidden="true"></span></p>`;

function requestWords({ name, data }: RunBlock): string {
  const one = (key: string): number | null => (typeof data?.[key] === 'number' ? data[key] : null);
  const [input, cached, output, cost, seconds, requests] = [
    'input_tokens',
    'cached_tokens',
    'output_tokens',
    'cost',
    'seconds',
    'requests',
  ].map(one);
  return [
    name,
    seconds === null || seconds === undefined ? null : seconds < 90 ? `${seconds.toFixed(1)} s` : lasting(seconds),
    input ? `${k(input)} in${cached ? `, ${percent(cached, input)} cached` : ''}` : null,
    output ? `${k(output)} out` : null,
    cost ? `cost ${money(cost)}` : null,
    requests && requests > 1 ? `answered request ${requests}` : null,
  ]
    .filter((word) => word !== null && word !== undefined)
    .join(' · ');
}

export function blockOf(says: Says, row: RunBlock): Html {
  const { view } = says;
  switch (row.kind ?? '') {
    case 'words':
      return html`${typeof row.data?.['thinking'] === 'string' ? thought(row.data['thinking']) : ''}${row.content === null ? '' : html`<div id="${row.id}" data-key="${row.id}">${wordsOf(says, row)}</div>`}`;
    case 'call':
      return called(row, linkTo(view, row), says.below.get(wordOf(row.data?.['child'])), says.whole === row.id);
    case 'entry':
      return entry(says, row);
    case 'told':
      return foldedBlock(row, toldNames[row.name ?? ''] ?? row.name ?? 'told', row.content ?? '', linkTo(view, row));
    case 'hook':
      return foldedBlock(row, `hook ${row.name}`, row.content ?? wordOf(row.data?.['command']), linkTo(view, row), row.status ?? '');
    default:
      return html``;
  }
}

const toldNames: Record<string, string> = {
  digest: 'told of others',
  nudge: 'reminder',
  stall: 'told that it goes in circles',
  child_result: 'result of a child',
  agent_message: 'another agent',
  task: 'task',
  said: 'told',
  engine: 'told by the engine',
};

/** Longer thinking is folded. */
const LONG = 600;
const thought = (text: string): Html =>
  text.length <= LONG
    ? html`<div class="thought" dir="auto">${markdown(text)}</div>`
    : html`<details class="thought"><summary dir="auto">${brief(text, 240)}</summary>${markdown(text)}</details>`;

function foldedBlock(row: RunBlock, name: string, content: string, link: string, status = ''): Html {
  const isBad = row.mark === 'error';
  return html`<details class="call told${isBad ? ' bad' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}"><summary data-row="told"><span></span><span class="name">${name}</span><span class="arg cut" dir="auto">${withShortIds(brief(content, 200))}</span><span class="cost">${status}</span></summary><div class="inside pad-all">${markdown(content)}<p class="small foot"><a href="${link}">link</a></p></div></details>`;
}

/** Ledger entries, which last, stand out. */
function entry({ view }: Says, row: RunBlock): Html {
  const seq = Number(row.data?.['seq']);
  const trust = row.data?.['trust'];
  const notes = [
    typeof trust === 'string' ? trustWords(trust) : '',
    row.data?.['is_inherited'] === true ? 'from before the fork' : '',
    row.data?.['retracts'] === undefined ? '' : `takes back ${wordOf(row.data['retracts'])}`,
  ].filter((one) => one !== '');
  return html`<div class="mark${row.mark === 'error' ? ' bad' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}"><span class="kind">${row.name}</span>${markdown(row.content ?? '')}<span class="quiet"><a href="/work/${view.id}/ledger?before=${seq + 1}#entry-${seq}">entry ${num(seq)}</a>${notes.map((one) => html` · ${one}`)} · <a href="${linkTo(view, row)}">link</a>${row.turn_id === null ? '' : html` · <a href="/because/${row.turn_id}">because</a>`}</span></div>`;
}

/** Text as Markdown; of a long text the beginning, and a link to all of it. */
export function wordsOf({ view }: Says, row: RunBlock): Html {
  const content = row.content ?? '';
  const left = (row.chars ?? 0) - content.length;
  const wrapped =
    row.wrapped === null ? '' : html`<details class="thought"><summary>as its client sent it</summary>${markdown(row.wrapped)}</details>`;
  return html`${markdown(content)}${wrapped}${left > 0 ? html`<p class="small"><a class="accent" href="${address(view, { at: row.position, from: '', to: '', whole: row.id ?? '' })}#${row.id}">all ${num(row.chars ?? 0)} characters</a></p>` : ''}`;
}
