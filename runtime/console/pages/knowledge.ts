// Knowledge: full-text search over ledger and journal, findings and decisions of all items, the digest as an item sees it, and who was told
// what.

import type { Filter } from '../../ledger/consoleKnowledge.ts';
import { entryTypes } from '../../ledger/entryTypes.ts';
import { brief, count, short } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { projectSwitch } from '../projects.ts';
import { at } from '../work.ts';
import { address } from './journal.ts';

const PAGE = 20;
const SEARCH_MS = 5000;
const sources = [
  ['ledger', 'ledger'],
  ['journal', 'journal'],
  ['message', 'people'],
  ['work', 'tasks'],
  ['outcome', 'outcomes'],
] as const;
const times = [
  ['1h', 'in the last hour', 1],
  ['1d', 'in the last day', 24],
  ['7d', 'in the last week', 7 * 24],
  ['30d', 'in the last month', 30 * 24],
] as const;

export const knowledge: Page = {
  pattern: /^\/knowledge$/,
  section: 'knowledge',
  parts: { results, digest, told },
  inputs: { results: [newest], digest: ['written', 'underWay', 'queue', 'every 30 s'], told: ['written', 'underWay'] },
  async whole(view, part) {
    const { query } = view;
    const [found, seen, who, faculties] = await Promise.all([
      part('results'),
      part('digest'),
      part('told'),
      view.db.console.faculties(view.project),
    ]);
    const [q, source, kind] = ['q', 'source', 'kind'].map((name) => query.get(name) ?? '');
    const chip = (label: string, changes: Record<string, string>, isOn: boolean): Html =>
      html`<a class="chip" href="${address(view, { before: '', ...changes })}"${isOn ? html` aria-current="true"` : ''}>${label}</a>`;
    const chips =
      q === ''
        ? entryTypes.map((one) => chip(`${one}s`, { kind: one }, (kind || 'finding') === one))
        : [chip('all', { source: '' }, source === ''), ...sources.map(([one, label]) => chip(label, { source: one }, source === one))];
    const choice = (name: string, label: string, none: string, values: readonly (readonly [value: string, label: string])[]): Html =>
      html`<select class="field narrow" name="${name}" data-submit aria-label="${label}"><option value="">${none}</option>${values.map(([value, words]) => html`<option value="${value}"${query.get(name) === value ? html` selected` : ''}>${words}</option>`)}</select>`;
    const hidden = ['as', 'kind', 'source'].map((name) =>
      query.get(name) ? html`<input type="hidden" name="${name}" value="${query.get(name)}">` : '',
    );
    return {
      title: 'Knowledge',
      body: html`<header class="head"><h1>Knowledge</h1>${await projectSwitch(view)}</header>
<form class="stack gap-s" role="search" method="get"><input class="field search" type="search" name="q" value="${q ?? ''}" placeholder="Search ledgers and journals" aria-label="Search ledgers and journals">${hidden}<div class="row wrap spread"><div class="chips">${chips}</div><div class="row small quiet">${choice(
        'faculty',
        'Of which faculty',
        'any faculty',
        faculties.map(({ name }) => [name, name]),
      )}${choice(
        'since',
        'Since when',
        'at any time',
        times.map(([value, label]) => [value, label]),
      )}<button class="btn small" data-noscript>Filter</button></div></div></form>
<div class="cols even">${found ?? ''}<div class="stack">${seen ?? ''}${who ?? ''}</div></div>`,
    };
  },
};

function filterOf({ query, project }: View): Filter {
  const hours = times.find(([value]) => value === query.get('since'))?.[2];
  return {
    project,
    faculty: query.get('faculty') || null,
    since: hours === undefined ? null : new Date(Date.now() - hours * 3_600_000).toISOString(),
  };
}

const looked = new WeakMap<View, { at: number; newest: string }>();

/** A version of what was written last; with a query, only of what it finds, searched every few seconds at most. */
async function newest(view: View): Promise<string> {
  const q = (view.query.get('q') ?? '').trim();
  if (q === '') return (await view.db.console.ledgerInputs()).written ?? '';
  const before = looked.get(view);
  if (before && performance.now() - before.at < SEARCH_MS) return before.newest;
  const now = { at: performance.now(), newest: await view.db.console.newestHit(q) };
  looked.set(view, now);
  return now.newest;
}

/** A snippet with its matches marked, which are enclosed in U+0002 and U+0003. */
const marked = (snippet: string): Html =>
  html`${snippet.split('\u0002').map((piece, i) => {
    if (i === 0) return piece;
    const [hit = '', rest = ''] = piece.split('\u0003');
    return html`<mark>${hit}</mark>${rest}`;
  })}`;

