// Why a request was answered like this: words of the answer that occur in the request, with their source; what the request held, and what
// it no longer held. Claims only what it quotes.

import type { Because } from '../../ledger/consoleContext.ts';
import { brief, k, num, short } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel, uuid } from '../page.ts';
import type { Page, View } from '../page.ts';
import { partNames } from './request.ts';

export const because: Page = {
  pattern: new RegExp(`^/because/(?<id>${uuid})$`),
  section: 'work',
  parts: { held },
  inputs: {},
  itemOf: async ({ db, id }) => (await db.console.turnAt(id))?.work_item_id ?? null,
  async whole(view, part) {
    const turn = await view.db.console.turnAt(view.id);
    if (!turn) return null;
    return {
      title: 'Because',
      body: html`<header class="head"><p class="crumb"><a href="/work">Work</a> / <a class="mono" href="/work/${turn.work_item_id}">${short(turn.work_item_id)}</a> / <a href="/turn/${view.id}">the request, part by part</a></p><h1>${callOf(view) ? 'What led to this call' : 'What led to this answer'}</h1></header>${await part('held')}`,
    };
  },
};

const callOf = ({ query }: View): string | null => {
  const call = query.get('call');
  return call !== null && new RegExp(`^${uuid}$`).test(call) ? call : null;
};

async function held(view: View): Promise<Html> {
  const call = callOf(view);
  const rows = await view.db.console.because(view.id, call);
  const of = (kind: Because['kind']): Because[] => rows.filter((row) => row.kind === kind);
  const quotes = of('quote');
  const [before] = of('fork');
  return html`<div class="stack">${call === null ? '' : html`<p class="small"><a class="accent" href="/call/${call}">the call, whole</a></p>`}
${panel(
  'In its words, and in the request',
  'exact quotes, the longest first',
  quotes.length === 0
    ? empty('It shares no five consecutive words with the request, so quotes cannot show what led to it.')
    : html`<ol class="because rows">${quotes.map((row) => html`<li data-quote><span>${origin(row)}</span><q dir="auto">${brief(row.quote ?? '', 1000)}</q></li>`)}</ol>`,
)}
${panel('What the request held', html`<a href="/turn/${view.id}">part by part</a>`, html`<ul class="because rows">${of('held').map((row) => html`<li data-held="${row.part}"><span>${partNames[row.part] ?? row.part}</span><span class="quiet">${num(row.parts ?? 0)} · ${k(row.tokens ?? 0)} tokens · ${row.says ?? ''}</span></li>`)}</ul>`)}
${panel('What it no longer held', null, of('cut').length === 0 ? empty('Nothing had been cut by then.') : html`<ul class="because rows">${of('cut').map((row) => html`<li data-cut><span>${k(row.tokens ?? 0)} tokens</span><span>${row.says ?? ''}${row.call_id === null ? '' : html` by <a class="accent" href="/call/${row.call_id}">a call of recall_block</a>`}</span></li>`)}</ul>`)}
${before && view.formToken !== null ? panel('Fork from here, with a sentence changed', null, html`<div class="body">${form(view, `/turn/${before.turn_id}/fork`, html`<p class="says">A new work item goes on from before ${before.quote ? 'that was said' : 'this request'}, with the same task and the ledger as it was then, and is told this first; this one is not changed.</p><textarea class="field" name="message" rows="3" required aria-label="What it is told instead">${before.quote ?? ''}</textarea><div class="row"><button class="btn primary">Fork</button></div>`)}</div>`) : ''}</div>`;
}

function origin(row: Because): Html {
  const name = partNames[row.part] ?? row.part;
  if (row.call_id !== null) return html`<a class="accent" href="/call/${row.call_id}">${row.says ?? 'a call'}</a>`;
  if (row.entry_seq !== null && row.work_item_id !== null)
    return html`<a class="accent" href="/work/${row.work_item_id}/ledger?before=${row.entry_seq + 1}#entry-${row.entry_seq}">${row.says ?? 'entry'} ${row.entry_seq} of ${short(row.work_item_id)}</a>, told in a digest`;
  if (row.work_item_id !== null)
    return html`${name} <a class="accent mono" href="/work/${row.work_item_id}">${short(row.work_item_id)}</a>`;
  const who = row.person === null ? name : html`${name}: <span dir="auto">${row.person}</span>`;
  return row.turn_id === null ? html`${who}` : html`<a class="accent" href="/turn/${row.turn_id}">${who}</a>`;
}
