// How a work item and a state are shown, wherever they are.

import type { Listed } from '../ledger/consoleWork.ts';
import { money } from '../money.ts';
import { shapeOf, sign } from './draw.ts';
import { brief, k, lasting, num, since } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { momentTime } from './times.ts';

/** A time that has lasted: the page counts it on by itself. */
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

/** A work item of a list, with how it ended. */
export function listedRow(item: Listed): Html {
  const isBad = item.state === 'failed' || item.state === 'dead';
  const says = isBad
    ? (item.state_reason ?? item.outcome)
    : item.resolved_at === null
      ? item.state_reason
      : (item.outcome ?? item.state_reason);
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

/**
 * The form that lets it go on: a session of another program is active again, and no worker takes it; a task of Agent OS goes on when its
 * program saves it.
 */
export function resumption({ state, work_type: type }: { state: string; work_type: string }): 'resume' | 'continue' | null {
  if (type === 'ldg:task') return null;
  if (type === 'journal') return state === 'paused' || state === 'created' ? 'continue' : null;
  return state === 'paused' ? 'resume' : null;
}
