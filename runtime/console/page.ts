// A page: its address, its parts, and which of them change while it is open. A changed part is rendered alone, with the same function that
// renders it in the page.

import { createHash } from 'node:crypto';

import type { ItemInput } from '../ledger/consoleItem.ts';
import type { Project } from '../ledger/consoleShapes.ts';
import type { LedgerInput } from '../ledger/consoleWork.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError, messageOf, sqlState } from '../ledger/errors.ts';
import { count, lasting } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { clockTime } from './times.ts';

/** What a page is rendered from. */
export type View = {
  db: Db;
  path: string;
  /** The id in the address, if there is one. */
  id: string;
  query: URLSearchParams;
  /** The project whose work is shown. */
  project: Project;
  /** The token for forms; null: nothing can be changed from here. */
  formToken: string | null;
  /** What was just rejected, to be shown next to its control, with what was typed there. */
  refused: { action: string; says: string; fields: Record<string, unknown> } | null;
};

export type Part = (view: View) => Promise<Html>;
/**
 * What a part is made from: inputs of its work item (the one in the address, or `itemOf`) or of the ledger, the time (because it shows how
 * long something has lasted), or a text computed for this page alone.
 */
export type Input = ItemInput | LedgerInput | 'every 10 s' | 'every 30 s' | ((view: View) => Promise<string>);
export type Page = {
  pattern: RegExp;
  /** The link of the sidebar that it belongs to. */
  section: 'now' | 'work' | 'fleet' | 'sessions' | 'knowledge' | 'notes' | 'keys';
  parts: Record<string, Part>;
  /** For each part that changes while the page is open. */
  inputs: Partial<Record<string, readonly Input[]>>;
  /** The work item that its inputs belong to, if that is not the one in the address. */
  itemOf?(view: View): Promise<string | null>;
  /** The whole page; `part(name)` renders one of its parts. Null: there is no such thing. */
  whole(view: View, part: (name: string) => Promise<Html>): Promise<{ title: string; body: Html } | null>;
  /** The work items whose agents are followed while the page is open; queried again when a version has changed. */
  watches?(view: View): Promise<readonly string[]>;
  /** The part that shows them: they are queried again when its version has changed. Without it: when any version has. */
  watchesWith?: string;
};

export const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

const ofLedger = new Set<Input>(['underWay', 'queue', 'over', 'asks', 'workers', 'written', 'newest']);

/** A version for each part that changes, which differs when an input of the part has changed. Nothing is rendered for it. */
export async function versionsOf(page: Page, view: View): Promise<Map<string, string>> {
  const inputs = Object.entries(page.inputs);
  const all = inputs.flatMap(([, names = []]) => names);
  const own = new Map(
    await Promise.all(
      [...new Set(all)]
        .filter((input) => typeof input === 'function')
        .map(async (input): Promise<[Input, string]> => [input, await input(view)]),
    ),
  );
  const id = all.some((name) => typeof name !== 'function' && !ofLedger.has(name) && !name.startsWith('every'))
    ? page.itemOf
      ? await page.itemOf(view)
      : view.id
    : null;
  const [item, ledger] = await Promise.all([
    id ? view.db.console.itemInputs(id) : {},
    all.some((name) => ofLedger.has(name)) ? view.db.console.ledgerInputs() : {},
  ]);
  const known: Record<string, string | null> = { ...item, ...ledger, 'every 10 s': slot(10), 'every 30 s': slot(30) };
  return new Map(
    inputs.map(([part, names = []]) => [
      part,
      digest([view.formToken, ...names.map((name) => (typeof name === 'function' ? own.get(name) : known[name]) ?? '')]),
    ]),
  );
}

const slot = (seconds: number): string => String(Math.floor(Date.now() / 1000 / seconds));
export const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 12);

/**
 * Renders a part of a page, with the version that its inputs had before it was read. If that fails, the error appears in its place, and the
 * rest of the page stays.
 */
export async function renderPart(page: Page, name: string, view: View, versions: Map<string, string>): Promise<Html> {
  try {
    const body = await page.parts[name]?.(view);
    return html`<div class="part" data-part="${name}" data-version="${versions.get(name) ?? ''}">${body}</div>`;
  } catch (error) {
    return html`<div class="part" data-part="${name}">${failed(name, error)}</div>`;
  }
}

const failed = (
  name: string,
  error: unknown,
): Html => html`<section class="panel failed-part"><header><h2 class="bad">This part could not be read</h2><span class="quiet">${name}</span></header>
<div class="body"><p>${errorWords(error)}</p></div></section>`;

/** An error in the database's words, with its code and what to do. */
export function errorWords(error: unknown): string {
  const code = error instanceof LedgerError ? error.code : sqlState(error);
  const deepest = error instanceof LedgerError ? error.message : rootMessage(error);
  const hint = error instanceof LedgerError && error.hint !== '' ? ` ${error.hint}` : '';
  return `${deepest}${code ? ` (${code})` : ''}.${hint}`.replace('..', '.');
}

