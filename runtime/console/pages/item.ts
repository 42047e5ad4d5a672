// One work item: where it is now, what happened, what it may use, what it was told, and everything that a person can do about it.

import { isFinal } from '../../ledger/answers.ts';
import type { WorkTimes } from '../../ledger/consoleRun.ts';
import { money } from '../../money.ts';
import { approvalList, approvalPanel, MOST_IN_A_LIST } from '../approval.ts';
import { stateNow } from '../doing.ts';
import { bar, shapeOf, sign } from '../draw.ts';
import { drawTurns } from '../drawTurns.ts';
import { brief, count, inLines, k, lasting, num, percent, short, trustWords } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel, uuid } from '../page.ts';
import type { Input, Page, View } from '../page.ts';
import { exactTime, zone } from '../times.ts';
import { at, cost, resumption } from '../work.ts';
import { journal } from './journal.ts';
import { doing } from './now.ts';

type Item = NonNullable<Awaited<ReturnType<View['db']['console']['item']>>>;

const views = [
  ['', 'Run'],
  ['/journal', 'Journal'],
  ['/ledger', 'Ledger'],
  ['/turns', 'Turns'],
  ['/context', 'Context'],
  ['/waterfall', 'Waterfall'],
  ['/cost', 'Cost'],
] as const;

/** A lease that expires changes no row. */
const isLost = async ({ db, id }: View): Promise<string> => String(await db.console.hasLostWorker(id));
export const headInputs: readonly Input[] = ['item', 'focus', 'turn', 'calls', 'approvals', 'below', isLost];
/** Other work draws on daily budgets, too. */
export const budgetInputs: readonly Input[] = ['budgets', 'item', 'focus', 'turn', 'every 30 s'];

/** The head of every page of an item: what it is, its tabs. */
export async function itemFrame(
  view: View,
  tab: string,
  part: (name: string) => Promise<Html>,
  rest: Html,
): Promise<{ title: string; body: Html } | null> {
  const item = await view.db.workItem(view.id);
  if (!item) return null;
  return {
    title: brief(item.description, 60),
    body: html`<div class="head">${await part('head')}</div>
<nav class="tabs" aria-label="Views of this work">${views.map(([path, label]) => html`<a href="/work/${view.id}${path}"${path === tab ? html` aria-current="page"` : ''}>${label}</a>`)}</nav>${rest}`,
  };
}

export const item: Page = {
  pattern: new RegExp(`^/work/(?<id>${uuid})/journal$`),
  section: 'work',
  parts: { head, approvals, turns, journal, budget, claims, ledger, children, told },
  inputs: {
    head: headInputs,
    approvals: ['approvals', 'every 30 s'],
    turns: ['item', 'focus', 'turn', 'calls', 'forks'],
    journal: ['item', 'turn', 'calls', 'approvals', 'inbox', 'journal'],
    budget: budgetInputs,
    claims: ['claims', 'focus', 'item', 'every 30 s'], // a claim that expires changes no row
    ledger: ['item'],
    children: ['below', 'asks'],
    told: ['inbox', 'turn'],
  },
  async whole(view, part) {
    const [ask, tree, log, use, held, entries, below, said] = await Promise.all(
      ['approvals', 'turns', 'journal', 'budget', 'claims', 'ledger', 'children', 'told'].map(part),
    );
    return itemFrame(
      view,
      '/journal',
      part,
      html`<div class="cols"><div class="stack">${ask ?? ''}${tree ?? ''}${log ?? ''}</div><div class="stack">${use ?? ''}${held ?? ''}${entries ?? ''}${below ?? ''}${said ?? ''}</div></div>`,
    );
  },
  watches: async (view) => [view.id],
};

