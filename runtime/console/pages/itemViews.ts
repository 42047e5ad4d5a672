// The parts of an item at full width: its ledger, its turns, what it cost.

import { money } from '../../money.ts';
import { sign } from '../draw.ts';
import { brief, k, num, percent } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { at } from '../work.ts';
import { budget, budgetInputs, head, headInputs, itemFrame, ledgerEntry, turns } from './item.ts';
import type { Entry } from './item.ts';
import { exactTime } from '../times.ts';
import { address } from './journal.ts';

const PAGE = 60;
const pattern = (tab: string): RegExp => new RegExp(`^/work/(?<id>${uuid})/${tab}$`);

export const ledgerView: Page = {
  pattern: pattern('ledger'),
  section: 'work',
  parts: { head, ledger: wholeLedger },
  inputs: { head: headInputs, ledger: ['item'] },
  whole: async (view, part) => itemFrame(view, '/ledger', part, await part('ledger')),
  watches: async (view) => [view.id],
};

async function wholeLedger(view: View): Promise<Html> {
  const before = Number(view.query.get('before')) || null;
  const entries = await view.db.console.ledgerPage(view.id, before, PAGE);
  if (entries.length === 0) return panel('Ledger', null, empty('Nothing has been recorded yet.'));
  const last = entries.at(-1);
  return panel(
    'Ledger',
    'newest first',
    html`<ol class="rows list" data-list>${entries.map((entry) => ledgerEntry(entry, retraction(view, entry)))}</ol>${last && last.seq > 1 ? html`<p class="newer"><a href="${address(view, { before: String(last.seq) })}" data-more>older entries</a></p>` : ''}`,
  );
}

const retraction = (view: View, entry: Entry): Html =>
  entry.retracts !== null || entry.taken_back !== null || view.formToken === null
    ? html``
    : html`<details class="act" name="act"><summary class="chip">Take back…</summary>${form(
        view,
        `/work/${entry.work_item_id}/retract`,
        html`<input type="hidden" name="seq" value="${entry.seq}"><p class="says">It stays in the log. Agents no longer see it, and those that were told of it are informed.</p><div class="row wrap"><input class="field grow" name="reason" required aria-label="Reason" placeholder="Why it is wrong"><button class="btn danger">Take it back</button></div>`,
      )}</details>`;

export const turnsView: Page = {
  pattern: pattern('turns'),
  section: 'work',
  parts: { head, turns, list: turnList },
  inputs: { head: headInputs, turns: ['item', 'focus', 'turn', 'calls', 'forks'], list: ['turn', 'calls'] },
  async whole(view, part) {
    const [tree, list] = await Promise.all([part('turns'), part('list')]);
    return itemFrame(view, '/turns', part, html`${tree}${list}`);
  },
  watches: async (view) => [view.id],
};

async function turnList(view: View): Promise<Html> {
  const all = await view.db.console.turnsPage(view.id, view.query.get('before'), PAGE);
  if (all.length === 0) return panel('Model calls', null, empty('No model call yet.'));
  const row = (
    one: (typeof all)[number],
  ): Html => html`<li class="fold" data-key="${one.id}"><details><summary class="entry turn${one.status === 'failed' ? ' is-error' : ''}" data-row="turn" data-turn="${one.id}">${exactTime(one.started_at)}<span class="t">${one.turn_type === 'compaction' ? 'compaction' : `call ${one.iteration ?? ''}`}</span><span class="x" dir="auto">${one.error ? html`<span class="bad">${one.error}</span> ` : ''}${one.said ? `${brief(one.said, 160)} ` : ''}${(one.calls ?? []).map((call) => html`<span class="mono${['failed', 'uncertain'].includes(call.status) ? ' bad' : ''}">${call.tool}</span> `)}</span><span class="tok" title="tokens of the request">${one.input ? k(one.input) : ''}</span></summary>
<div class="opened"><dl class="kv left"><dt>attempt</dt><dd>${one.attempt}</dd><dt>model</dt><dd>${one.model}</dd><dt>request</dt><dd>${num(one.input ?? 0)} tokens, ${percent(one.cached ?? 0, one.input ?? 0)} from the cache</dd><dt>answer</dt><dd>${num(one.output ?? 0)} tokens${one.stop_reason ? ` · ${one.stop_reason}` : ''}${one.duration_ms ? ` · ${(one.duration_ms / 1000).toFixed(1)} s` : ''}</dd>${one.cost ? html`<dt>cost</dt><dd>${money(one.cost)}</dd>` : ''}</dl>
<div class="actions"><a class="btn" href="/turn/${one.id}">The request, part by part</a>${one.status === 'completed' && one.turn_type === 'normal' && view.formToken !== null ? forkLine(view, one.id) : ''}</div></div></details></li>`;
  const last = all.at(-1);
  return panel(
    'Model calls',
    'newest first',
    html`<ol class="list" data-list>${all.map(row)}</ol>${all.length === PAGE && last ? html`<p class="newer"><a href="${address(view, { before: last.id })}" data-more>older calls</a></p>` : ''}`,
  );
}

