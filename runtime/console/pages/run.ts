// A work item as a conversation, oldest first: what it was told, what it said, each call with its outcome, and other events as rules across
// the page. Shows a window around the address, with its marks next to it.

import type { RunBlock } from '../../ledger/consoleRun.ts';
import { brief, num, short } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { clockTime, exactTime } from '../times.ts';
import { approvals, budget, budgetInputs, children, claims, head, headInputs, itemFrame } from './item.ts';
import { address } from './journal.ts';
import { grouped, itemOf } from './runItem.ts';
import { linkTo, wordOf } from './runTurn.ts';
import type { Says } from './runTurn.ts';

/** Blocks in a window, and how many of them precede the one that the address names. */
const WINDOW = 200;
const BEFORE = 60;
const HITS = 40;
/** What the reader can jump to, each with a key. */
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
    budget: budgetInputs,
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
      ? empty(last ? 'None among these; it goes on.' : 'No matches in this run.')
      : html`<ol class="rows list" data-list>${shown.map((row) => html`<li class="hit" data-key="${row.id}"><div class="small quiet">${row.happened_at ? exactTime(row.happened_at) : ''} · <a class="strong" href="${linkTo(view, row)}">${row.kind === 'call' ? row.name : (row.name ?? row.kind)}</a></div><p dir="auto">${around(row)}</p></li>`)}</ol>`
  }${last && (shown.length === HITS || last.id === null) ? html`<p class="newer"><a href="${address(view, { from: last.position })}">look further</a></p>` : ''}</section>`;
}

const MOST_MARKS = 60;

/** The marks in the window, and links to the next of each kind. */
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

/** The address of the next block with a mark, for the chips of a page without a script; null: there is none. */
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
