// The journal of an item: its entries, newest first, in pages. Each is summed up in one or two lines and opens to show everything.

import { journalEntry } from '../../ledger/answers.ts';
import type { JournalRow } from '../../ledger/consoleJournal.ts';
import { aboutOf } from '../called.ts';
import { brief, num, withShortIds } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { form } from '../page.ts';
import type { View } from '../page.ts';
import { exactTime } from '../times.ts';

const PAGE = 60;
const types = journalEntry.shape.entryType.options;
const labels: Record<string, string> = {
  session_start: 'begin',
  tool_request: 'call',
  tool_result: 'result',
  tool_rejected: 'rejected',
  tool_approved: 'approved',
  file_read: 'read',
  file_written: 'wrote',
  code_generated: 'code',
  user_feedback: 'you',
  session_end: 'end',
  summary: 'step',
};
const labelOf = (type: string): string => labels[type] ?? type;

/** The same address with other parameters; empty ones are left out. */
export function address(view: View, changes: Record<string, string>): string {
  const query = new URLSearchParams(view.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.size > 0 ? `${view.path}?${query.toString()}` : view.path;
}

export async function journal(view: View): Promise<Html> {
  const { query } = view;
  const [type, importance, q, before] = ['type', 'importance', 'q', 'before'].map((name) => query.get(name) || null);
  const counting = view.db.console.journalCounts(view.id);
  const rows = await view.db.console.journalPage(
    view.id,
    {
      before: before ?? null,
      query: q ?? null,
      types: type ? [type] : null,
      importance: importance === 'high' ? ['high', 'critical'] : null,
    },
    PAGE,
  );
  const entries = rows.filter((row) => row.id !== null);
  const last = rows.at(-1);
  const older = last && (entries.length === PAGE || last.id === null) ? address(view, { before: last.position }) : null;
  const counts = await counting;
  const chip = (label: string, changes: Record<string, string>, isOn: boolean, n?: number): Html =>
    html`<a class="chip" href="${address(view, { before: '', ...changes })}"${isOn ? html` aria-current="true"` : ''}>${label}${n === undefined ? '' : html` <span class="n">${num(n)}</span>`}</a>`;
  const offered = types.filter((one) => counts === null || counts.has(one) || one === type);
  return html`<section class="panel" aria-label="Journal"><header><h2>Journal</h2><span class="quiet">newest first${before ? html` · <a class="accent" href="${address(view, { before: '' })}">to the newest</a>` : ''}</span></header>
<form class="body stack" method="get" role="search"><input class="field" type="search" name="q" value="${q ?? ''}" placeholder="Search this journal" aria-label="Search this journal">${type ? html`<input type="hidden" name="type" value="${type}">` : ''}${importance ? html`<input type="hidden" name="importance" value="${importance}">` : ''}
<div class="chips">${chip('all', { type: '', importance: '' }, !type && !importance)}${chip('important', { type: '', importance: 'high' }, importance === 'high')}${offered.map((one) => chip(labelOf(one), { type: one, importance: '' }, type === one, counts === null ? undefined : (counts.get(one) ?? 0)))}</div></form>
<div class="rows"><p class="newer" data-newer hidden><button class="btn ghost" type="button"></button></p>${entries.length === 0 ? html`<p class="empty">${q || type || importance || before ? 'No matching entries.' : 'Nothing has been journaled yet.'}</p>` : html`<ol class="list" data-list data-entries>${entries.map((row) => entry(view, row))}</ol>`}
${older ? html`<p class="newer"><a href="${older}" data-more>${last?.id === null ? 'none among the newest 5,000: look further back' : 'older entries'}</a></p>` : ''}</div></section>`;
}

/** One entry: a line that opens. */
function entry(view: View, row: JournalRow): Html {
  const content = row.content ?? {};
  const type = row.entry_type ?? '';
  const at = row.created_at ?? '';
  const isBad = type === 'error' || type === 'tool_rejected' || (type === 'tool_result' && content['success'] === false);
  const classes = `entry ${row.importance ?? ''}${isBad ? ' is-error' : ''}${type === 'user_feedback' ? ' person' : ''}`;
  return html`<li class="fold" data-key="${row.id}"><details><summary class="${classes}" data-row="entry">${at === '' ? '' : exactTime(at)}<span class="t">${labelOf(type)}</span><span class="x" dir="auto">${row.content === null ? html`<span class="faint">deleted</span>` : says(type, content)}</span><span class="tok" title="tokens, estimated">${row.token_estimate === null ? '' : num(row.token_estimate)}</span></summary>${whole(view, row)}</details></li>`;
}

const str = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(str) : []);

