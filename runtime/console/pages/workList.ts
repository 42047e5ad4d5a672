// All work, newest first, in pages; and the page of a single call.

import { ORDERED, workOrders } from '../../ledger/consoleWork.ts';
import { approvalList, approvalPanel } from '../approval.ts';
import { argumentsOf } from '../arguments.ts';
import { num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { projectSwitch } from '../projects.ts';
import { denseHead, denseRow } from '../work.ts';
import { address } from './journal.ts';

const PAGE = 100;
const states = ['open', 'running', 'waiting', 'queued', 'paused', 'completed', 'failed', 'dead', 'cancelled'];
/** Parameters of the address, with their labels. */
const fields = { type: 'work type', faculty: 'faculty', source: 'program', q: 'words' } as const;

export const workList: Page = {
  pattern: /^\/work$/,
  section: 'work',
  parts: { list },
  inputs: { list: ['newest', 'underWay', 'queue', 'over'] },
  whole: async (view, part) => {
    const { query } = view;
    const chip = (name: string, label: string, value: string): Html =>
      html`<a class="chip" href="${address(view, { [name]: value, before: '' })}"${(query.get(name) ?? '') === value ? html` aria-current="true"` : ''}>${label}</a>`;
    const field = ([name, label]: [string, string]): Html =>
      html`<input class="field narrow" name="${name}" value="${query.get(name) ?? ''}" placeholder="any ${label}" aria-label="${label[0]?.toUpperCase()}${label.slice(1)}">`;
    const kept = ['state', 'order'].filter((name) => query.get(name));
    return {
      title: 'Work',
      body: html`<header class="head"><h1>Work</h1>${await projectSwitch(view)}</header>
<form class="stack gap-s" method="get"><div class="row wrap">${Object.entries(fields).map(field)}${kept.map((name) => html`<input type="hidden" name="${name}" value="${query.get(name)}">`)}<button class="btn">Filter</button></div><div class="chips" aria-label="State">${chip('state', 'all', '')}${states.map((one) => chip('state', one, one))}</div><div class="chips" aria-label="Order">${workOrders.map((one) => chip('order', one, one === 'newest' ? '' : one))}</div></form>
${await part('list')}`,
    };
  },
};

async function list(view: View): Promise<Html> {
  const { query } = view;
  const given = (name: string): string | null => query.get(name) || null;
  const before = given('before');
  const order = workOrders.find((one) => one === query.get('order')) ?? 'newest';
  const items = await view.db.console.workPage(
    {
      project: view.project,
      state: given('state'),
      type: given('type'),
      faculty: given('faculty'),
      origin: given('source'),
      words: given('q'),
      order,
      before: order === 'newest' && before && new RegExp(`^${uuid}$`).test(before) ? before : null,
    },
    PAGE,
  );
  if (items.length === 0)
    return panel(
      'Items',
      null,
      empty(query.size > 0 ? 'No matching items.' : html`No work yet. <code>work-ledger submit '…' --type task</code>`),
    );
  const last = order === 'newest' && items.length === PAGE ? items.at(-1) : undefined;
  return panel(
    'Items',
    order === 'newest' ? 'newest first' : `the ${order} of the newest ${num(ORDERED)} like that`,
    html`<ul class="rows list dense" data-list>${denseHead}${items.map(denseRow)}</ul>${last ? html`<p class="newer"><a href="${address(view, { before: last.id })}" data-more>older items</a></p>` : ''}`,
  );
}

const LARGE = 200_000;

/** A single call in full, with the approval that it waits for. */
export const callPage: Page = {
  pattern: new RegExp(`^/call/(?<id>${uuid})$`),
  section: 'work',
  parts: { asked },
  inputs: { asked: ['approvals'] }, // not by the clock: it may be megabytes
  itemOf: ({ db, id }) => db.console.itemOfCall(id),
  async whole(view, part) {
    const call = await view.db.console.callWhole(view.id);
    if (!call) return null;
    const result = call.result ?? '';
    return {
      title: call.tool_name,
      body: html`<header class="head"><p class="crumb"><a href="/work">Work</a> / <a class="mono" href="/work/${call.work_item_id}">${(call.work_item_id ?? '').slice(-6)}</a> / call</p><h1 class="mono">${call.tool_name}</h1><p class="meta"><span>${call.status}</span><span><a class="accent" href="/turn/${call.turn_id}">the request that made it</a></span></p></header>
${await part('asked')}
${panel('Result', call.artifact ? `whole, from its artifact ${call.artifact.slice(0, 12)}` : `${num(result.length)} characters`, html`<div class="body"><pre class="fence" dir="auto" tabindex="0">${view.query.has('all') ? result : result.slice(0, LARGE)}</pre>${result.length > LARGE && !view.query.has('all') ? html`<p class="newer"><a href="${address(view, { all: '1' })}">all ${num(result.length)} characters</a></p>` : ''}</div>`)}`,
    };
  },
};

/** Its arguments: to be approved, or as it ran. */
async function asked(view: View): Promise<Html> {
  const [waiting] = await view.db.console.approvals(null, { toolCallId: view.id });
  if (waiting) return html`<div class="own">${approvalList([approvalPanel(view, waiting)])}</div>`;
  const call = await view.db.console.callWhole(view.id);
  return panel('Arguments', null, html`<div class="body">${argumentsOf(call?.input_json ?? 'null')}</div>`);
}