export async function head(view: View): Promise<Html> {
  const [one, now, tree, times] = await Promise.all([
    view.db.console.item(view.id),
    view.db.console.underWayOf(view.id),
    view.db.console.treeCost(view.id),
    view.db.console.workTimes(view.id),
  ]);
  if (!one) return html``;
  const state = now ? stateNow(now) : one.state;
  const says = now
    ? doing(now, true)
    : html`<span class="strong">${one.state}</span>${one.state_reason && !isFinal(one.state) ? html` · <span dir="auto">${brief(one.state_reason, 120)}</span>` : ''}`;
  const outcome = one.outcome_data?.['summary'] ?? one.outcome_data?.['error'] ?? (isFinal(one.state) ? one.state_reason : null);
  return html`<p class="crumb"><a href="/work">Work</a> / <a href="/work?type=${encodeURIComponent(one.work_type)}">${one.work_type}</a> / ${one.parent_id ? html`<a class="mono" href="/work/${one.parent_id}" title="its parent">${short(one.parent_id)}</a> / ` : ''}<span class="mono" title="${one.id}">${short(one.id)}</span> <button class="btn small" type="button" data-copy="${one.id}" hidden>copy id</button>${one.fork_turn_id ? html` · <a class="accent" href="/turn/${one.fork_turn_id}">forked from a turn</a>` : ''}</p>
<h1 dir="auto">${brief(one.description, 400)}</h1>
<div class="row spread wrap top"><p class="meta"><span class="state is-${shapeOf(state)}">${sign(state)}<span class="cut">${says}</span></span><span>${one.current_faculty ?? one.faculty}</span>${one.project === null ? '' : html`<span>project <a class="accent" dir="auto" href="/work?project=${encodeURIComponent(one.project)}">${brief(one.project, 80)}</a></span>`}${
    one.attempt && one.attempt > 1 ? html`<span>attempt <b>${one.attempt}</b></span>` : ''
  }${now ? html`<span>iteration <b>${now.iteration}</b></span>` : ''}${one.tokens ? html`<span><b title="${num(one.tokens)}">${k(one.tokens)}</b> tokens${one.cached ? html`, ${percent(one.cached, one.input ?? 0)} from the cache` : ''}</span>` : ''}${
    tree.cost ? html`<span>cost <b>${money(tree.cost)}</b>${tree.items > 1 ? ' with its children' : ''}</span>` : ''
  }${one.is_pausing ? html`<span class="warn">pauses after its current iteration</span>` : ''}</p>
${view.formToken === null ? html`<p class="actions"><a class="btn" href="/work/${one.id}/export">Export</a></p>` : actions(view, one)}</div>
${times ? timesLine(times) : ''}
${one.erased_at ? html`<p class="meta"><span class="warn">Erased ${at(one.erased_at)}</span> <span>Its text was permanently erased; only the record of it remains.</span></p>` : ''}
${typeof outcome === 'string' && outcome !== '' ? html`<p class="outcome" dir="auto">${brief(outcome, 600)}</p>` : ''}`;
}

/** When it was submitted, began and ended, what took how long, and the time zone of the page. */
function timesLine(one: WorkTimes): Html {
  const took = (label: string, seconds: number | null): Html | string =>
    seconds !== null && seconds >= 1 ? html`<span>${label} <b>${lasting(seconds)}</b></span>` : '';
  return html`<p class="meta small"><span>submitted ${exactTime(one.submitted_at)}</span>${one.began_at ? html`<span>began ${exactTime(one.began_at)}</span>` : ''}${one.ended_at ? html`<span>ended ${exactTime(one.ended_at)}</span>` : ''}${
    one.ended_at && one.seconds !== null ? html`<span>took <b>${lasting(one.seconds)}</b></span>` : ''
  }${took('queued', one.queued_seconds)}${took('model', one.model_seconds)}${took('tools', one.tool_seconds)}${took('waited', one.waited_seconds)}${took('waited for people', one.asked_seconds)}${zone}</p>`;
}