/** What an entry says, in a line or two. */
function says(type: string, content: Record<string, unknown>): Html | string {
  const tool = html`<span class="mono">${str(content['toolName'])}</span>`;
  const inBrief = (value: unknown, length = 220): string => withShortIds(brief(str(value), length));
  switch (type) {
    case 'session_start':
      return inBrief(content['originalPrompt'], 300);
    case 'tool_request':
      return html`${tool} ${inBrief(aboutOf(content['toolInput']))}`;
    case 'tool_result':
      return html`${tool} ${content['success'] === false ? html`<span class="bad">failed</span> ` : ''}${inBrief(content['output'])}`;
    case 'tool_approved':
      return html`${tool} by ${str(content['decidedBy'])}`;
    case 'tool_rejected':
      return html`${tool} by ${str(content['decidedBy']) || 'nobody'}: ${inBrief(content['reason'])}`;
    case 'file_read':
    case 'file_written':
      return html`<span class="mono">${str(content['filePath'])}</span>${content['operation'] === 'read' ? '' : ` ${str(content['operation'])}`}`;
    case 'code_generated':
      return html`<span class="mono">${inBrief(content['code'])}</span>`;
    case 'decision':
      return inBrief(content['reasoning'] || content['chosenOption']);
    case 'error':
    case 'recovery':
    case 'user_feedback':
      return inBrief(content['message'], 300);
    case 'checkpoint':
      return inBrief(content['summary'], 300);
    case 'summary':
      return inBrief(list(content['accomplishments'])[0] ?? content['currentStatus'], 300);
    case 'session_end':
      return `${str(content['status'])}${content['summary'] ? `: ${inBrief(content['summary'], 260)}` : ''}`;
    case 'thinking':
      return inBrief(
        Array.isArray(content['planSteps']) && content['planSteps'].length > 0
          ? `Plan: ${list(content['planSteps']).join(' · ')}`
          : content['reasoning'],
        300,
      );
    default:
      return inBrief(content);
  }
}

const SHOWN = 2000;

/** Everything that an entry holds; what exceeds the journal's limit is a link to the whole. */
function whole(view: View, row: JournalRow): Html {
  const fields = Object.entries(row.content ?? {}).filter(([name, value]) => name !== 'type' && str(value) !== '');
  const isCall = ['tool_request', 'tool_result', 'code_generated', 'file_read', 'file_written', 'tool_approved', 'tool_rejected'].includes(
    row.entry_type ?? '',
  );
  const isLogged =
    !isCall &&
    row.source_id !== null &&
    /^(?:user_feedback|decision|error|summary|thinking|checkpoint|recovery|tool_\w+|code_\w+|file_\w+|session_\w+)$/.test(
      row.entry_type ?? '',
    );
  return html`<div class="opened"><dl class="kv left">${fields.map(([name, value]) => html`<dt>${name}</dt><dd dir="auto">${brieflyShown(str(value))}</dd>`)}<dt>written</dt><dd>${row.created_at ? exactTime(row.created_at) : ''} · ${row.importance}</dd></dl>
<div class="actions">${row.entry_type === 'thinking' && row.source_id ? html`<a class="btn" href="/work/${view.id}?at=${encodeURIComponent(`${row.position.split('/')[0]}/-2/0/0/`)}#words/${row.source_id}">Whole, in the run</a>` : ''}${isCall && row.source_id ? html`<a class="btn" href="/call/${row.source_id}">The whole call</a>` : ''}${isLogged && row.content !== null && view.formToken !== null ? html`<details class="act"><summary class="btn danger">Delete…</summary>${form(view, `/entry/${row.source_id}/delete`, html`<p class="says">Permanently deletes the content of this entry; its type and time stay. Ledger entries and tool calls cannot be deleted here.</p><div class="row wrap"><input class="field grow" name="reason" aria-label="Reason" placeholder="Reason"><button class="btn danger">Delete the content</button></div>`)}</details>` : ''}</div></div>`;
}

const brieflyShown = (text: string): string =>
  text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${num(text.length - SHOWN)} characters more)` : text;