function rootMessage(error: unknown): string {
  let message = messageOf(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) message = cause.message;
  return message;
}

export const panel = (title: string, note: string | Html | null, body: Html): Html =>
  html`<section class="panel" aria-label="${title}"><header><h2>${title}</h2>${note ? html`<span class="quiet">${note}</span>` : ''}</header>${body}</section>`;

export const empty = (says: string | Html): Html => html`<p class="empty">${says}</p>`;

const logo = html`<svg viewBox="0 0 18 18" aria-hidden="true"><rect class="f-out" x="1" y="1" width="16" height="3" rx="1"/><rect class="f-out" x="1" y="5.5" width="16" height="3" rx="1"/><rect class="f-stubs" x="1" y="10" width="16" height="2" rx="1"/><rect class="f-words" x="1" y="13.5" width="16" height="3.5" rx="1"/></svg>`;

export type Shell = {
  version: string;
  schema: string;
  is_read_only: boolean;
  is_standby: boolean;
  seconds: number | null;
  approvals: number;
  open: number;
  resumable: number;
  /** The visitor's name, if known. */
  who: string | null;
  /** The token of the form that logs out; null: the visitor did not log in. */
  leaves: string | null;
  mayEnter: boolean;
};

/** The data of a standby is older than the time next to it. */
const behindText = ({ is_standby: isStandby, seconds }: Shell): Html | string =>
  !isStandby || seconds === 0
    ? ''
    : html`<p class="behind">read on a standby, ${seconds === null ? 'behind' : `up to ${lasting(seconds)} behind`}</p>`;

/** In whose name everything is done here. */
const whoText = ({ who, leaves }: Shell): Html | string =>
  who === null
    ? ''
    : html`<p class="who"><span dir="auto" title="What is done here is done in this name">${who}</span></p>${leaves === null ? '' : html`<form method="post" action="/logout"><input type="hidden" name="form_token" value="${leaves}"><button class="btn ghost">Log out</button></form>`}`;

/** The frame around every page. */
export function frame(title: string, section: Page['section'], shell: Shell, canAct: boolean, body: Html): Html {
  const link = (to: string, name: Page['section'], label: string, n: Html | string): Html =>
    html`<li><a href="${to}"${section === name ? html` aria-current="page"` : ''}><span>${label}</span>${n}</a></li>`;
  const upTo = (n: number): string => (n >= 1000 ? '999+' : String(n));
  const some = (n: number): Html | string => (n > 0 ? html`<span class="n">${upTo(n)}</span>` : '');
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title} · Work Ledger</title><link rel="icon" href="/assets/icon.svg"><link rel="stylesheet" href="/assets/style.css"><script src="/assets/console.js" type="module"></script></head>
<body>
<a class="skip" href="#main">To the content</a>
<div class="app">
<nav class="side" aria-label="Console">
<a class="brand" href="/" aria-label="Work Ledger">${logo}<span>Work Ledger</span></a>
<div class="part" data-part="nav" data-version="${digest(shell)}"><ul class="nav">
${link('/', 'now', 'Now', shell.approvals > 0 ? html`<span class="n due" title="${shell.approvals >= 1000 ? 'more than 999 calls wait' : count(shell.approvals, 'call waits', 'calls wait')} for approval">${upTo(shell.approvals)}</span>` : '')}
${link('/work', 'work', 'Work', some(shell.open))}
${link('/fleet', 'fleet', 'Fleet', '')}
${link('/sessions', 'sessions', 'Sessions', some(shell.resumable))}
${link('/knowledge', 'knowledge', 'Knowledge', '')}
${link('/notes', 'notes', 'Notes', '')}
</ul>${behindText(shell)}</div>
<div class="foot"><p><a href="/knowledge"><kbd>/</kbd> search</a><br><a href="/keys"><kbd>?</kbd> keys</a></p>
<p><span class="which">ledger ${shell.version} · ${shell.schema}<br></span>${canAct ? '' : html`<span class="strong">read-only</span>${shell.mayEnter && !shell.is_read_only ? html` · <a href="/login">log in</a>` : ''}<br>`}<span id="connection" role="status"><span class="faint">○</span> as of ${clockTime(new Date().toISOString())}</span></p>${whoText(shell)}</div>
</nav>
<main class="main" id="main">
${body}
</main>
</div>
</body>
</html>
`;
}

/** A form that changes something. `action` is its address; a rejection is shown next to its controls. `hasFiles`: it uploads files. */
export function form(view: View, action: string, fields: Html, options: { hasFiles?: boolean } = {}): Html {
  if (view.formToken === null) return html``;
  const refused = view.refused?.action === action ? view.refused.says : '';
  return html`<form method="post" action="${action}"${options.hasFiles ? html` enctype="multipart/form-data"` : ''} data-act><input type="hidden" name="form_token" value="${view.formToken}"><input type="hidden" name="back" value="${view.path}${view.query.size > 0 ? `?${view.query.toString()}` : ''}">${fields}<p class="refused bad" role="alert">${refused}</p></form>`;
}
