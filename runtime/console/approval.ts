// A call that waits for approval: everything it would do, and the two answers. Without a script the arguments precede the buttons, and the
// form sends the hash of what it shows; with one, assets/approvals.js decides when a button works and what it does.

import { argumentsOf } from './arguments.ts';
import { sign } from './draw.ts';
import { brief, lasting, num } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { form } from './page.ts';
import type { View } from './page.ts';

type Approval = Awaited<ReturnType<View['db']['console']['approvals']>>[number];

/** Longer arguments are read, and approved, on a page of their own. */
export const MOST_IN_A_LIST = 12_000;

/** The list of waiting calls; while the reader is using it, new ones are held back behind a line. */
export const approvalList = (asked: readonly Html[]): Html =>
  html`<div class="stack" aria-live="polite" aria-relevant="additions" data-asks>${asked}</div>
<p class="newer" data-waits hidden><button class="btn" type="button"></button></p>`;

/** Enter in the field presses the first button of the form, the hidden one: typing a reason means to reject. */
export function approvalPanel(view: View, one: Approval): Html {
  const isWhole = one.input_json !== null;
  return html`<section class="panel ask lead" aria-label="Waits for approval: ${one.tool_name}" tabindex="0"
data-key="${one.tool_call_id}" data-row="approval" data-hash="${one.input_hash}" data-risk="${one.risk}">
<div class="stack gap-s" data-what><div class="row spread wrap">
<h2>${sign('approval')} ${one.tool_name} <span class="quiet">asked by</span>
<a dir="auto" href="/work/${one.work_item_id}">${brief(one.description, 60)}</a></h2>
<span class="risk">${one.risk}${one.effect === 'unsafe' ? ' · unsafe to repeat' : ''}</span></div>
${isWhole ? argumentsOf(one.input_json ?? '') : elsewhere(one)}</div>
<p class="small quiet">${one.said ? html`<span dir="auto">“${brief(one.said, 400)}”</span> ` : ''}
${isWhole ? html`Approval is for these arguments only (<span class="mono">${one.input_hash.slice(0, 8)}</span>).` : ''}
Expires in ${lasting(one.seconds_left)}.</p>
${form(view, `/call/${one.tool_call_id}/decide`, answers(one, isWhole))}</section>`;
}

const elsewhere = (one: Approval): Html => html`<p>Its arguments have ${num(one.size)} characters.
They are read whole, and approved, on a page of their own:
<a class="accent" href="/call/${one.tool_call_id}" data-whole>Read and decide</a></p>`;

const answers = (one: Approval, isWhole: boolean): Html => html`<input type="hidden" name="input_hash" value="${one.input_hash}">
<button name="decision" value="reject" hidden></button>
<div class="decide"><div class="row wrap">
<input class="field grow" type="text" name="reason" autocomplete="off" aria-label="Reason"
placeholder="Reason, told to the agent when you reject">
${isWhole ? html`<button class="btn primary" name="decision" value="approve">Approve <kbd class="hide-s">a</kbd></button>` : ''}
<button class="btn danger" name="decision" value="reject">Reject <kbd class="hide-s">x</kbd></button></div>
<div class="row wrap pending" data-pending></div></div>
<p class="small quiet says" role="status" data-says></p>`;
