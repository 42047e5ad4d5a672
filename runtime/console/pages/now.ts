// Now: whether anything waits for a person, what runs, what waits and why.

import type { UnderWay, UnderWayOfTree, UnderWayPage } from '../../ledger/consoleNow.ts';
import { money } from '../../money.ts';
import { approvalList, approvalPanel, MOST_IN_A_LIST } from '../approval.ts';
import { doingOf, stateNow } from '../doing.ts';
import type { Piece } from '../doing.ts';
import { bar, sign } from '../draw.ts';
import { brief, count, k, lasting, num, since } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, panel } from '../page.ts';
import type { Page, View } from '../page.ts';
import { projectSwitch } from '../projects.ts';
import { colhead, counting, listedRow, workRow } from '../work.ts';
import { address } from './journal.ts';

/** Trees on a page, and items of each tree. */
export const TREES = 20;
export const ITEMS = 8;

export const now: Page = {
  pattern: /^\/$/,
  section: 'now',
  parts: { figures, spent, approvals, underWay, lately, queue, workers, slots, doctor },
  inputs: {
    figures: ['underWay', 'asks'],
    spent: ['every 30 s'],
    approvals: ['asks', 'every 30 s'],
    underWay: ['underWay', 'asks', 'workers'], // a lost worker changes nothing of its items
    lately: ['underWay', 'queue', 'over'],
    queue: ['queue', 'underWay', 'every 30 s'],
    workers: ['workers', 'every 10 s'],
    slots: ['underWay', 'queue', 'every 10 s'],
    doctor: ['queue', 'workers', 'every 30 s'],
  },
  async whole(view, part) {
    const [top, used, ask, way, over, wait, who, slot, found] = await Promise.all(
      ['figures', 'spent', 'approvals', 'underWay', 'lately', 'queue', 'workers', 'slots', 'doctor'].map(part),
    );
    return {
      title: 'Now',
      body: html`<header class="head"><div class="row spread wrap"><h1>Now</h1><div class="row wrap figures">${top ?? ''}${used ?? ''}</div></div>${await projectSwitch(view)}</header>
<div class="cols"><div class="stack">${ask ?? ''}${way ?? ''}${over ?? ''}</div><div class="stack">${wait ?? ''}${who ?? ''}${slot ?? ''}${found ?? ''}</div></div>`,
    };
  },
  watches: async (view) => (await view.db.console.underWayAsked(shownOf(view))).map(({ id }) => id),
  watchesWith: 'underWay',
};

const skippedOf = ({ query }: View): number => Math.max(0, Math.trunc(Number(query.get('after') ?? 0)) || 0);
const shownOf = (view: View): UnderWayPage => ({ project: view.project, trees: TREES, skipped: skippedOf(view), items: ITEMS });

async function figures({ db, project }: View): Promise<Html> {
  const all = await db.console.underWaySums(project);
  return html`<p class="meta"><span><b>${num(all.model)}</b> model calls under way</span><span><b>${num(all.waits)}</b> wait</span></p>`;
}

/** Today's usage and the total, by UTC days of the database's clock, as everywhere where days are summed. */
export async function usedOf({ db, project }: Pick<View, 'db' | 'project'>): Promise<{ tokens: number; cost: number }[]> {
  const day = new Date(await db.journal.now()).toISOString().slice(0, 10);
  const [[today], [all]] = await Promise.all([
    db.workTotals({ by: 'total', from: `${day}T00:00:00Z`, project }),
    db.workTotals({ by: 'total', project }),
  ]);
  return [today, all].map((one) => ({
    tokens: one ? one.input_tokens + one.cached_input_tokens + one.cache_write_tokens + one.output_tokens : 0,
    cost: one?.cost ?? 0,
  }));
}

async function spent(view: View): Promise<Html> {
  const [today, all] = (await usedOf(view)).map(
    ({ tokens, cost }) => html`<b>${k(tokens)}</b> tokens${cost > 0 ? html`, cost <b>${money(cost)}</b>` : ''}`,
  );
  return html`<p class="meta"><span title="since midnight, UTC">today ${today ?? ''}</span><span>all <a href="/fleet">${all ?? ''}</a></span></p>`;
}

