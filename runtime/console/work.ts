// How a work item and a state are shown, wherever they appear.

import type { Listed } from '../ledger/consoleWork.ts';
import { money } from '../money.ts';
import { shapeOf, sign } from './draw.ts';
import { brief, k, lasting, num, since } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { momentTime } from './times.ts';

/** A duration that the page keeps counting. */
export const counting = (at: string | null): Html | string =>
  at === null ? '' : html`<time data-since="${at}">${lasting(since(at))}</time>`;

export const tokens = (n: number | null): Html | string => (n ? html`<span title="${num(n)} tokens">${k(n)}</span>` : '');

export const cost = (n: number | null): string => (n === null || n === 0 ? '' : money(n));

export const at = momentTime;

export type Row = {
  id: string;
  state: string;
  description: string;
  who: string;
  tokens: number | null;
  cost: number | null;
  when: Html | string;
  now?: Html | string;
  className?: string;
  isCurrent?: boolean;
  href?: string;
};

export const workRow = (
  row: Row,
): Html => html`<li class="work ${row.className ?? ''} is-${shapeOf(row.state)}" data-key="${row.id}"${row.isCurrent ? html` aria-current="true"` : ''}>
<div class="title">${sign(row.state)}<span class="sr">${row.state}: </span><a class="cut" dir="auto" href="${row.href ?? `/work/${row.id}`}">${brief(row.description, 160)}</a><span class="who">${row.who}</span></div>
<span class="n">${tokens(row.tokens)}</span><span class="n opt">${cost(row.cost)}</span><span class="n opt">${row.when}</span>
${row.now ? html`<div class="now">${row.now}</div>` : ''}</li>`;

export const colhead = (last: string): Html =>
  html`<li class="work colhead" aria-hidden="true"><span>Work</span><span class="n">Tokens</span><span class="n">Cost</span><span class="n">${last}</span></li>`;

/** A work item in a list, with how it ended. */
export function listedRow(item: Listed): Html {
  const { isBad, says } = endOf(item);
  return workRow({
    id: item.id,
    state: item.state,
    description: item.description,
    who: item.faculty ?? item.work_type,
    tokens: item.tokens,
    cost: item.cost,
    when: at(item.resolved_at ?? item.created_at),
    ...(says && {
      now: html`<span class="cut${isBad ? ' bad' : ''}" dir="auto">${item.resolved_at === null ? html`<span class="kind">${item.state}</span> · ` : ''}${brief(says, 240)}</span>`,
    }),
  });
}

/** On one line, with what it used. */
export function denseRow(item: Listed): Html {
  const { isBad, says } = endOf(item);
  const from = item.origin === null || item.origin === 'work-ledger' ? '' : ` · ${item.origin}`;
  return html`<li class="work is-${shapeOf(item.state)}" data-key="${item.id}">
<div class="title">${sign(item.state)}<span class="sr">${item.state}: </span><a class="cut" dir="auto" href="/work/${item.id}">${brief(item.description, 160)}</a>${says ? html`<span class="cut says${isBad ? ' bad' : ''}" dir="auto">${brief(says, 160)}</span>` : ''}<span class="who">${item.faculty ?? item.work_type}${from}</span></div>
<span class="n">${tokens(item.tokens)}</span><span class="n opt">${cost(item.cost)}</span><span class="n opt">${item.seconds === null ? '' : lasting(item.seconds)}</span><span class="n opt">${at(item.created_at)}</span></li>`;
}

export const denseHead = html`<li class="work colhead" aria-hidden="true"><span>Work</span><span class="n">Tokens</span><span class="n">Cost</span><span class="n">Took</span><span class="n">Submitted</span></li>`;

function endOf(item: Listed): { isBad: boolean; says: string | null } {
  const isBad = item.state === 'failed' || item.state === 'dead';
  if (isBad) return { isBad, says: item.state_reason ?? item.outcome };
  return { isBad, says: item.resolved_at === null ? item.state_reason : (item.outcome ?? item.state_reason) };
}

/**
 * The form that continues it. A session of another program becomes active again, and no worker takes it; a task of Agent OS continues when
 * its program saves it.
 */
export function resumption({ state, work_type: type }: { state: string; work_type: string }): 'resume' | 'continue' | null {
  if (type === 'ldg:task') return null;
  if (type === 'journal') return state === 'paused' || state === 'created' ? 'continue' : null;
  return state === 'paused' ? 'resume' : null;
}
