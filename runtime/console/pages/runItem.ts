// The elements of a run, in order: turns, people's messages, and other events as rules across the page.

import type { RunBlock } from '../../ledger/consoleRun.ts';
import { brief, k, num } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { clockTime, exactTime } from '../times.ts';
import { blockOf, linkTo, tools, turn, wordOf, wordsOf } from './runTurn.ts';
import type { Says } from './runTurn.ts';

const ofTurn = new Set(['told', 'request', 'words', 'call', 'entry', 'hook']);

/** Groups the blocks of each turn; every other block is its own group. */
export function grouped(rows: readonly RunBlock[]): RunBlock[][] {
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

export function itemOf(says: Says, rows: readonly RunBlock[]): Html {
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

/** A rule across the page; `isBad`: it reports a failure. */
function rule({ view }: Says, row: RunBlock, says: Html, isBad: boolean): Html {
  const where = row.turn_id === null ? '' : html` · <a href="/turn/${row.turn_id}"><u>show</u></a>`;
  return html`<li class="rule${isBad ? ' hard' : ''}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}" data-row="rule"><span>${says}${where} <a class="sharp" href="${linkTo(view, row)}" aria-label="Link to this">#</a></span></li>`;
}

/** A request that was not answered: the provider's error, and a link to the request. */
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

function article({ view }: Says, row: RunBlock, who: Html, body: Html, kind = ''): Html {
  return html`<li class="turn ${kind}" id="${row.id}" data-key="${row.id}" data-mark="${row.mark}" data-row="block"><div class="at">${row.happened_at ? exactTime(row.happened_at) : ''}</div><div class="said"><p class="who">${who}</p>${body}</div>${tools(view, row, '')}</li>`;
}