async function approvals(view: View): Promise<Html> {
  const asked = await view.db.console.approvals(null, { project: view.project, longest: MOST_IN_A_LIST });
  return approvalList(asked.map((one) => approvalPanel(view, one)));
}

async function underWay(view: View): Promise<Html> {
  const items = await view.db.console.underWay(shownOf(view));
  const skipped = skippedOf(view);
  const all = items[0]?.trees ?? (skipped > 0 ? (await view.db.console.underWaySums(view.project)).trees : 0);
  if (items.length === 0 && skipped === 0)
    return panel('Under way', null, empty(html`Nothing runs. <code>work-ledger submit '…' --type task</code>`));
  const trees = [...Map.groupBy(items, (one) => one.root_id).values()];
  const isAll = trees.length === all;
  const page = (label: string, after: number): Html =>
    html`<a href="${address(view, { after: after > 0 ? String(after) : '' })}">${label}</a>`;
  const next = skipped + trees.length < all ? page('later trees', skipped + TREES) : '';
  const before = skipped > 0 ? page('earlier trees', Math.max(0, skipped - TREES)) : '';
  return panel(
    'Under way',
    isAll
      ? all === 1
        ? 'one tree'
        : `${all} trees`
      : `trees ${num(skipped + 1)} to ${num(skipped + trees.length)} of ${num(all)}, those that wait for a person first`,
    html`<ul class="rows list" data-list>${colhead('For')}${trees.map((tree) => treeRows(tree))}</ul>${before || next ? html`<p class="newer">${before}${before && next ? ' · ' : ''}${next}</p>` : ''}`,
  );
}

function treeRows(tree: readonly UnderWayOfTree[]): Html {
  const [first] = tree;
  const more = (first?.tree_under_way ?? 0) - tree.length;
  return html`${tree.map((one, i) => rowOf(one, one.depth > 0, i === tree.length - 1 && more <= 0))}${more > 0 && first ? html`<li class="line" data-key="more-${first.root_id}"><a class="cut" href="/work/${first.root_id}">${num(more)} more of this tree</a></li>` : ''}`;
}

function rowOf(one: UnderWay, isChild: boolean, isLast: boolean): Html {
  const state = stateNow(one);
  const words =
    one.doing === 'model'
      ? html`<p class="stream" dir="auto" data-words="${one.work_item_id}"><span class="said">${brief(one.last_words ?? '', 300)}</span><span class="caret" aria-hidden="true"></span></p>`
      : '';
  return workRow({
    id: one.work_item_id,
    state,
    description: one.description,
    who: one.faculty ?? one.work_type,
    tokens: one.tokens,
    cost: one.cost,
    when: counting(one.attempt_started_at ?? one.started_at),
    className: isChild ? `child${isLast ? ' last' : ''}` : '',
    now: html`<span class="cut">${doing(one)}</span>${words}`,
  });
}

/** What it does now, in one line. */
export const doing = (one: UnderWay, isShort = false): Html => html`${doingOf(one, isShort).map(pieceOf)}`;

const classes = { kind: 'kind', ask: 'kind warn', tool: 'mono' };

function pieceOf({ text, as, isTheirs, href }: Piece): Html {
  if (href !== undefined) return html`<a class="accent" href="${href}">${text}</a>`;
  if (as === undefined) return isTheirs ? html`<span dir="auto">${text}</span>` : html`${text}`;
  return html`<span class="${classes[as]}"${isTheirs ? html` dir="auto"` : ''}>${text}</span>`;
}

async function lately({ db, project }: View): Promise<Html> {
  const over = await db.console.lately(project, 8);
  if (over.length === 0) return html``;
  return panel('Lately over', html`<a href="/work">all work</a>`, html`<ul class="rows list" data-list>${over.map(listedRow)}</ul>`);
}