/** What a person can do: one action is open at a time, and says what it will do before it does it. */
function actions(view: View, one: Item): Html {
  const to = (action: string): string => `/work/${one.id}/${action}`;
  const line = (label: Html | string, name: string, body: Html, kind = ''): Html =>
    html`<details class="act" name="act" data-action="${name}"${view.refused?.action === to(name) ? html` open` : ''}><summary class="btn ${kind}">${label}</summary>${form(view, to(name), body)}</details>`;
  const button = (label: string, name: string, key = '', action = name): Html =>
    html`<div class="act" data-action="${name}">${form(view, to(action), html`<button class="btn">${label}${key ? html` <kbd class="hide-s">${key}</kbd>` : ''}</button>`)}</div>`;
  const isOver = isFinal(one.state);
  const isDriven = one.session_label !== null && !isOver && one.state !== 'created';
  const isRetried = one.state === 'failed' || one.state === 'dead' || one.state === 'cancelled';
  return html`<div class="actions">${isRetried ? line('Try again…', 'retry', html`<p class="says">Creates a new work item that continues where this one ended, with the same task. This one is not changed.</p><textarea class="field" name="content" rows="2" aria-label="First message" placeholder="First message, optional"></textarea><div class="row"><button class="btn primary">Try again</button></div>`, 'primary') : ''}${isOver ? '' : line(html`Say something <kbd class="hide-s">m</kbd>`, 'message', html`<textarea class="field" name="content" rows="2" required aria-label="What you say" placeholder="Delivered with its next request"></textarea><div class="row"><button class="btn primary">Say it</button></div>`, 'primary')}${
    isOver
      ? ''
      : line(
          'Interrupt',
          'interrupt',
          html`<p class="says">Aborts the current model call or tools and delivers this now.</p><textarea class="field" name="content" rows="2" required aria-label="What you say"></textarea><div class="row"><button class="btn primary">Interrupt</button></div>`,
        )
  }${
    isOver
      ? ''
      : one.state === 'paused'
        ? button('Resume', 'resume', 'p', resumption(one) ?? undefined)
        : line(
            html`Pause <kbd class="hide-s">p</kbd>`,
            'pause',
            html`<p class="says">Stops after the current iteration, and occupies no worker until it is resumed.</p><div class="row wrap"><input class="field grow" name="reason" aria-label="Reason" placeholder="Reason, shown to anyone who resumes it"><button class="btn primary">Pause</button></div>`,
          )
  }${button('Checkpoint', 'checkpoint')}<details class="act more"><summary class="btn">More</summary><div class="actions">${line(
    'Feedback…',
    'feedback',
    html`<p class="says">Noted in the journal; the agent is not told.</p><textarea class="field" name="message" rows="2" required aria-label="Feedback"></textarea><div class="row"><button class="btn primary">Note it</button></div>`,
  )}${
    isDriven
      ? line(
          'Compact…',
          'compact',
          html`<p class="says">With its next request, the ledger replaces old turns. With instructions, a model writes a summary.</p><div class="row wrap"><input class="field grow" name="instructions" aria-label="Instructions" placeholder="What the summary must keep"><button class="btn primary">Compact</button></div>`,
        )
      : ''
  }${
    isOver
      ? ''
      : line(
          'Complete…',
          'complete',
          html`<p class="says">Completes it by hand; no worker may be running it.</p><textarea class="field" name="summary" rows="2" required aria-label="Summary" placeholder="What was done"></textarea><div class="row"><button class="btn primary">Complete</button></div>`,
        )
  }<a class="btn" href="/work/${one.id}/export">Export</a><a class="btn" href="/sessions?packet=${one.id}">Packet</a>${
    isOver
      ? ''
      : line(
          'Cancel…',
          'cancel',
          html`<p class="says bad">Cancels this work item${one.open_below > 0 ? ` and ${one.open_below === 1 ? 'the child below it that is not over' : `the ${one.open_below} below it that are not over`}` : ''}. That is final.</p><div class="row wrap"><input class="field grow" name="reason" aria-label="Reason" placeholder="Reason"><button class="btn danger">Cancel it${one.open_below > 0 ? ` and ${count(one.open_below, 'child', 'children')}` : ''}</button></div>`,
          'danger',
        )
  }</div></details></div>`;
}

export async function approvals(view: View): Promise<Html> {
  const asked = await view.db.console.approvals(view.id, { longest: MOST_IN_A_LIST });
  return approvalList(asked.map((one) => approvalPanel(view, one)));
}

