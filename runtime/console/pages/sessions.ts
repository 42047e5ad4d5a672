// Sessions: which can be resumed, and what they would be told; turns worth returning to; recorded sessions of other agents; two branches
// side by side.

import type { ResumptionContext } from '../../ledger/answers.ts';
import { brief, count, k, num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { projectSwitch } from '../projects.ts';
import { at, colhead, resumption, workRow } from '../work.ts';
import { forkLine } from './itemViews.ts';
import { address } from './journal.ts';

const isId = new RegExp(`^${uuid}$`);
const sizes = [1000, 2000, 4000, 8000];

export const sessions: Page = {
  pattern: /^\/sessions$/,
  section: 'sessions',
  parts: { resumable, points, imported, packet },
  inputs: {
    resumable: ['underWay', 'over', 'newest', 'every 30 s'],
    points: ['item', 'turn', 'forks', 'underWay'],
    imported: ['newest'],
    packet: ['item', 'turn', 'calls', 'journal', 'underWay'],
  },
  itemOf: async ({ query }) => (isId.test(query.get('packet') ?? '') ? query.get('packet') : null),
  async whole(view, part) {
    const [left, ways, recorded, told] = await Promise.all(['resumable', 'points', 'imported', 'packet'].map(part));
    return {
      title: 'Sessions',
      body: html`<header class="head"><div class="row spread wrap"><h1>Sessions</h1><div class="actions"><a class="btn" href="#import">Imported</a></div></div>${await projectSwitch(view)}</header>
<div class="cols even"><div class="stack">${left ?? ''}${ways ?? ''}${recorded ?? ''}</div><div class="stack">${told ?? ''}</div></div>`,
    };
  },
};

/** The session whose packet is shown: the one in the address, else the newest that can be resumed. */
async function chosen(view: View): Promise<string | null> {
  const wanted = view.query.get('packet');
  if (wanted !== null && isId.test(wanted)) return wanted;
  return (await view.db.console.sessions(view.project, 30))[0]?.id ?? null;
}

async function resumable(view: View): Promise<Html> {
  const [all, current] = await Promise.all([view.db.console.sessions(view.project, 30), chosen(view)]);
  if (all.length === 0) return panel('Can go on', null, empty('Nothing is paused, crashed or failed.'));
  return panel(
    'Can go on',
    'newest first',
    html`<ul class="rows list" data-list>${colhead('Since')}${all.map((one) => {
      const state = one.status === 'crashed' ? 'crashed' : one.state === 'created' ? 'waiting' : one.state;
      const isBad = ['crashed', 'failed', 'dead'].includes(state);
      return workRow({
        id: one.id,
        state,
        description: one.description,
        who: one.faculty ?? one.work_type,
        tokens: one.tokens,
        cost: null,
        when: at(one.created_at),
        isCurrent: one.id === current,
        href: address(view, { packet: one.id }),
        now: html`<span class="cut" dir="auto"><span class="kind${isBad ? ' bad' : ''}">${state === 'waiting' ? one.status : state}</span>${one.turns ? ` · ${count(one.turns, 'turn')}` : ''}${one.state_reason ? ` · ${brief(one.state_reason, 160)}` : state === 'crashed' ? ' · nobody renews its lease; another worker takes it with the next sweep' : ''}</span>`,
      });
    })}</ul>`,
  );
}

const sections: [keyof ResumptionContext, string][] = [
  ['originalPrompt', 'The task'],
  ['currentState', 'Where it stands'],
  ['workSummary', 'Done'],
  ['keyDecisions', 'Decided'],
  ['filesModified', 'Files written'],
  ['pendingActions', 'Open'],
  ['errorHistory', 'Errors met'],
  ['suggestedNextSteps', 'Next'],
];

async function packet(view: View): Promise<Html> {
  const id = await chosen(view);
  if (id === null) return html``;
  const item = await view.db.workItem(id);
  if (!item) return panel('What it would be told', null, empty('There is no such session.'));
  const most = sizes.find((size) => String(size) === view.query.get('tokens')) ?? 2000;
  const told = await view.db.journal.resumptionContext(id, most);
  const text = (value: string | number | string[]): Html =>
    Array.isArray(value)
      ? html`<ul class="dots">${value.map((one) => html`<li dir="auto">${brief(one, 800)}</li>`)}</ul>`
      : html`<div class="wrapped" dir="auto">${String(value)
          .split('\n')
          .map((line) => html`<p>${line}</p>`)}</div>`;
  const action = resumption(item);
  const here = action === null ? '' : form(view, `/work/${id}/${action}`, html`<button class="btn primary">Resume here</button>`);
  return html`<section class="panel" aria-label="What it would be told"><header><h2>What it would be told</h2><span class="quiet">${num(told.tokenCount)} of ${num(most)} tokens</span></header><div class="body">${sections.filter(([key]) => told[key].toString() !== '').map(([key, title]) => html`<div class="pk"><h3 class="quiet">${title}</h3>${text(told[key])}</div>`)}</div>
<div class="foot-actions">${here}${view.formToken === null ? '' : html`<details class="act" data-action="elsewhere"><summary class="btn">In another conversation…</summary>${form(view, `/work/${id}/elsewhere`, html`<p class="says">Makes a session of another conversation whose prompt is this packet.</p><div class="row wrap"><input class="field grow" name="conversation" required aria-label="Conversation" placeholder="The conversation's name"><input type="hidden" name="tokens" value="${most}"><button class="btn primary">Resume there</button></div>`)}</details>`}<form method="get" class="row small quiet"><input type="hidden" name="packet" value="${id}"><label class="row">at most <select class="field narrow" name="tokens" data-submit aria-label="Tokens at most">${sizes.map((size) => html`<option value="${size}"${size === most ? html` selected` : ''}>${num(size)}</option>`)}</select></label><button class="btn small" data-noscript>Show</button></form><a class="small accent" href="/work/${id}">the work item</a></div></section>`;
}

async function points(view: View): Promise<Html> {
  const id = await chosen(view);
  if (id === null) return html``;
  const [worth, forks] = await Promise.all([view.db.console.forkPoints(id, 6), view.db.console.forks(id)]);
  if (worth.length + forks.length === 0) return html``;
  return panel(
    'Go another way',
    'turns worth going back to',
    html`<ul class="rows">${worth.map((one) => html`<li class="line" data-key="${one.turn_id}"><span class="cut strong">${one.reason}</span>${view.formToken === null ? html`<a class="small accent" href="/turn/${one.turn_id}">look</a>` : forkLine(view, one.turn_id, 'Fork')}<span class="quiet" dir="auto">turn ${one.depth + 1} · ${k(one.context_tokens ?? 0)} tokens of context · ${brief(one.entry, 140)}</span></li>`)}${forks.map(
      (one) =>
        html`<li class="line" data-key="${one.id}"><a class="cut" dir="auto" href="/work/${one.id}">fork: ${brief(one.said ?? one.description, 80)}</a><a class="small accent" href="/sessions/compare?a=${encodeURIComponent(one.own_session)}&amp;b=${encodeURIComponent(one.session)}">compare</a><span class="quiet">from turn ${one.depth + 1} · ${one.state}</span></li>`,
    )}</ul>`,
  );
}

async function imported(view: View): Promise<Html> {
  const before = view.query.get('imported');
  const all = await view.db.console.imported(view.project, before !== null && isId.test(before) ? before : null, 20);
  const last = all.at(-1);
  const drop =
    view.formToken === null
      ? ''
      : html`<div class="import">${form(view, '/import', html`<label class="drop" data-drop><input class="sr" type="file" name="file" multiple required><span><span class="strong">Drop a recorded session here</span>, or choose files. It is stored in this ledger and shown as a timeline.</span></label><div class="row pad"><button class="btn primary" data-noscript>Import</button><span class="small quiet" data-chosen></span></div>`, { hasFiles: true })}</div>`;
  return html`<section class="panel" id="import" aria-label="Imported"><header><h2>Imported</h2><span class="quiet">Claude Code, Codex, Copilot, Cursor and others</span></header><div class="rows">${drop}${all.length === 0 ? empty(html`Nothing has been imported. <code>work-ledger import FILE…</code>`) : html`<div class="body wide pad" tabindex="0"><table><thead><tr><th>Session</th><th class="hide-s">Model</th><th class="n">Calls</th><th class="n">Tokens</th><th><span class="sr">Timeline</span></th></tr></thead><tbody>${all.map((one) => html`<tr data-key="${one.id}"><td><a dir="auto" href="/work/${one.id}">${brief(one.description.replaceAll(/<[^>]*>/g, ' '), 48)}</a></td><td class="quiet hide-s nowrap">${one.model}</td><td class="n">${num(one.turns ?? 0)}</td><td class="n">${one.tokens ? k(one.tokens) : '–'}</td><td class="n"><a class="accent" href="/work/${one.id}/context">timeline</a></td></tr>`)}</tbody></table></div>${all.length === 20 && last ? html`<p class="newer"><a href="${address(view, { imported: last.id })}">older ones</a></p>` : ''}`}</div></section>`;
}
