// The arguments of a call on a page: names in one column, values in another, from the first character to the last. Each line of a value is
// a separate box next to its number: no line feed can draw a row that looks like an argument, and no combining mark can paint over another
// line.

import { literal, literalName } from '../visible.ts';
import { wholeArguments } from '../wholeArguments.ts';
import type { Argument } from '../wholeArguments.ts';
import { count, num } from './format.ts';
import { escaped, html, markup } from './html.ts';
import type { Html } from './html.ts';

/** Longer lines are broken into pieces, which a browser lays out one by one. */
const PIECE = 4000;
/** This many lines are laid out together, and only once they come near the screen. */
const TOGETHER = 100;
/** With more lines than this, numbering each would make up most of the page. */
const MOST_NUMBERED = 20_000;

/** `json`: the arguments as the ledger has them. The mark at the end shows that nothing is missing. */
export function argumentsOf(json: string): Html {
  const given = wholeArguments(json);
  return html`<div class="args" tabindex="0" role="group" aria-label="Arguments">
<dl>${given.map(one)}</dl>
<p class="end" data-end>End of ${count(given.length, 'argument')}, ${count(json.length, 'character')}</p></div>`;
}

const one = ({ name, kind, text }: Argument): Html => html`<div class="arg">
<dt>${name === null ? html`<i>all</i>` : literalName(name)} <small>${kind}</small></dt>
<dd dir="ltr" class="is-${kind.replace(' ', '-')}">${linesOf(literal(text), kind === 'diff')}</dd></div>`;

export function linesOf(text: string, isDiff: boolean): Html {
  const lines = text.split('\n');
  if (lines.length > MOST_NUMBERED) return together(lines, 10 * TOGETHER, (some) => `<span class="ln">${escaped(some.join('\n'))}</span>`);
  const isOne = lines.length === 1;
  const numberOf = (n: number): string => (isOne ? '' : ` data-n="${num(n)}"`);
  const classOf = isDiff ? diffClass : () => '';
  return together(lines, TOGETHER, (some, from) => some.map((line, i) => numbered(line, numberOf(from + i + 1), classOf(line))).join(''));
}

/** The line breaks between the boxes serve copying, and reading without styles. */
function together(lines: readonly string[], size: number, rendered: (some: string[], from: number) => string): Html {
  const groups: string[] = [];
  for (let from = 0; from < lines.length; from += size) groups.push(rendered(lines.slice(from, from + size), from));
  return markup(groups.length === 1 ? (groups[0] ?? '') : groups.map((group) => `<span class="some">${group}</span>`).join(''));
}

function numbered(line: string, number: string, className: string): string {
  const pieces = line.length <= PIECE ? [line] : (line.match(new RegExp(`.{1,${PIECE}}`, 'gsu')) ?? []);
  return pieces.map((piece, i) => `<span class="ln${className}${i === 0 ? `"${number}` : ' more"'}>${escaped(piece)}</span>\n`).join('');
}

const diffClass = (line: string): string =>
  /^(?:diff |index |\*\*\* |\+\+\+ |--- )/.test(line) ? ' file' : ({ '@': ' hunk', '+': ' add', '-': ' del' }[line.slice(0, 1)] ?? '');
