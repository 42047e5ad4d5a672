// Code, diffs and JSON, a line at a time. Colour shows what was added and removed; syntax is not coloured: a highlighter for all languages
// is larger than the rest of the client, and would parse what agents wrote at every look.

import { literal } from '../visible.ts';
import { exactJson } from '../wholeArguments.ts';
import { linesOf } from './arguments.ts';
import { brief, num } from './format.ts';
import { escaped, html, markup } from './html.ts';
import type { Html } from './html.ts';

const MOST_LINES = 400;

export const isDiff = (text: string): boolean => /^(?:diff --git |@@ -?\d|--- \S.*\n\+\+\+ \S|\*\*\* Begin Patch)/m.test(text);

/** In a fixed-width font, with its language if that is known. */
export const codeOf = (text: string, language: string | null): Html =>
  language === 'diff' || (language === 'patch' && text !== '') || (language === null && isDiff(text))
    ? diffed(text)
    : html`<pre class="code" tabindex="0"${language ? html` data-language="${language}"` : ''}>${markup(escaped(text))}</pre>`;

const diffed = (text: string): Html =>
  html`<div class="code diffed" tabindex="0" role="group" aria-label="Difference">${linesOf(literal(text), true)}</div>`;

const languages: Record<string, string> = {
  ts: 'TypeScript',
  js: 'JavaScript',
  py: 'Python',
  rs: 'Rust',
  sh: 'shell',
  md: 'Markdown',
  yml: 'YAML',
};

/** The language of a file, by its name. */
export function languageOf(path: string): string | null {
  const ending = /\.(\w{1,8})$/.exec(path)?.[1]?.toLowerCase();
  return ending === undefined ? null : (languages[ending] ?? ending.toUpperCase());
}

/** The difference of two texts, with up to three unchanged lines around each change. */
export function differenceOf(before: string, after: string, where: string): Html {
  const [was, is] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [string[], string[]];
  let head = 0;
  while (head < Math.min(was.length, is.length) && was[head] === is[head]) head++;
  let tail = 0;
  while (tail < Math.min(was.length, is.length) - head && was.at(-1 - tail) === is.at(-1 - tail)) tail++;
  const some = (lines: readonly string[], sign: string): string[] => [
    ...lines.slice(0, MOST_LINES).map((line) => `${sign}${line}`),
    ...(lines.length > MOST_LINES ? [`@@ ${num(lines.length - MOST_LINES)} lines more @@`] : []),
  ];
  const lines = [
    `@@ ${where} @@`,
    ...some(was.slice(Math.max(0, head - 3), head), ' '),
    ...some(was.slice(head, was.length - tail), '-'),
    ...some(is.slice(head, is.length - tail), '+'),
    ...some(is.slice(is.length - tail, is.length - tail + 3), ' '),
  ];
  return diffed(lines.join('\n'));
}

const DEEPEST = 8;
const MOST_KEYS = 200;
/** A longer value is folded. */
const LONG = 240;

/** JSON by its keys, with long values folded; null: it is not JSON. */
export function jsonOf(text: string): Html | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return html`<div class="json">${valueOf(exactJson(text), 0)}</div>`;
  } catch {
    return null;
  }
}

function valueOf(value: unknown, depth: number): Html {
  if (typeof value === 'string') return textOf(value);
  if (typeof value !== 'object' || value === null || !isWalked(value, depth))
    return html`<span class="num">${brief(JSON.stringify(value), 4000)}</span>`;
  const entries = Object.entries(value);
  const some = entries.slice(0, MOST_KEYS);
  const more = entries.length - some.length;
  return html`<dl>${some.map(([key, one]) => html`<div><dt>${key}</dt><dd>${folded(one, depth + 1)}</dd></div>`)}${more > 0 ? html`<div><dt></dt><dd class="faint">${num(more)} more</dd></div>` : ''}</dl>`;
}

/** A number that keeps every digit is a JavaScript object without keys. */
const isWalked = (value: object, depth: number): boolean =>
  depth < DEEPEST && (Array.isArray(value) || Object.getPrototypeOf(value) !== null);

function folded(value: unknown, depth: number): Html {
  if (typeof value !== 'object' || value === null || !isWalked(value, depth)) return valueOf(value, depth);
  const json = JSON.stringify(value);
  if (json.length <= 60) return html`<span class="num">${json}</span>`;
  const n = Object.keys(value).length;
  return html`<details${json.length <= LONG && depth < 3 ? html` open` : ''}><summary>${Array.isArray(value) ? `${num(n)} values` : `${num(n)} keys`} <span class="faint">${brief(json, 60)}</span></summary>${valueOf(value, depth)}</details>`;
}

function textOf(value: string): Html {
  if (value.length <= LONG && !value.includes('\n')) return html`<span dir="auto">${value}</span>`;
  return html`<details><summary><span dir="auto">${brief(value, 80)}</span> <span class="faint">${num(value.length)} characters</span></summary><pre class="code" tabindex="0">${value}</pre></details>`;
}
