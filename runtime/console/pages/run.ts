// A work item as the conversation that it was, oldest first: what it was told, what it said, each call with what came of it, and what happened
// to it on the way as rules across the page. A window of it at a time, around the address; what is marked in it stands beside it.

import type { RunBlock } from '../../ledger/consoleRun.ts';
import { money } from '../../money.ts';
import { called } from '../called.ts';
import { brief, k, lasting, num, percent, short, withShortIds } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { markdown } from '../markdown.ts';
import { empty, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { clockTime, exactTime } from '../times.ts';
import { counting } from '../work.ts';
import { approvals, budget, children, claims, head, headInputs, itemFrame } from './item.ts';
import { forkLine } from './itemViews.ts';
import { address } from './journal.ts';

/** Blocks of a window, and of those how many stand before the one that the address names. */
const WINDOW = 200;
const BEFORE = 60;
const HITS = 40;
/** What the reader jumps to: a key each. */
export const jumps = [
  ['error', 'e', 'error'],
  ['decision', 's', 'decision'],
  ['cut', 'c', 'cut'],
  ['person', 'h', 'person'],
] as const;

const runInputs = ['item', 'focus', 'turn', 'calls', 'approvals', 'inbox', 'journal', 'below'] as const;

export const run: Page = {
  pattern: new RegExp(`^/work/(?<id>${uuid})$`),
  section: 'work',
  parts: { head, approvals, run: told, marks, budget, claims, children },
  inputs: {
    head: headInputs,
    approvals: ['approvals', 'every 30 s'],
    run: runInputs,
    marks: runInputs,
    budget: ['budgets'],
    claims: ['claims', 'focus', 'item', 'every 30 s'],
    children: ['below', 'asks'],
  },
  async whole(view, part) {
    const [ask, talk, index, use, held, below] = await Promise.all(['approvals', 'run', 'marks', 'budget', 'claims', 'children'].map(part));
    return itemFrame(
      view,
      '',
      part,
      html`${ask ?? ''}${search(view)}<div class="run">${talk ?? ''}<aside class="index" aria-label="In this run">${index ?? ''}${use ?? ''}${held ?? ''}${below ?? ''}</aside></div>`,
    );
  },
  watches: async (view) => [view.id],
};

type Window = { rows: RunBlock[]; earlier: string | null; later: string | null };
const windows = new WeakMap<View, Promise<Window>>();

/** Read once for all parts of a page. */
function windowOf(view: View): Promise<Window> {
  let one = windows.get(view);
  if (!one) windows.set(view, (one = readWindow(view)));
  return one;
}

async function readWindow({ db, id, query }: View): Promise<Window> {
  const [at, from, to, whole] = ['at', 'from', 'to', 'whole'].map((name) => query.get(name) || null);
  const after = (position: string | null): Promise<readonly RunBlock[]> =>
    db.console.run(id, { after: position, whole: whole ?? null }, WINDOW);
  const before = async (position: string, limit: number): Promise<RunBlock[]> =>
    (await db.console.run(id, { before: position, whole: whole ?? null }, limit)).toReversed();
  if (to) {
    const rows = await before(to, WINDOW);
    return {
      rows,
      earlier: rows.length === WINDOW ? (rows[0]?.position ?? null) : null,
      later: to === 'end' ? null : (rows.at(-1)?.position ?? null),
    };
  }
  const some = at ? await before(at, BEFORE) : [];
  const rows = [...some, ...(await after(at ? (some.at(-1)?.position ?? null) : (from ?? null)))];
  const isBegin = at ? some.length < BEFORE : !from;
  return {
    rows,
    earlier: isBegin ? null : (rows[0]?.position ?? from ?? null),
    later: rows.length - some.length === WINDOW ? (rows.at(-1)?.position ?? null) : null,
  };
}

/** The address of a block. */
const linkTo = (view: View, block: RunBlock): string => `/work/${view.id}?at=${encodeURIComponent(block.position)}#${block.id}`;

const search = (view: View): Html =>
  html`<form class="row wrap" method="get" role="search"><input class="field grow" type="search" name="q" value="${view.query.get('q') ?? ''}" placeholder="Search this run" aria-label="Search this run">${view.query.get('q') ? html`<a class="btn" href="/work/${view.id}">All of it</a>` : ''}</form>`;

async function told(view: View): Promise<Html> {
  const query = view.query.get('q');
  if (query) return hits(view, query);
  const { rows, earlier, later } = await windowOf(view);
  const item = await view.db.workItem(view.id);
  const spawned = rows.flatMap(({ data }) => (typeof data?.['child'] === 'string' ? [data['child']] : []));
  const below = new Map((await view.db.console.childrenAmong(spawned)).map((child) => [child.id, child]));
  const says: Says = { view, faculty: item?.faculty ?? item?.work_type ?? 'agent', below, whole: view.query.get('whole') };
  const way = (label: string, changes: Record<string, string>): Html =>
    html`<a class="btn small" href="${address(view, { at: '', from: '', to: '', whole: '', ...changes })}">${label}</a>`;
  const items = grouped(rows.filter((row) => row.id !== null));
  return html`<section class="said-by" aria-label="Run">${earlier === null ? '' : html`<p class="ways">${way('from the beginning', {})}${way('earlier', { to: earlier })}</p>`}${
    items.length === 0 ? empty('Nothing has happened yet.') : html`<ol class="talk" data-list>${items.map((one) => itemOf(says, one))}</ol>`
  }${later === null ? '' : html`<p class="ways">${way('later', { from: later })}${way('to the newest', { to: 'end' })}</p>`}</section>`;
}

type Says = {
  view: View;
  faculty: string;
  below: Map<string, Awaited<ReturnType<View['db']['console']['childrenAmong']>>[number]>;
  whole: string | null;
};

const ofTurn = new Set(['told', 'request', 'words', 'call', 'entry', 'hook']);

const wordOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** What belongs to one turn stands together; all else by itself. */
function grouped(rows: readonly RunBlock[]): RunBlock[][] {
  const items: RunBlock[][] = [];
  for (const row of rows) {
    const last = items.at(-1)?.[0];
    const isSame = row.turn_id !== null && ofTurn.has(row.kind ?? '') && last?.turn_id === row.turn_id && ofTurn.has(last.kind ?? '');
    if (isSame && !isFailed(row)) items.at(-1)?.push(row);
    else items.push([row]);
  }
  return items;
}

const isFailed = ({ kind, status }: RunBlock): boolean => kind === 'request' && status === 'failed';

function itemOf(says: Says, rows: readonly RunBlock[]): Html {
  const [row] = rows;
  if (!row) return html``;
  switch (row.kind ?? '') {
    case 'task':
      return article(
        says,
        row,
        html`<b>Task</b>${row.who ? html` from <span dir="auto">${row.who}</span>` : ''}${row.name ? html` (${row.name})` : ''}`,
        wordsOf(says, row),
      );
    case 'attempt':
      return row.data?.['attempt'] === 1
        ? html``
        : rule(
            says,
            row,
            html`attempt ${num(Number(row.data?.['attempt']))} began here, after one that ${row.status}${row.content ? html`: <span dir="auto">${brief(row.content, 400)}</span>` : ''}`,
            false,
          );
    case 'cut':
      return rule(says, row, cutWords(row), false);
    case 'compaction':
      return rule(says, row, compactionWords(row), false);
    case 'checkpoint':
      return rule(says, row, html`checkpoint (${row.name})`, false);
    case 'request':
      return isFailed(row) ? failedRequest(says, row) : turn(says, rows);
    case 'person':
      return article(says, row, personWords(row), wordsOf(says, row), 'person');
    case 'journal':
      return article(
        says,
        row,
        html`<b>${row.who ?? row.name}</b>${row.who ? '' : ' in the journal'}`,
        row.content === null ? html`<p class="faint">${row.status ?? row.name}</p>` : wordsOf(says, row),
        row.mark === 'person' ? 'person' : '',
      );
    case 'end':
      return ending(says, row);
    default:
      return row.turn_id === null ? article(says, row, html`<b>${row.name}</b>`, blockOf(says, row)) : turn(says, rows);
  }
}

const personWords = ({ who, status, data }: RunBlock): Html =>
  html`<b dir="auto">${who ?? 'A person'}</b>${data?.['is_interrupt'] === true ? ' interrupted' : ''}${status === 'waiting' ? ', waits for its next call' : ''}`;

function cutWords({ data }: RunBlock): Html {
  const [first, last] = [Number(data?.['first_block']), Number(data?.['last_block'])];
  return html`${last > first ? `blocks ${first}–${last}` : `block ${first}`} left the context here: ${k(Number(data?.['tokens_elided'] ?? 0))} tokens as ${num(Number(data?.['stub_tokens'] ?? 0))} of stubs`;
}

function compactionWords({ name, status, data, content }: RunBlock): Html {
  const [before, after] = [data?.['tokens_before'], data?.['tokens_after']];
  return html`compaction (${name}, ${wordOf(data?.['trigger'])})${status === 'not used' ? ', not used' : ''}: ${k(Number(before ?? 0))} tokens${after === undefined ? '' : ` became ${k(Number(after))}`}${content ? html` · <span dir="auto">${brief(content, 300)}</span>` : ''}`;
}

/** A rule across the page, as what it is for the agent. */
function rule({ view }: Says, row: RunBlock, says: Html, isBad: boolean): Html {
  const where = row.turn_id === null ? '' : html` · <a href="/turn/${row.turn_id}"><u>show</u></a>`;
  return html`<li class="rule${isBad ? ' hard' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}" data-row="rule"><span>${says}${where} <a class="sharp" href="${linkTo(view, row)}" aria-label="Link to this">#</a></span></li>`;
}

/** A request that was not answered: what the provider said, and the way to the request. */
function failedRequest({ view }: Says, row: RunBlock): Html {
  const { data } = row;
  const status = data?.['provider_status'];
  const n = data?.['call_number'] ?? data?.['iteration'];
  return html`<li class="rule hard" id="${row.id}" data-key="${row.id}" data-mark="error" data-row="rule"><span>request ${n === undefined ? '' : num(Number(n))} failed${status === undefined ? '' : ` with ${wordOf(status)}`}: <q dir="auto">${row.content ?? 'no reason is known'}</q>${Number(data?.['requests'] ?? 1) > 1 ? `, sent ${num(Number(data?.['requests']))} times` : ''} · <a href="/turn/${row.turn_id}"><u>the request, part by part</u></a> ${row.happened_at ? clockTime(row.happened_at) : ''} <a class="sharp" href="${linkTo(view, row)}" aria-label="Link to this">#</a></span></li>`;
}

function ending(says: Says, row: RunBlock): Html {
  if (row.status === 'completed') return article(says, row, html`<b>Completed</b>`, wordsOf(says, row), 'ended');
  return rule(
    says,
    row,
    html`${row.status}${row.content ? html`: <span dir="auto">${brief(row.content, 1000)}</span>` : ''}`,
    row.status !== 'cancelled',
  );
}

const tools = (view: View, row: RunBlock, fork: Html | string): Html =>
  html`<div class="tools"><a class="btn small" href="${linkTo(view, row)}">link</a><button class="btn small" type="button" data-copy hidden>copy</button>${row.turn_id === null ? '' : html`<a class="btn small" href="/because/${row.turn_id}">because</a>`}${fork}</div>`;

function article({ view }: Says, row: RunBlock, who: Html, body: Html, kind = ''): Html {
  return html`<li class="turn ${kind}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}" data-row="block"><div class="at">${row.happened_at ? exactTime(row.happened_at) : ''}</div><div class="said"><p class="who">${who}</p>${body}</div>${tools(view, row, '')}</li>`;
}

/** A request with what was told in it, the answer, its calls, and what was recorded. */
function turn(says: Says, rows: readonly RunBlock[]): Html {
  const { view } = says;
  const request = rows.find(({ kind }) => kind === 'request');
  const [first] = rows;
  if (!first) return html``;
  const isAsked = request?.status === 'pending' || request?.status === 'streaming';
  const n = request?.data?.['call_number'] ?? request?.data?.['iteration'];
  const fork =
    request?.status === 'completed' && view.formToken !== null && request.turn_id !== null ? forkLine(view, request.turn_id) : '';
  const at = request?.data?.['started_at'] ?? first.happened_at;
  return html`<li class="turn" id="turn/${first.turn_id}" data-key="turn/${first.id}" data-row="block"><div class="at">${typeof at === 'string' ? exactTime(at) : ''}${n === undefined ? '' : html`<b><a href="/turn/${first.turn_id}" title="The request, part by part">${num(Number(n))}</a></b>`}</div><div class="said"><p class="who"><b>${says.faculty}</b> ${request ? requestWords(request) : ''}</p>${isAsked ? asked(view, request) : ''}${rows.map((row) => blockOf(says, row))}</div>${tools(view, first, fork)}</li>`;
}

/** While the model answers, its words arrive. */
const asked = (view: View, request: RunBlock): Html =>
  html`<p class="small quiet">the model is asked since ${counting(request.happened_at)}${request.content ? html` <span class="bad" dir="auto">${brief(request.content, 300)}</span>` : ''}</p><p class="stream" dir="auto" data-words="${view.id}"><span class="said"></span><span class="caret" aria-hidden="true"></span></p>`;

function requestWords({ name, data }: RunBlock): string {
  const one = (key: string): number | null => (typeof data?.[key] === 'number' ? data[key] : null);
  const [input, cached, output, cost, seconds, requests] = [
    'input_tokens',
    'cached_tokens',
    'output_tokens',
    'cost',
    'seconds',
    'requests',
  ].map(one);
  return [
    name,
    seconds === null || seconds === undefined ? null : seconds < 90 ? `${seconds.toFixed(1)} s` : lasting(seconds),
    input ? `${k(input)} tokens${cached ? `, ${percent(cached, input)} from the cache` : ''}` : null,
    output ? `${k(output)} out` : null,
    cost ? money(cost) : null,
    requests && requests > 1 ? `answered request ${requests}` : null,
  ]
    .filter((word) => word !== null && word !== undefined)
    .join(' · ');
}

function blockOf(says: Says, row: RunBlock): Html {
  const { view } = says;
  switch (row.kind ?? '') {
    case 'words':
      return html`${typeof row.data?.['thinking'] === 'string' ? thought(row.data['thinking']) : ''}${row.content === null ? '' : html`<div id="${row.id}" data-key="${row.id}">${wordsOf(says, row)}</div>`}`;
    case 'call':
      return called(row, linkTo(view, row), says.below.get(wordOf(row.data?.['child'])), says.whole === row.id);
    case 'entry':
      return entry(says, row);
    case 'told':
      return foldedBlock(row, toldNames[row.name ?? ''] ?? row.name ?? 'told', row.content ?? '', linkTo(view, row));
    case 'hook':
      return foldedBlock(row, `hook ${row.name}`, row.content ?? wordOf(row.data?.['command']), linkTo(view, row), row.status ?? '');
    default:
      return html``;
  }
}

const toldNames: Record<string, string> = {
  digest: 'told of others',
  nudge: 'reminder',
  stall: 'told that it goes in circles',
  child_result: 'result of a child',
  agent_message: 'another agent',
  task: 'task',
  said: 'told',
  engine: 'told by the engine',
};

/** Longer thoughts fold. */
const LONG = 600;
const thought = (text: string): Html =>
  text.length <= LONG
    ? html`<div class="thought" dir="auto">${markdown(text)}</div>`
    : html`<details class="thought"><summary dir="auto">${brief(text, 240)}</summary>${markdown(text)}</details>`;

function foldedBlock(row: RunBlock, name: string, content: string, link: string, status = ''): Html {
  const isBad = row.mark === 'error';
  return html`<details class="call told${isBad ? ' bad' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}"><summary data-row="told"><span></span><span class="name">${name}</span><span class="arg cut" dir="auto">${withShortIds(brief(content, 200))}</span><span class="cost">${status}</span></summary><div class="inside pad-all">${markdown(content)}<p class="small foot"><a href="${link}">link</a></p></div></details>`;
}

const trusted: Record<string, string> = {
  user: 'from its task',
  own_test: 'own test',
  file: 'from files',
  other_agent: 'from another agent',
  web: 'from outside',
};

/** What lasts stands out. */
function entry({ view }: Says, row: RunBlock): Html {
  const seq = Number(row.data?.['seq']);
  const trust = row.data?.['trust'];
  const notes = [
    typeof trust === 'string' ? (trusted[trust] ?? trust) : '',
    row.data?.['is_inherited'] === true ? 'from before the fork' : '',
    row.data?.['retracts'] === undefined ? '' : `takes back ${wordOf(row.data['retracts'])}`,
  ].filter((one) => one !== '');
  return html`<div class="mark${row.mark === 'error' ? ' bad' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}"><span class="kind">${row.name}</span>${markdown(row.content ?? '')}<span class="quiet"><a href="/work/${view.id}/ledger?before=${seq + 1}#entry-${seq}">entry ${num(seq)}</a>${notes.map((one) => html` · ${one}`)} · <a href="${linkTo(view, row)}">link</a>${row.turn_id === null ? '' : html` · <a href="/because/${row.turn_id}">because</a>`}</span></div>`;
}

/** Words as Markdown; of long ones the beginning, and the way to all of them. */
function wordsOf({ view }: Says, row: RunBlock): Html {
  const content = row.content ?? '';
  const left = (row.chars ?? 0) - content.length;
  return html`${markdown(content)}${left > 0 ? html`<p class="small"><a class="accent" href="${address(view, { at: row.position, from: '', to: '', whole: row.id ?? '' })}#${row.id}">all ${num(row.chars ?? 0)} characters</a></p>` : ''}`;
}

async function hits(view: View, query: string): Promise<Html> {
  const from = view.query.get('from');
  const found = await view.db.console.run(view.id, { after: from, query }, HITS);
  const shown = found.filter((row) => row.id !== null);
  const last = found.at(-1);
  const around = (row: RunBlock): string => {
    const text = `${row.content ?? ''} ${row.input ?? ''}`;
    const place = text.toLowerCase().indexOf(query.toLowerCase());
    return brief(text.slice(Math.max(0, place - 120)), 300);
  };
  return html`<section class="panel" aria-label="Found"><header><h2>Found</h2><span class="quiet">oldest first</span></header>${
    shown.length === 0
      ? empty(last ? 'None among these; it goes on.' : 'Nothing in this run says that.')
      : html`<ol class="rows list" data-list>${shown.map((row) => html`<li class="hit" data-key="${row.id}"><div class="small quiet">${row.happened_at ? exactTime(row.happened_at) : ''} · <a class="strong" href="${linkTo(view, row)}">${row.kind === 'call' ? row.name : (row.name ?? row.kind)}</a></div><p dir="auto">${around(row)}</p></li>`)}</ol>`
  }${last && (shown.length === HITS || last.id === null) ? html`<p class="newer"><a href="${address(view, { from: last.position })}">look further</a></p>` : ''}</section>`;
}

const MOST_MARKS = 60;

/** What is marked in the window, and the ways to the next of each kind. */
async function marks(view: View): Promise<Html> {
  const { rows } = await windowOf(view);
  const marked = rows.filter((row) => row.id !== null && row.mark !== null);
  const from = view.query.get('at') ?? rows[0]?.position ?? '';
  const chip = ([mark, key, label]: (typeof jumps)[number]): Html =>
    html`<a class="chip" href="/work/${view.id}/next/${mark}?after=${encodeURIComponent(from)}" data-jump="${mark}" data-last="${rows.at(-1)?.position ?? ''}">next ${label} <kbd class="hide-s">${key}</kbd></a>`;
  const line = (row: RunBlock): Html =>
    html`<li data-key="${row.id}"><a class="cut${row.mark === 'error' ? ' bad' : ''}" href="#${row.id}">${labelOf(row)}</a><span>${row.happened_at ? clockTime(row.happened_at) : ''}</span></li>`;
  const none = view.query.get('none');
  return html`<div class="chips">${jumps.map(chip)}</div>${none ? html`<p class="small warn" role="status">There is no further ${none}.</p>` : ''}${
    marked.length === 0
      ? ''
      : html`<div><h2>In this run</h2><ol>${marked.slice(0, MOST_MARKS).map(line)}</ol>${marked.length > MOST_MARKS ? html`<p class="faint">${num(marked.length - MOST_MARKS)} more in this window</p>` : ''}</div>`
  }`;
}

function labelOf(row: RunBlock): string {
  const says = brief(row.content ?? '', 60);
  switch (row.kind ?? '') {
    case 'task':
      return 'Task';
    case 'attempt':
      return `Attempt ${wordOf(row.data?.['attempt'])}`;
    case 'cut':
    case 'compaction':
      return row.kind === 'cut' ? 'Cut' : 'Compaction';
    case 'request':
      return `Request failed: ${says}`;
    case 'call':
      return row.mark === 'child'
        ? `Child ${short(wordOf(row.data?.['child']))}`
        : row.mark === 'approval'
          ? `${row.name}: asked`
          : `${row.name}: ${says}`;
    case 'person':
      return `${row.who ?? 'A person'}: ${says}`;
    case 'end':
      return `${row.status}`;
    default:
      return `${row.name ?? row.kind}: ${says}`;
  }
}

/** The next block with a mark, for the chips of a page that has no script: its address; null: there is none. */
export async function nextMark(view: Pick<View, 'db' | 'id'>, mark: string, after: string | null): Promise<string | null> {
  let at = after === '' ? null : after;
  for (;;) {
    const found = await view.db.console.run(view.id, { after: at, marks: [mark] }, 1);
    const [row] = found;
    if (!row) return null;
    if (row.id !== null) return `/work/${view.id}?at=${encodeURIComponent(row.position)}#${row.id}`;
    at = row.position;
  }
}