async function results(view: View): Promise<Html> {
  const q = (view.query.get('q') ?? '').trim();
  if (q === '') return lately(view);
  const source = view.query.get('source');
  const hits = await view.db.ledgerSearch(q, {
    ...filterOf(view),
    before: view.query.get('before'),
    limit: PAGE,
    sources: source ? [source] : null,
  });
  if (hits.length === 0)
    return panel(
      'No results',
      null,
      empty(html`No matches. Words match by prefix; you can use <code>"a phrase"</code>, <code>or</code> and <code>-not</code>.`),
    );
  const last = hits.at(-1);
  return panel(
    hits.length === PAGE ? 'Results' : count(hits.length, 'result'),
    'best first',
    html`<ol class="rows list" data-list>${hits.map((one) => html`<li class="hit" data-key="${one.position}"><div class="small quiet"><span class="strong${one.entry_type === 'error' ? ' bad' : ''}">${one.entry_type ?? one.source}</span>${one.entry_type ? ` · ${one.source}` : ''} · <a dir="auto" href="${one.work_item_id ? `/work/${one.work_item_id}${one.seq === null ? '' : `/ledger?before=${one.seq + 1}#entry-${one.seq}`}` : '#'}">${brief(one.description ?? '', 60)}</a>${one.created_at ? html` · ${at(one.created_at)}` : ''}</div><p dir="auto">${marked(one.snippet)}</p>${one.seq === null ? '' : html`<div class="small faint">entry ${one.seq}</div>`}</li>`)}</ol>${hits.length === PAGE && last ? html`<p class="newer"><a href="${address(view, { before: last.position })}" data-more>more</a></p>` : ''}`,
  );
}

/** Without a query: the latest findings, decisions or errors. */
async function lately(view: View): Promise<Html> {
  const kind = entryTypes.find((one) => one === view.query.get('kind')) ?? 'finding';
  const before = view.query.get('before');
  const entries = await view.db.console.findings(kind, before && !Number.isNaN(Date.parse(before)) ? before : null, PAGE, filterOf(view));
  if (entries.length === 0)
    return panel(
      `Latest ${kind}s`,
      null,
      empty(`Nobody has recorded a ${kind}${view.query.get('faculty') || view.query.get('since') ? ' like that' : ''}.`),
    );
  const last = entries.at(-1);
  return panel(
    `Latest ${kind}s`,
    view.project === null ? 'of all work, newest first' : 'newest first',
    html`<ol class="rows list" data-list>${entries.map((one) => html`<li class="hit" data-key="${one.id}"><div class="small quiet"><a dir="auto" href="/work/${one.work_item_id}/ledger?before=${one.seq + 1}#entry-${one.seq}">${brief(one.description, 70)}</a> · ${at(one.created_at)}</div><p dir="auto">${brief(one.content, 600)}</p></li>`)}</ol>${entries.length === PAGE && last ? html`<p class="newer"><a href="${address(view, { before: last.created_at })}" data-more>older ones</a></p>` : ''}`,
  );
}

async function digest(view: View): Promise<Html> {
  const wanted = view.query.get('as');
  const reader = wanted !== null && new RegExp(`^${uuid}$`).test(wanted) ? wanted : null;
  const [text, readers] = await Promise.all([
    view.db.awarenessDigest(reader, reader === null ? view.project : null),
    view.db.console.readers(view.project, 30),
  ]);
  const options = readers.map(
    (one) => html`<option value="${one.id}"${one.id === reader ? html` selected` : ''}>${brief(one.description, 48)}</option>`,
  );
  const other =
    reader !== null && !readers.some((one) => one.id === reader) ? html`<option value="${reader}" selected>${short(reader)}</option>` : '';
  return html`<section class="panel" aria-label="The digest"><header><h2>The digest</h2><form method="get" class="row small quiet"><label class="row">as seen by <select class="field narrow" name="as" data-submit aria-label="Seen by"><option value="">somebody new</option>${other}${options}</select></label>${['q', 'kind', 'source', 'faculty', 'since'].map((name) => (view.query.get(name) ? html`<input type="hidden" name="${name}" value="${view.query.get(name)}">` : ''))}<button class="btn small" data-noscript>Show</button></form></header><div class="body"><pre class="fence" dir="auto" tabindex="0">${text.split('\n').map((line) => (/^(?:== .* ==|[A-Z][\w ]+:)$/.test(line) ? html`<b>${line}</b>\n` : `${line}\n`))}</pre></div></section>`;
}

async function told(view: View): Promise<Html> {
  const findings = await view.db.console.toldOfFindings(view.project, 12);
  if (findings.length === 0) return panel('Who was told what', null, empty("No agent has been told another agent's finding yet."));
  return panel(
    'Who was told what',
    'findings, with their readers',
    html`<ol class="rows">${findings.map((one) => html`<li class="led told" data-key="${one.work_item_id}-${one.seq}"><span></span><div dir="auto"><a href="/work/${one.work_item_id}">${brief(one.content, 160)}</a></div><span class="ev">${one.readers.slice(0, 6).map((reader) => html`<a class="chip" href="/work/${reader.id}">${reader.iteration === null ? `session ${short(reader.id)}` : `${reader.faculty} at call ${reader.iteration}`}</a> `)}${one.readers.length > 6 ? `and ${one.readers.length - 6} more` : ''}</span></li>`)}</ol>`,
  );
}