/** Lets an agent continue from a turn, on a new branch. */
export const forkLine = (view: View, turnId: string, label = 'Fork from here'): Html =>
  html`<details class="act" name="fork" data-action="fork"><summary class="btn">${label}</summary>${form(view, `/turn/${turnId}/fork`, html`<p class="says">Creates a new work item that continues from here, with the same task and the ledger as it was. This one is not changed.</p><div class="row wrap"><input class="field grow" name="message" aria-label="First message" placeholder="First message"><button class="btn primary">Fork</button></div>`)}</details>`;

export const costView: Page = {
  pattern: pattern('cost'),
  section: 'work',
  parts: { head, budget, use, cuts, compactions },
  inputs: { head: headInputs, budget: budgetInputs, use: ['turn', 'below'], cuts: ['turn'], compactions: ['turn'] },
  async whole(view, part) {
    const [left, spent, cut, made] = await Promise.all(['budget', 'use', 'cuts', 'compactions'].map(part));
    return itemFrame(
      view,
      '/cost',
      part,
      html`<div class="cols"><div class="stack">${spent ?? ''}${cut ?? ''}${made ?? ''}</div><div class="stack">${left ?? ''}</div></div>`,
    );
  },
};

async function use(view: View): Promise<Html> {
  const [days, tree] = await Promise.all([view.db.console.costByDay(view.id), view.db.console.treeCost(view.id)]);
  if (days.length === 0) return panel('Use', null, empty('No model call yet.'));
  const row = (one: (typeof days)[number]): Html =>
    html`<tr data-day="${one.day}" data-model="${one.model}" data-cost="${one.cost}" data-latency="${one.latency_ms}"><td class="nowrap">${one.day}</td><td class="nowrap">${one.model}</td><td class="n">${num(one.calls ?? 0)}</td><td class="n">${num(one.tokens ?? 0)}</td><td class="n">${percent(one.cached ?? 0, one.tokens ?? 0)}</td><td class="n">${num(one.output ?? 0)}</td><td class="n">${one.latency_ms === null ? '–' : `${(one.latency_ms / 1000).toFixed(1)} s`}</td><td class="n">${one.cost ? money(one.cost) : '–'}</td></tr>`;
  return panel(
    'Use',
    tree.items > 1
      ? `with its children: ${k(tree.tokens ?? 0)} tokens${tree.cost ? `, cost ${money(tree.cost)}` : ''}`
      : 'a row for each day and model',
    html`<div class="plots" data-plots hidden><figure><figcaption class="small quiet">Cost a day</figcaption><div data-plot="cost" data-unit=""></div></figure><figure><figcaption class="small quiet">Seconds per call, median of each day</figcaption><div data-plot="latency" data-unit="s"></div></figure></div><div class="body wide" tabindex="0"><table data-days><thead><tr><th>Day</th><th>Model</th><th class="n">Calls</th><th class="n">Input</th><th class="n">From the cache</th><th class="n">Output</th><th class="n">A call</th><th class="n">Cost</th></tr></thead><tbody>${days.map(row)}</tbody></table></div>`,
  );
}

async function cuts(view: View): Promise<Html> {
  const all = await view.db.console.cuts(view.id);
  if (all.length === 0) return panel('Cuts', null, empty('Nothing has been cut.'));
  return panel(
    'Cuts',
    'what each left out, and when it pays',
    html`<div class="body wide" tabindex="0"><table><thead><tr><th>Call</th><th>Kind</th><th class="n">Left out</th><th class="n">Stands for it</th><th class="n">Pays after</th><th class="n">Requests since</th><th>So far</th></tr></thead><tbody>${all.map((one) => html`<tr><td>${one.iteration}${(one.attempt ?? 1) > 1 ? ` of attempt ${one.attempt}` : ''}</td><td class="nowrap">${one.cut}${one.blocks ? ` · blocks ${one.blocks}` : ''}</td><td class="n">${num(one.tokens_elided ?? 0)}</td><td class="n">${num(one.stub_tokens ?? 0)}</td><td class="n">${one.breaks_even_after === null ? 'never' : num(one.breaks_even_after)}</td><td class="n">${num(one.requests_since ?? 0)}</td><td>${one.breaks_even_after !== null && (one.requests_since ?? 0) >= one.breaks_even_after ? html`<span class="good">${sign('completed')} paid</span>` : html`<span class="quiet">not yet</span>`}</td></tr>`)}</tbody></table></div>`,
  );
}

async function compactions(view: View): Promise<Html> {
  const all = await view.db.console.costOfCompactions(view.id);
  if (all.length === 0) return html``;
  return panel(
    'Compactions',
    null,
    html`<div class="body wide" tabindex="0"><table><thead><tr><th>When</th><th>Kind</th><th>Why</th><th class="n">Before</th><th class="n">After</th><th class="n">To write it</th></tr></thead><tbody>${all.map((one) => html`<tr><td>${at(one.created_at)}</td><td>${one.compaction_type}${one.is_applied === false ? ', not used' : ''}</td><td>${one.trigger}</td><td class="n">${num(one.tokens_before ?? 0)}</td><td class="n">${one.tokens_after === null ? '–' : num(one.tokens_after)}</td><td class="n">${one.input === null ? '–' : num(one.input + (one.output ?? 0))}</td></tr>`)}</tbody></table></div>`,
  );
}
