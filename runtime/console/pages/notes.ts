// Notes: those of a project, one note with its lines, readers and history, and the editor.

import type { ListedNote, NoteVersion, WholeNote } from '../../ledger/consoleNotes.ts';
import { visible } from '../../visible.ts';
import { brief, count, num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { projectSwitch } from '../projects.ts';
import { at } from '../work.ts';
import { address } from './journal.ts';

const PAGE = 100;
const VERSIONS = 20;
const READERS = 30;
const SUGGESTED = 20;
const isId = new RegExp(`^${uuid}$`);

export const notes: Page = {
  pattern: /^\/notes$/,
  section: 'notes',
  parts: { list, suggested },
  inputs: { list: ['every 10 s'], suggested: ['every 30 s'] },
  whole: async (view, part) => ({
    title: 'Notes',
    body: html`<header class="head"><div class="row spread wrap"><h1>Notes</h1><div class="actions">${view.formToken === null ? '' : html`<a class="btn" href="/notes/edit">New note</a>`}</div></div>${await projectSwitch(view)}</header>
${await part('list')}${await part('suggested')}`,
  }),
};

async function list(view: View): Promise<Html> {
  const after = view.query.get('after');
  const all = await view.db.console.notesPage(view.project, after !== null && isId.test(after) ? after : null, PAGE);
  if (all.length === 0)
    return panel(
      'Notes',
      null,
      empty(html`No notes${after === null ? ' yet' : ' after these'}. <code>work-ledger memory edit style.md</code>`),
    );
  const last = all.at(-1);
  return panel(
    'Notes',
    'files of a project, which outlast work',
    html`<div class="body wide pad" tabindex="0"><table><thead><tr><th>Note</th><th class="n">Version</th><th class="n">Bytes</th><th class="n hide-s">Readers</th><th class="hide-s">By</th><th>When</th></tr></thead><tbody>${all.map(row)}</tbody></table></div>${all.length === PAGE && last ? html`<p class="newer"><a href="${address(view, { after: last.file_id })}" data-more>more notes</a></p>` : ''}`,
  );
}

/** Entries that several agents were told of, in the shown project or the only one, each with a link to make it part of a note. */
async function suggested(view: View): Promise<Html> {
  const all = await view.db.console.projects();
  const project = view.project ?? (all.length > 1 ? null : (all[0]?.project ?? ''));
  if (project === null) return panel('Suggested', null, empty('Choose a project above to see suggestions for notes.'));
  const [found, into] = await Promise.all([
    view.db.notes.suggest(project, SUGGESTED),
    view.formToken === null ? [] : view.db.notes.list(project === '' ? null : project),
  ]);
  if (found.length === 0)
    return panel('Suggested', null, empty('No suggestions: every finding that several agents were told of is covered by a note.'));
  const wayIn = (one: (typeof found)[number]): Html =>
    view.formToken === null
      ? html``
      : html`<form class="row wrap" method="get" action="/notes/edit"><input type="hidden" name="add" value="${one.work_item_id}/${one.seq}"><input type="hidden" name="of" value="${encodeURIComponent(project)}"><select class="field narrow" name="note" aria-label="Into which note"><option value="">a new note</option>${into.map((note) => html`<option value="${note.file_id}">${note.path}</option>`)}</select><button class="btn small">Put it there…</button></form>`;
  return panel(
    'Suggested',
    'told to several agents and not in any note yet',
    html`<ol class="rows">${found.map((one) => html`<li class="hit" data-key="${one.work_item_id}/${one.seq}"><div class="small quiet"><a class="strong" href="/work/${one.work_item_id}/ledger?before=${one.seq + 1}#entry-${one.seq}">${one.entry_type}</a> · told to ${num(one.told)} since ${at(one.since)}</div><p dir="auto">${brief(one.content, 600)}</p>${wayIn(one)}</li>`)}</ol>`,
  );
}

const row = (one: ListedNote): Html =>
  html`<tr data-key="${one.file_id}"><td class="wrapped"><a class="mono" dir="auto" href="/note/${one.file_id}">${one.path}</a>${one.pinned_at === null ? '' : html` <span class="chip">pinned</span>`}<span class="small faint" dir="auto"> ${projectName(one.project)}</span></td><td class="n">${num(one.version)}</td><td class="n">${num(one.bytes)}</td><td class="n hide-s">${num(one.readers)}</td><td class="hide-s">${writer(one)}</td><td class="nowrap">${at(one.updated_at)}</td></tr>`;

const projectName = (project: string | null): string => project ?? 'in no project';

const writer = ({ written_by: who, work_item_id: item }: { written_by: string; work_item_id: string | null }): Html =>
  item === null ? html`<span dir="auto">${who}</span>` : html`<a dir="auto" href="/work/${item}">${who}</a>`;

export const note: Page = {
  pattern: new RegExp(`^/note/(?<id>${uuid})$`),
  section: 'notes',
  parts: { head, says, history, readers },
  inputs: { head: [changes], says: [changes], history: [changes], readers: [changes] },
  async whole(view, part) {
    const one = await view.db.console.note(view.id);
    if (one === null) return null;
    const [top, text, past, who] = await Promise.all(['head', 'says', 'history', 'readers'].map(part));
    return {
      title: one.path,
      body: html`<header class="head">${top ?? ''}</header>
<div class="cols"><div class="stack">${text ?? ''}</div><div class="stack">${past ?? ''}${who ?? ''}</div></div>`,
    };
  },
};

function changes({ db, id }: View): Promise<string> {
  return db.console.noteChanges(id);
}

async function head(view: View): Promise<Html> {
  const one = await view.db.console.note(view.id);
  if (one === null) return html``;
  const isBehind = one.pinned_version !== null && one.pinned_version < one.version;
  const pinned =
    one.pinned_at === null
      ? ''
      : html`<span>pinned by <b dir="auto">${one.pinned_by}</b> ${at(one.pinned_at)}${isBehind ? html` · <span class="warn">agents are told version ${one.pinned_version}</span>` : ''}</span>`;
  return html`<p class="crumb"><a href="/notes">Notes</a> / <span dir="auto">${projectName(one.project)}</span></p><h1 dir="auto">${one.path}</h1>
<p class="meta"><span>${one.is_deleted ? html`<span class="bad">deleted</span> as version` : 'version'} <b>${num(one.version)}</b></span><span>by ${writer(one)}, ${at(one.created_at)}</span>${pinned}</p>
${one.is_deleted || view.formToken === null ? '' : html`<div class="actions"><a class="btn" href="/notes/edit?note=${one.file_id}">Edit</a>${pinning(view, one, isBehind)}${erasing(view, one)}</div>`}`;
}

/** A version is pinned, not the note: a newer version has to be pinned again. */
const pinning = (view: View, one: WholeNote, isBehind: boolean): Html =>
  html`${one.pinned_at === null || isBehind ? form(view, `/note/${one.file_id}/pin`, html`<input type="hidden" name="version" value="${one.version}"><button class="btn" title="Included in the first message to every agent of its project">Pin${isBehind ? ` version ${one.version}` : ''}</button>`) : ''}${one.pinned_at === null ? '' : form(view, `/note/${one.file_id}/unpin`, html`<button class="btn">Unpin</button>`)}`;

const erasing = (view: View, one: WholeNote): Html =>
  html`<details class="act" data-action="erase"${view.refused?.action === `/note/${one.file_id}/erase` ? html` open` : ''}><summary class="btn danger">Erase…</summary>${form(view, `/note/${one.file_id}/erase`, html`<p class="says">Permanently erases the text of all versions and deletes the note. Its path, and who wrote it when, are kept.</p><label class="row small"><input type="checkbox" name="keep" value="newest"> keep what it says now, and erase earlier versions only</label><div class="row wrap"><input class="field grow" name="reason" required aria-label="Reason" placeholder="Reason, kept on record"><button class="btn danger">Erase it</button></div>`)}</details>`;

/** Shows the version in the address, else the newest. */
async function says(view: View): Promise<Html> {
  const one = await view.db.console.note(view.id);
  const wanted = Number(view.query.get('version')) || null;
  if (one === null) return html``;
  if (wanted !== null && wanted !== one.version) return earlier(view, one, wanted);
  if (one.content === null) return panel('What it says', null, empty('It is deleted. An earlier version can be brought back.'));
  const lines = await view.db.console.noteLines(view.id);
  // A final line break does not begin another line.
  const groups = Map.groupBy(one.content.endsWith('\n') ? lines.slice(0, -1) : lines, groupOf());
  return panel(
    'What it says',
    'with who wrote each line, and how many were shown the note since',
    html`<div class="body noted">${[...groups.values()].map((some) => {
      const [first] = some;
      return html`<div><div dir="auto">${some.map(({ line, content }) => html`<span class="ln" data-n="${line}">${content}</span>\n`)}</div>${first ? html`<p class="small quiet"><a class="accent" href="/note/${one.file_id}?version=${first.since_version}">version ${first.since_version}</a> · ${writer(first)} · ${first.readers === 0 ? 'shown to nobody' : `shown to ${num(first.readers)}`}</p>` : ''}</div>`;
    })}</div>`,
  );
}

/** Groups consecutive lines that have been there since the same version. */
function groupOf(): (line: { since_version: number }) => number {
  let [group, since] = [0, 0];
  return ({ since_version: now }) => {
    if (now !== since) group++;
    since = now;
    return group;
  };
}

async function earlier(view: View, one: WholeNote, wanted: number): Promise<Html> {
  const old = await view.db.console.noteVersion(view.id, wanted);
  if (old === null) return panel(`Version ${wanted}`, null, empty('There is no such version.'));
  const canGoBack = old.content !== null && !old.is_erased;
  return html`${panel(
    `Version ${old.version}`,
    html`<a class="accent" href="/note/${one.file_id}">the newest</a>`,
    html`<div class="body">${old.content === null ? html`<p class="quiet">Deleted.</p>` : html`<pre class="fence" dir="auto" tabindex="0">\n${old.content}</pre>`}</div>${canGoBack && view.formToken !== null ? html`<div class="foot-actions">${form(view, `/note/${one.file_id}/rollback`, html`<input type="hidden" name="version" value="${old.version}"><input type="hidden" name="replaces" value="${one.version}"><div class="row wrap"><input class="field grow" name="why" aria-label="Why" placeholder="Why, for its history"><button class="btn primary">Say this again</button></div>`)}</div>` : ''}`,
  )}${panel('What it changed', old.version === 1 ? null : `from version ${old.version - 1}`, html`<div class="body">${difference(old)}</div>`)}`;
}

const difference = ({ changes: lines }: NoteVersion): Html =>
  lines === ''
    ? html`<p class="quiet">Nothing but its path, or nothing.</p>`
    : html`<div class="diff" dir="auto">${lines.split('\n').map((line) => html`<div class="${line.startsWith('+') ? 'add' : 'del'}">${line}</div>`)}</div>`;

async function history(view: View): Promise<Html> {
  const before = Number(view.query.get('before')) || null;
  const all = await view.db.console.noteVersions(view.id, before, VERSIONS);
  const last = all.at(-1);
  return panel(
    'History',
    'newest first',
    html`<ol class="rows">${all.map((one) => html`<li class="hit" data-key="${one.version}"><div class="small quiet"><a class="strong" href="/note/${view.id}?version=${one.version}">version ${one.version}</a> · ${one.command}${one.is_erased ? html` · <span class="warn">erased</span>` : ''} · ${writer(one)} · ${at(one.created_at)}</div>${one.why === null ? '' : html`<p dir="auto">${brief(one.why, 300)}</p>`}${one.command === 'rename' || one.command === 'merge' ? html`<p class="mono" dir="auto">${one.path}</p>` : ''}${one.changes === '' ? '' : html`<details class="table"><summary class="small quiet">what changed</summary>${difference(one)}</details>`}</li>`)}</ol>${last && last.version > 1 ? html`<p class="newer"><a href="${address(view, { before: String(last.version) })}">earlier versions</a></p>` : ''}`,
  );
}

async function readers(view: View): Promise<Html> {
  const all = await view.db.console.noteReaders(view.id, READERS);
  if (all.length === 0) return panel('Who was shown it', null, empty('Nobody has viewed it.'));
  return panel(
    'Who was shown it',
    all.length === READERS ? `the last ${READERS}` : count(all.length, 'reader'),
    html`<ul class="rows">${all.map((one) => html`<li class="line" data-key="${one.work_item_id ?? one.reader}">${writer({ written_by: one.reader, work_item_id: one.work_item_id })}<span class="small faint">version ${one.version}</span><span class="quiet">${at(one.viewed_at)}</span></li>`)}</ul>`,
  );
}

/**
 * The editor of a note. No part of it is fetched again: saving replaces the version that was read here, and no other. If that is rejected,
 * the text stays, and a person who has merged the two states which version it replaces now.
 */
export const editNote: Page = {
  pattern: /^\/notes\/edit$/,
  section: 'notes',
  parts: {},
  inputs: {},
  async whole(view) {
    const id = view.query.get('note') ?? '';
    const one = isId.test(id) ? await view.db.console.note(id) : null;
    if (id !== '' && (one === null || one.is_deleted)) return null;
    const title = one === null ? 'New note' : `Edit ${one.path}`;
    return {
      title,
      body: html`<header class="head"><p class="crumb"><a href="/notes">Notes</a> / ${one === null ? 'new' : html`<a href="/note/${one.file_id}">${projectName(one.project)}</a>`}</p><h1 dir="auto">${title}</h1></header>
${view.formToken === null ? html`<p class="quiet">This console is read-only.</p>` : one !== null && !canBeTyped(one.content ?? '') ? html`<p class="warn">It has characters that a page cannot show as they are; editing it here would lose them. <code>work-ledger memory edit</code> keeps them.</p>` : await editor(view, one)}`,
    };
  },
};

/** Whether a text can be edited here: a page replaces invisible characters by visible ones, which would be saved in their place. */
const canBeTyped = (text: string): boolean => visible(text) === text.replaceAll('\r\n', '\n');

async function editor(view: View, one: WholeNote | null): Promise<Html> {
  const action = one === null ? '/notes/write' : `/note/${one.file_id}/write`;
  const typed = (name: string): string | null => {
    const value = view.refused?.action === action ? view.refused.fields[name] : null;
    return typeof value === 'string' ? value : null;
  };
  const added = await addition(view);
  const text = typed('content') ?? withLine(one?.content ?? '', added?.line);
  const where =
    one === null
      ? html`<div class="row wrap"><input class="field grow mono" name="path" required value="${typed('path')}" aria-label="Path" placeholder="style.md">${await projects(view, typed('of') ?? view.query.get('of'))}</div>`
      : html`<label class="row small">replaces version <input class="field narrow" type="number" name="version" min="1" required value="${typed('version') ?? one.version}"></label>`;
  // A line feed right after the tag is not part of the text.
  return panel(
    one === null ? 'A note' : `Version ${one.version}`,
    'at most 64 KB; secrets are taken out',
    html`<div class="body">${form(view, action, html`<div class="stack gap-s">${where}<textarea class="field mono" name="content" rows="24" aria-label="Text" dir="auto" spellcheck="false">\n${text}</textarea><div class="row wrap"><input class="field grow" name="why" value="${typed('why') ?? added?.why}" aria-label="Why" placeholder="Why, for its history"><button class="btn primary">Save</button></div></div>`)}</div>`,
  );
}

/** What an entry adds to a note (`?add=ITEM/SEQ`): a line, and a reason by which memory_suggest() recognises it even in other words. */
async function addition({ db, query }: View): Promise<{ line: string; why: string } | null> {
  const [id = '', seq = ''] = (query.get('add') ?? '').split('/');
  if (!isId.test(id) || !/^\d{1,9}$/.test(seq)) return null;
  const entry = await db.console.noteSource(id, Number(seq));
  return entry && { line: `- ${entry.content.trim().replaceAll(/\s*\n\s*/g, ' ')}\n`, why: `${entry.entry_type} ${id}/${seq}` };
}

const withLine = (text: string, line = ''): string => `${text}${text === '' || text.endsWith('\n') || line === '' ? '' : '\n'}${line}`;

/** Names as they are stored, not as a page shows them. */
async function projects(view: View, typed: string | null): Promise<Html> {
  const all = await view.db.console.projects();
  const chosen = typed ?? encodeURIComponent(view.project ?? '');
  return html`<select class="field narrow" name="of" aria-label="Project"><option value="">in no project</option>${all.map(({ project }) => html`<option value="${encodeURIComponent(project)}"${encodeURIComponent(project) === chosen ? html` selected` : ''}>${project}</option>`)}</select>`;
}
