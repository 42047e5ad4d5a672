// Two sessions side by side: what each has done since they diverged, and turn by turn where they differ.

import type { Branch, ComparedTurn } from '../../ledger/consoleForks.ts';
import { money } from '../../money.ts';
import { brief, count, k } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { panel } from '../page.ts';
import type { Page, View } from '../page.ts';
import { address } from './journal.ts';

export const compare: Page = {
  pattern: /^\/sessions\/compare$/,
  section: 'sessions',
  parts: {},
  inputs: {},
  async whole(view) {
    const [a, b] = [view.query.get('a') ?? '', view.query.get('b') ?? ''];
    const two = await view.db.console.compare(a, b);
    const left = two.find((one) => one.branch === 'a');
    const right = two.find((one) => one.branch === 'b');
    if (!left || !right) return null;
    const common = left.common_depth === null ? null : left.common_depth + 1;
    return {
      title: 'Two ways',
      body: html`<header class="head"><p class="crumb"><a href="/sessions">Sessions</a> / compare</p><h1>${common === null ? 'Two sessions' : `Two ways from turn ${common}`}</h1></header>
<section class="panel" aria-label="Two branches"><header><h2>${common === null ? 'They have nothing in common' : `The first ${count(common, 'turn')} are shared`}</h2><span class="quiet">what each recorded since</span></header><div class="rows compare">${side(left)}${side(right)}</div></section>
${await turnByTurn(view, a, b)}`,
    };
  },
};

const TURNS = 200;

async function turnByTurn(view: View, a: string, b: string): Promise<Html> {
  const after = /^[1-9]\d{0,8}$/.test(view.query.get('after') ?? '') ? Number(view.query.get('after')) : 0;
  const all = await view.db.console.compareTurns(a, b, after, TURNS);
  if (all.length === 0) return html``;
  const first = all.find((one) => !one.is_same);
  const rows: Html[] = [];
  for (let at = 0; at < all.length;) {
    const one = all[at] as ComparedTurn;
    const end = all.findIndex((other, n) => n > at && !other.is_same);
    if (one.is_same) {
      const next = end === -1 ? all.length : end;
      rows.push(
        html`<li class="line quiet">${next - at === 1 ? `Turn ${one.n} is the same` : `Turns ${one.n} to ${one.n + next - at - 1} are the same`}</li>`,
      );
      at = next;
    } else {
      rows.push(
        html`<li class="compare${one === first ? ' differs' : ''}"${one === first ? html` id="first-difference"` : ''}>${compared(one.n, one.a_turn_id, one.a_says, one.a_calls)}${compared(one.n, one.b_turn_id, one.b_says, one.b_calls)}</li>`,
      );
      at++;
    }
  }
  const last = all.at(-1);
  return panel(
    'Turn by turn',
    first ? html`<a class="accent" href="#first-difference">the first difference is turn ${first.n}</a>` : 'no difference',
    html`<ol class="rows">${rows}</ol>${all.length === TURNS && last ? html`<p class="newer"><a href="${address(view, { after: String(last.n) })}">later turns</a></p>` : ''}`,
  );
}

function compared(n: number, turnId: string | null, says: string | null, calls: ComparedTurn['a_calls']): Html {
  if (turnId === null) return html`<div class="cmp-turn quiet">It has no turn ${n}.</div>`;
  return html`<div class="cmp-turn"><a class="small accent" href="/turn/${turnId}">turn ${n}</a>${says === null ? '' : html`<p class="wrapped" dir="auto">${brief(says, 400)}</p>`}${(calls ?? []).map((call) => html`<p class="mono wrapped${call.is_error ? ' bad' : ''}">${call.tool} ${brief(call.input, 160)}</p>`)}</div>`;
}

function side(one: Branch): Html {
  const name = one.description ?? one.session_label;
  return html`<div><div class="cmp-head"><h3 class="strong" dir="auto">${one.work_item_id ? html`<a href="/work/${one.work_item_id}">${brief(name, 160)}</a>` : brief(name, 160)}</h3><p class="small quiet">${count(one.turns ?? 0, 'turn')} of its own · ${k(one.tokens ?? 0)} tokens${one.cost ? ` · cost ${money(one.cost)}` : ''} · ${count(one.calls ?? 0, 'call')}${one.failed_calls ? `, ${one.failed_calls} failed` : ''}${one.status ? ` · ${one.status}` : ''}</p></div>
<ol class="rows">${(one.entries ?? []).map((entry) => html`<li class="led"><span class="seq">${entry.seq}</span><div dir="auto" class="wrapped"><span class="${entry.entry_type === 'error' ? 'bad' : entry.entry_type === 'step' ? 'accent' : ''} strong">${entry.entry_type}</span> ${brief(entry.content, 600)}</div></li>`)}${(one.entries ?? []).length === 0 ? html`<li class="empty">It recorded nothing itself.</li>` : ''}</ol>
${(one.files ?? []).length > 0 ? html`<div class="cmp-files"><h4 class="small quiet">Files</h4><ul>${(one.files ?? []).slice(0, 20).map((file) => html`<li class="mono wrapped">${file.path} <span class="faint">${file.actions.join(', ')}</span></li>`)}</ul></div>` : ''}</div>`;
}
