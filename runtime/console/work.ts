// How a work item, a state and an approval are shown, wherever they are.

import type { Listed } from '../ledger/consoleWork.ts';
import { shapeOf, sign } from './draw.ts';
import { brief, exactly, k, lasting, moment, money, num, since } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { form } from './page.ts';
import type { View } from './page.ts';

/** A time that has lasted: the page counts it on by itself. */
export const counting = (at: string | null): Html | string => (at === null ? '' : html`<time data-since="${at}">${lasting(since(at))}</time>`);

export const tokens = (n: number | null): Html | string => (n ? html`<span title="${num(n)} tokens">${k(n)}</span>` : '');

export const cost = (n: number | null): string => (n === null || n === 0 ? '' : money(n));

export const at = (time: string): Html => html`<time datetime="${time}" title="${exactly(time)}">${moment(time)}</time>`;

export type Row = { id: string; state: string; description: string; who: string; tokens: number | null; cost: number | null; when: Html | string; now?: Html | string; className?: string; isCurrent?: boolean; href?: string };

export const workRow = (row: Row): Html => html`<li class="work ${row.className ?? ''} is-${shapeOf(row.state)}" data-key="${row.id}"${row.isCurrent ? html` aria-current="true"` : ''}>
<div class="title">${sign(row.state)}<span class="sr">${row.state}: </span><a class="cut" dir="auto" href="${row.href ?? `/work/${row.id}`}">${brief(row.description, 160)}</a><span class="who">${row.who}</span></div>
<span class="n">${tokens(row.tokens)}</span><span class="n opt">${cost(row.cost)}</span><span class="n opt">${row.when}</span>
${row.now ? html`<div class="now">${row.now}</div>` : ''}</li>`;

export const colhead = (last: string): Html => html`<li class="work colhead" aria-hidden="true"><span>Work</span><span class="n">Tokens</span><span class="n">Cost</span><span class="n">${last}</span></li>`;

/** A work item of a list, with how it ended. */
export function listedRow(item: Listed): Html {
  const isBad = item.state === 'failed' || item.state === 'dead';
  const says = isBad ? item.state_reason ?? item.outcome : item.resolved_at === null ? item.state_reason : item.outcome ?? item.state_reason;
  return workRow({
    id: item.id, state: item.state, description: item.description, who: item.faculty ?? item.work_type, tokens: item.tokens, cost: item.cost, when: at(item.resolved_at ?? item.created_at),
    ...(says && { now: html`<span class="cut${isBad ? ' bad' : ''}" dir="auto">${item.resolved_at === null ? html`<span class="kind">${item.state}</span> · ` : ''}${brief(says, 240)}</span>` }),
  });
}

/** The form that lets it go on: a session of another program is active again, and no worker takes it; a task of Agent OS goes on when its program saves it. */
export function resumption({ state, work_type: type }: { state: string; work_type: string }): 'resume' | 'continue' | null {
  if (type === 'ldg:task') return null;
  if (type === 'journal') return state === 'paused' || state === 'created' ? 'continue' : null;
  return state === 'paused' ? 'resume' : null;
}

type Approval = Awaited<ReturnType<View['db']['console']['approvals']>>[number];

/** What waits for approval: the call with its arguments, and the two answers. Enter in the field takes the first button of the form, the hidden one: whoever says why rejects. */
export function approvalPanel(view: View, one: Approval): Html {
  const address = `/call/${one.tool_call_id}/decide`;
  return html`<section class="panel ask lead" aria-label="Waits for approval: ${one.tool_name}" data-key="${one.tool_call_id}" data-row="approval" tabindex="0"><div class="row spread wrap"><h2>${sign('approval')} ${one.tool_name} <span class="quiet">asked by</span> <a dir="auto" href="/work/${one.work_item_id}">${brief(one.description, 60)}</a></h2><span class="risk">${one.risk}${one.effect === 'unsafe' ? ' · unsafe to repeat' : ''}</span></div>
${argumentsOf(one.input)}
<p class="small quiet">${one.said ? html`<span dir="auto">“${brief(one.said, 400)}”</span> ` : ''}Approval is for these arguments only (<span class="mono">${one.input_hash.slice(0, 8)}</span>). Expires in ${lasting((Date.parse(one.expires_at) - Date.now()) / 1000)}.</p>
${form(view, address, html`<input type="hidden" name="input_hash" value="${one.input_hash}"><button name="decision" value="reject" hidden></button><div class="row wrap"><input class="field grow" type="text" name="reason" autocomplete="off" placeholder="Reason, told to the agent when you reject" aria-label="Reason"><button class="btn primary" name="decision" value="approve">Approve <kbd class="hide-s">a</kbd></button><button class="btn danger" name="decision" value="reject">Reject <kbd class="hide-s">x</kbd></button></div>`)}</section>`;
}

const LONG = 2000;

/** Arguments by name, or as JSON; long ones are cut, and folded out where they are shown whole. */
export function argumentsOf(input: unknown): Html {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return html`<pre class="args" dir="auto" tabindex="0">${longText(JSON.stringify(input))}</pre>`;
  const entries = Object.entries(input);
  const width = Math.min(18, Math.max(0, ...entries.map(([name]) => name.length)) + 2);
  return html`<pre class="args" dir="auto" tabindex="0">${entries.map(([name, value], i) => html`${i > 0 ? '\n' : ''}<i>${name.padEnd(width)}</i> ${longText(typeof value === 'string' ? value : JSON.stringify(value))}`)}</pre>`;
}

export const longText = (text: string): string => (text.length > LONG ? `${text.slice(0, LONG)}… (${num(text.length - LONG)} characters more)` : text);