async function queue({ db, project }: View): Promise<Html> {
  const waiting = await db.console.queue(project, 12);
  return panel(
    'Queue',
    waiting.length === 0 ? 'nothing waits' : `${waiting.length === 12 ? 'the first 12' : waiting.length} wait`,
    html`<ul class="rows">${waiting.map((one) => html`<li class="line" data-key="${one.work_item_id}"><a class="cut" dir="auto" href="/work/${one.work_item_id}">${brief(one.description, 120)}</a><span class="faint small">p${one.priority}</span><span class="quiet" dir="auto">${one.waits_for === 'time' ? `starts in ${lasting(-since(one.run_at))}` : one.waits_for === 'faculty' ? html`<span class="warn">${one.why}</span>` : (one.why ?? 'ready')}</span></li>`)}</ul>`,
  );
}

async function workers({ db, project }: View): Promise<Html> {
  const all = await db.console.workers(project);
  const alive = all.filter((one) => one.is_alive).length;
  if (all.length === 0) return panel('Workers', null, empty(html`No worker has ever run here. <code>work-ledger work</code>`));
  return panel(
    'Workers',
    `${alive} alive`,
    html`<ul class="rows">${all.map(
      (one) =>
        html`<li class="line" data-key="${one.id}"><span class="mono cut">${one.id}</span><span class="num small">${one.is_alive ? `${one.busy}${one.concurrency === null ? '' : ` of ${one.concurrency}`}` : html`<span class="faint">gone</span>`}</span><span class="quiet">${
          one.seen_at === null ? '' : html`heard from ${counting(one.seen_at)} ago`
        }${one.project === null ? '' : ` · ${one.project}`}${one.busy === 0 && one.is_alive ? ' · idle' : ''}${one.lease_ends_at && one.is_alive ? html` · lease ${lasting(-since(one.lease_ends_at))}` : ''}</span></li>`,
    )}</ul>`,
  );
}

async function slots({ db, project }: View): Promise<Html> {
  const [all, models] = await Promise.all([db.console.slots(project), db.console.models()]);
  const shown = all.filter((one) => one.slots !== null || one.used > 0 || (one.queued ?? 0) > 0).slice(0, 8);
  if (shown.length === 0 && models.length === 0) return html``;
  return panel(
    'Slots and models',
    null,
    html`<div class="body stack">${shown.length > 0 ? html`<dl class="kv">${shown.map((one) => html`<dt class="cut">${one.project === null ? one.faculty : `${one.faculty}@${one.project}`}</dt><dd>${one.slots === null ? `${one.used} under way` : `${one.used} of ${one.slots}`}</dd>${one.slots === null ? '' : html`<dd class="bar-cell">${bar(one.used / Math.max(one.slots, 1))}</dd>`}`)}</dl>` : ''}${
      models.length > 0
        ? html`<dl class="kv">${models.map((one) => html`<dt class="cut">${one.name}</dt><dd>${one.ends_at === null || since(one.ends_at) > 0 ? html`<span class="good">answers</span>` : html`<span class="warn" title="${one.reason ?? ''}">again in ${lasting(-since(one.ends_at))}</span>`}</dd>`)}</dl>`
        : ''
    }</div>`,
  );
}

async function doctor({ db, project }: View): Promise<Html> {
  const findings = await db.console.doctor(project);
  const wrong = findings.filter((one) => one.severity !== 'fine');
  const fine = findings.length - wrong.length;
  return panel(
    'Doctor',
    wrong.length === 0 ? 'no findings' : count(wrong.length, 'finding'),
    html`<ul class="rows">${wrong.slice(0, 12).map((one) => html`<li class="line"><span class="${one.severity === 'error' ? 'bad' : 'warn'} strong" dir="auto">${one.says}</span>${one.work_item_id ? html`<a class="small accent" href="/work/${one.work_item_id}">look</a>` : ''}<span class="quiet">${one.remedy}</span></li>`)}<li class="line"><span class="good">${sign('completed')} ${count(fine, 'check is fine', 'checks are fine')}</span></li></ul>`,
  );
}