export async function turns(view: View): Promise<Html> {
  const around = view.query.get('around');
  const [nodes, now, others, failed] = await Promise.all([
    view.db.console.turnTree(view.id, around, 60),
    view.db.console.underWayOf(view.id),
    view.db.console.attemptsWithoutTurn(view.id),
    view.db.console.failedRequests(view.id),
  ]);
  const lines = html`<ul class="rows">${others.map((one) => html`<li class="line"><span>attempt ${one.attempt}</span><span class="faint small">${at(one.created_at)}</span><span class="quiet" dir="auto">${one.outcome === null ? 'no answer of a model yet' : `${one.outcome} without an answer of a model`}${one.error ? `: ${brief(one.error, 240)}` : ''}</span></li>`)}</ul>`;
  if (nodes.length === 0) return panel('Turns', null, others.length === 0 ? empty('No model call yet.') : lines);
  const picture = drawTurns(
    nodes,
    now !== null,
    (turn) => `/turn/${turn}`,
    (id) => `/work/${id}`,
    failed.slice(0, 8),
  );
  return panel(
    'Turns',
    'dots are model calls; filled violet: a step closed a block',
    html`<div class="body wide" id="turns" data-roving tabindex="-1">${picture}</div>${others.length === 0 ? '' : lines}`,
  );
}

const units: Record<string, (v: number) => string> = { tokens: k, money, seconds: (v) => `${Math.round(v)} s` };

export async function budget(view: View): Promise<Html> {
  const [own, daily] = await Promise.all([view.db.console.budgets(view.id), view.db.console.dailyBudgets(view.id)]);
  const lines = (budgets: readonly Html[]): Html => html`<div class="body stack gap-s">${budgets}</div>`;
  return html`${own.length === 0 ? '' : panel('Budget', 'with its children', lines(own.map((one) => budgetLine(one.resource, one))))}${
    daily.length === 0 ? '' : panel('Budgets by day', 'until midnight UTC', lines(daily.map((one) => budgetLine(dailyLabel(one), one))))
  }`;
}

export const dailyLabel = ({ resource, scope, name }: { resource: string; scope: string; name: string }): Html =>
  html`${resource} of ${scope} <span class="strong wrapped" dir="auto">${name}</span>`;

/** What is used and reserved of a budget, as text and as a bar. */
export function budgetLine(
  label: string | Html,
  { resource, amount, spent, reserved }: { resource: string; amount: number | null; spent: number | null; reserved: number | null },
): Html {
  const unit = units[resource] ?? ((v: number) => num(v));
  const [whole, used, held] = [amount ?? 0, spent ?? 0, reserved ?? 0];
  return html`<div><div class="row spread"><span>${label}</span><span class="num small"><b class="strong">${unit(used)}</b> <span class="quiet">of ${unit(whole)}${held > 0 ? `, ${unit(held)} held` : ''}</span></span></div>${bar(used / Math.max(whole, 1e-9), held / Math.max(whole, 1e-9))}</div>`;
}

/** The claims it holds, with a way to release them. */
export async function claims(view: View): Promise<Html> {
  const held = await view.db.console.claims(view.id);
  if (held.length === 0) return html``;
  const path = `/work/${view.id}/release`;
  // Shown once: any of the forms may have been sent.
  const refused = view.refused?.action === path ? html`<p class="refused bad pad" role="alert">${view.refused.says}</p>` : '';
  const quiet = { ...view, refused: null };
  const row = (one: (typeof held)[number]): Html =>
    html`<li class="line" data-key="${one.key}"><span class="mono wrapped" dir="auto">${brief(one.key, 300)}</span><span class="small faint">${one.mode}</span><span class="quiet">${one.is_binding ? '' : html`<span class="warn">binds nobody</span> · `}since ${at(one.claimed_at)}${one.changed_at === null ? '' : html` · changed ${at(one.changed_at)}`} · until ${at(one.ends_at)}</span>${one.why === null ? '' : html`<span class="quiet wrapped" dir="auto">${brief(one.why, 300)}</span>`}${
      view.formToken === null
        ? ''
        : html`<details class="act" data-action="release"><summary class="chip">Take away…</summary>${form(
            quiet,
            path,
            html`<input type="hidden" name="claim" value="${encodeURIComponent(one.key)}"><p class="says">Others may then change it. Its agent is told, and the journal records it. If the agent changes it again, it claims it again, unless someone else has claimed it by then.</p><div class="row wrap"><input class="field grow" name="reason" aria-label="Reason" placeholder="Reason, told to its agent"><button class="btn danger">Take it away</button></div>`,
          )}</details>`
    }</li>`;
  return panel('Claims', 'what it holds for itself', html`${refused}<ul class="rows">${held.map(row)}</ul>`);
}

