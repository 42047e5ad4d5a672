// Text from agents and people as Markdown. marked parses it; HTML in it stays text, images are named and never fetched, and links lead to
// web addresses only, with the address shown next to them.

import { Marked } from 'marked';
import type { Tokens } from 'marked';

import { visible } from '../visible.ts';
import { codeOf } from './code.ts';
import { escaped, markup } from './html.ts';
import type { Html } from './html.ts';

/** Longer text is shown unformatted. */
const MOST = 100_000;

const isWeb = /^(?:https?:\/\/|mailto:)[^\s"'<>]+$/i;

const reader = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    heading(this: { parser: { parseInline(tokens: Tokens.Heading['tokens']): string } }, { tokens }) {
      return `<p class="heading">${this.parser.parseInline(tokens)}</p>`;
    },
    code: ({ text, lang }) => String(codeOf(text, lang ?? null)),
    image: ({ href, text }) => `<span class="faint">[image: ${escaped(text)} ${escaped(href)}]</span>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    link(this: { parser: { parseInline(tokens: Tokens.Link['tokens']): string } }, { href, tokens, text }) {
      const says = this.parser.parseInline(tokens);
      if (!isWeb.test(href)) return `${says} <span class="faint">(${escaped(href)})</span>`;
      const beside = text === href ? '' : ` <span class="faint">(${escaped(href)})</span>`;
      return `<a class="accent out" href="${escaped(href)}" rel="noopener noreferrer nofollow">${says}</a>${beside}`;
    },
    table({ header, rows }) {
      const row = (cells: Tokens.TableCell[], tag: string): string =>
        `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
      return `<div class="wide" tabindex="0"><table><thead>${row(header, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`;
    },
  },
});

export function markdown(text: string): Html {
  if (text.length > MOST) return markup(`<pre class="fence" tabindex="0">${escaped(text)}</pre>`);
  return markup(`<div class="md" dir="auto">${reader.parse(visible(text), { async: false })}</div>`);
}