export async function ledger(view: View): Promise<Html> {
  const entries = await view.db.console.ledgerPage(view.id, null, 12);
  if (entries.length === 0) return panel('Ledger', null, empty('Nothing has been recorded yet.'));
  return html`<section class="panel" id="ledger" aria-label="Ledger"><header><h2>Ledger</h2><span class="quiet"><a href="/work/${view.id}/ledger">${count(entries[0]?.seq ?? 0, 'entry', 'entries')}</a></span></header><ol class="rows">${entries.map((entry) => ledgerEntry(entry))}</ol></section>`;
}

export type Entry = Awaited<ReturnType<View['db']['console']['ledgerPage']>>[number];

/** action: what can be done with it. */
export const ledgerEntry = (entry: Entry, action: Html = html``): Html =>
  html`<li class="led" data-key="${entry.id}" id="entry-${entry.seq}"><span class="seq">${entry.seq}</span><div dir="auto" class="wrapped"><span class="${entry.entry_type === 'error' ? 'bad' : entry.entry_type === 'step' ? 'accent' : ''} strong">${entry.entry_type}</span> ${entry.retracts === null ? '' : html`of <a href="#entry-${entry.retracts}">${entry.retracts}</a>: `}${entry.taken_back === null ? inLines(entry.content, 1200) : html`<s>${inLines(entry.content, 1200)}</s> <span class="warn">taken back: ${brief(entry.taken_back, 300)}</span>`}</div><span class="ev">${
    entry.is_inherited ? 'from before the fork' : entry.iteration === null ? exactTime(entry.created_at) : `call ${entry.iteration}`
  }${(entry.beside ?? []).length > 0 ? html` · beside ${(entry.beside ?? []).slice(0, 3).map((call, i) => html`${i > 0 ? ', ' : ''}<a href="/call/${call.id}">${call.tool} ${short(call.id).slice(-4)}</a>`)}` : ''}${entry.trust === null ? '' : ` · ${trustWords(entry.trust)}`}</span>${action}</li>`;

export async function children(view: View): Promise<Html> {
  const all = await view.db.console.children(view.id, 50);
  if (all.length === 0) return html``;
  const over = all.filter((one) => isFinal(one.state)).length;
  return panel(
    'Children',
    `${over} of ${all.length} over`,
    html`<ul class="rows">${all.map((one) => {
      const state = one.asks ? 'approval' : one.state;
      return html`<li class="line is-${shapeOf(state)}" data-key="${one.id}"><span class="state cut">${sign(state)}<span class="sr">${state}: </span><a class="cut" dir="auto" href="/work/${one.id}">${brief(one.description, 80)}</a></span><span class="num small faint">${cost(one.cost)}</span></li>`;
    })}</ul>`,
  );
}

async function told(view: View): Promise<Html> {
  const [shown, inbox] = await Promise.all([view.db.console.told(view.id, 8), view.db.console.inbox(view.id, 5)]);
  if (shown.length + inbox.length === 0) return html``;
  return panel(
    'What it was told',
    'by whom, and when',
    html`<ul class="rows">${inbox.map((one) => html`<li class="line"><span dir="auto">“${brief(one.content, 140)}”</span><span class="faint small">${one.is_waiting ? 'next' : one.iteration === null ? at(one.created_at) : `call ${one.iteration}`}</span><span class="quiet">${one.source_id === null ? 'you' : html`agent of <a class="mono" href="/work/${one.source_id}">${short(one.source_id)}</a>`}${one.is_interrupt ? ', an interruption' : ''}${one.is_waiting ? ', waits for the next call' : ''}</span></li>`)}${shown.map(
      (one) =>
        html`<li class="line"><span dir="auto">${brief(one.content ?? '', 120)}</span><span class="faint small">${one.iteration === null ? at(one.shown_at ?? '') : `call ${one.iteration}`}</span><span class="quiet">${one.kind}${one.source_id ? html` of <a class="mono" href="/work/${one.source_id}">${short(one.source_id)}</a>` : ''}</span></li>`,
    )}</ul>`,
  );
}
