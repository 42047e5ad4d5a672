// Converts a page to readable text: the main content first; headings, lists, tables and code kept; links with their targets; navigation
// last.
// Runs in a thread (thread.ts). Takes time linear in the size of the page: it uses only the tokenizer of htmlparser2, because the parser's
// list of open elements takes time quadratic in their depth.

import { Tokenizer } from 'htmlparser2';

/** The URL by which a thread loads this module. */
export const pageModule = import.meta.url;

export type PageSettings = { isHtml: boolean; prompt: string | null; maxChars: number };

/** Converts a page to what the model is shown. If it asked something, the passages about that come first. */
export function pageReader({ isHtml, prompt, maxChars }: PageSettings): (page: string) => { text: string; isCut: boolean } {
  return (page) => {
    const text = isHtml ? textOfHtml(page) : page;
    const passages = prompt === null || text.length < MIN_CHARS_TO_SEARCH ? null : passagesOn(prompt, text);
    const head =
      passages === null
        ? ''
        : passages === ''
          ? '[no passage contains words of the question]\n\n'
          : `[what speaks of it]\n${passages}\n\n[the page]\n`;
    return { text: head + text.slice(0, maxChars), isCut: text.length > maxChars };
  };
}

/** Elements skipped with everything inside, provided that they are closed. */
const skipped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'noembed',
  'noframes',
  'object',
  'canvas',
  'audio',
  'video',
  'button',
  'select',
]);
/** Elements that can appear inside a skipped one only if that was not closed. */
const endsSkipping = new Set(['p', 'section', 'article', 'main', 'ul', 'ol', 'table', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
/** Elements that stand on separate lines, with the number of line breaks around them. */
const breaksAround = new Map<string, number>([
  ...[
    'div',
    'li',
    'tr',
    'dt',
    'dd',
    'summary',
    'figcaption',
    'option',
    'header',
    'footer',
    'form',
    'fieldset',
    'address',
    'caption',
    'thead',
    'tbody',
    'body',
    'hr',
  ].map((name) => [name, 1] as const),
  ...[
    'p',
    'section',
    'article',
    'main',
    'nav',
    'aside',
    'table',
    'ul',
    'ol',
    'dl',
    'pre',
    'blockquote',
    'figure',
    'details',
    'title',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
  ].map((name) => [name, 2] as const),
]);
const MAX_ATTRIBUTE = 2000;

/** Returns the text of an HTML page. */
export function textOfHtml(html: string): string {
  const title = new Writer();
  const main = new Writer();
  const around = new Writer();
  const navigation = new Writer();
  // The nesting depth within each of these elements.
  const inside: Record<string, number> = { title: 0, nav: 0, main: 0 };
  let tag = '';
  let attribute = '';
  let attributes: Record<string, string> = {};
  let skip = { name: '', depth: 0 };
  const writer = (): Writer => (inside['title']! > 0 ? title : inside['nav']! > 0 ? navigation : inside['main']! > 0 ? main : around);

  const opened = (isClosed: boolean): void => {
    if (skip.depth > 0) {
      if (tag === skip.name && !isClosed) skip.depth++;
      else if (['svg', 'button', 'select'].includes(skip.name) && endsSkipping.has(tag)) skip.depth = 0;
      if (skip.depth > 0) return;
    }
    if (skipped.has(tag)) {
      if (!isClosed) skip = { name: tag, depth: 1 };
      return;
    }
    if (Object.hasOwn(inside, tag) && !isClosed) inside[tag]!++;
    writer().open(tag, attributes);
  };
  const closed = (name: string): void => {
    if (skip.depth > 0) {
      if (name === skip.name) skip.depth--;
      return;
    }
    writer().close(name);
    if (Object.hasOwn(inside, name)) inside[name] = Math.max(0, inside[name]! - 1);
  };
  const text = (words: string): void => {
    if (skip.depth === 0) writer().say(words);
  };
  const value = (part: string): void => {
    if ((attribute === 'href' || attribute === 'alt') && (attributes[attribute]?.length ?? 0) < MAX_ATTRIBUTE)
      attributes[attribute] = (attributes[attribute] ?? '') + part.slice(0, MAX_ATTRIBUTE);
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => {
        tag = html.slice(start, end).toLowerCase();
        attributes = {};
      },
      onopentagend: () => opened(false),
      onselfclosingtag: () => opened(true),
      onclosetag: (start, end) => closed(html.slice(start, end).toLowerCase()),
      onattribname: (start, end) => {
        attribute = html.slice(start, Math.min(end, start + 10)).toLowerCase();
      },
      onattribdata: (start, end) => value(html.slice(start, Math.min(end, start + MAX_ATTRIBUTE))),
      onattribentity: (codePoint) => value(String.fromCodePoint(codePoint)),
      onattribend: () => {},
      ontext: (start, end) => text(html.slice(start, end)),
      ontextentity: (codePoint) => text(String.fromCodePoint(codePoint)),
      oncdata: () => {},
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  const parts =
    main.text() === ''
      ? [title.text(), around.text(), behind('navigation', navigation.text())]
      : [title.text(), main.text(), behind('around it', around.text()), behind('navigation', navigation.text())];
  return parts.filter((part) => part !== '').join('\n\n');
}

const behind = (name: string, text: string): string => (text === '' ? '' : `[${name}]\n${text}`);

/** Text with its line breaks. White space counts only where it is preserved (pre). */
class Writer {
  readonly #parts: string[] = [];
  /** Line breaks, and the marker of the line, to write before the next words; none at the beginning. */
  #breaks = 0;
  #marker = '';
  #isSpaced = false;
  #preformatted = 0;
  #lists: { isOrdered: boolean; count: number }[] = [];
  #cells = 0;
  #link: { href: string; at: number } | null = null;

  say(words: string): void {
    const isKept = this.#preformatted > 0;
    const plain = words.replaceAll('\u00a0', ' ');
    const said = isKept ? plain : plain.replace(/[ \t\r\n\f]+/g, ' ').trim();
    if (said === '' || said === '¶') {
      this.#isSpaced ||= words !== '';
      return;
    }
    if (this.#breaks > 0 || this.#parts.length === 0)
      this.#parts.push('\n'.repeat(this.#parts.length === 0 ? 0 : this.#breaks), this.#marker);
    else if (!isKept && (this.#isSpaced || /^[ \t\r\n\f]/.test(plain))) this.#parts.push(' ');
    this.#breaks = 0;
    this.#marker = '';
    this.#parts.push(isKept && this.#parts.at(-1) === '' ? said.replace(/^\r?\n/, '') : said);
    this.#isSpaced = !isKept && /[ \t\r\n\f]$/.test(plain);
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#around(name);
    if (/^h[1-6]$/.test(name)) this.#marker = `${'#'.repeat(Number(name[1]))} `;
    else if (name === 'title') this.#marker = '# ';
    else if (name === 'br') this.#breaks = Math.min(2, this.#breaks + 1);
    else if (name === 'pre') this.#preformatted++;
    else if (name === 'blockquote') this.#marker = '> ';
    else if ((name === 'ul' || name === 'ol') && this.#lists.length < 20) this.#lists.push({ isOrdered: name === 'ol', count: 0 });
    else if (name === 'li') this.#item();
    else if (name === 'tr') this.#cells = 0;
    else if (name === 'td' || name === 'th') this.#cell();
    else if (name === 'img' && attributes['alt']?.trim()) this.say(` [image: ${attributes['alt'].trim().slice(0, 300)}] `);
    else if (name === 'a') {
      this.#endLink();
      this.#link = { href: (attributes['href'] ?? '').trim(), at: this.#parts.length };
    }
  }

  close(name: string): void {
    if (name === 'a') this.#endLink();
    if (name === 'pre') {
      this.#preformatted = Math.max(0, this.#preformatted - 1);
      this.#parts.push(this.#parts.pop()?.trimEnd() ?? '');
    }
    if (name === 'ul' || name === 'ol') this.#lists.pop();
    if (breaksAround.has(name) && (this.#marker.startsWith('#') || this.#marker === '> ')) this.#marker = ''; // it was empty
    this.#around(name);
  }

  text(): string {
    return this.#parts
      .join('')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trim();
  }

  #around(name: string): void {
    const breaks = breaksAround.get(name);
    if (breaks === undefined) return;
    // No blank lines around nested lists.
    this.#breaks = Math.max(this.#breaks, this.#lists.length > 0 ? 1 : breaks);
    this.#isSpaced = false;
  }

  #item(): void {
    const list = this.#lists.at(-1);
    this.#marker = '  '.repeat(Math.max(0, this.#lists.length - 1)) + (list?.isOrdered ? `${++list.count}. ` : '- ');
  }

  #cell(): void {
    if (this.#cells++ > 0 && this.#breaks === 0) this.#parts.push(' |');
    this.#isSpaced = true;
  }

  /** Writes the target after the link's words, unless there are no words or the link leads to the same page. */
  #endLink(): void {
    if (this.#link === null) return;
    const { href, at } = this.#link;
    this.#link = null;
    if (
      this.#parts.length === at ||
      this.#preformatted > 0 ||
      href === '' ||
      /^(#|javascript:|data:)/i.test(href) ||
      this.#parts.at(-1) === href
    )
      return;
    this.#parts.push(` (${href})`);
  }
}

const MIN_CHARS_TO_SEARCH = 4000;
const MAX_PASSAGES_CHARS = 6000;
const commonWords = new Set(
  'and are but can did does for from had has have how into its not off one our out she that the their them then there these they this those was were what when where which who whom why will with would you your about all also any page tell find show list give get use'.split(
    ' ',
  ),
);

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).map((word) => word.replace(/(?<=...)(?:es|s|ing|ed)$/, ''));

/** The passages of a text that share the most words, and the rarest, with a question, in the order of the text. */
export function passagesOn(question: string, text: string): string {
  const asked = new Set(
    (
      question
        .slice(0, 2000)
        .toLowerCase()
        .match(/[\p{L}\p{N}]{3,}/gu) ?? []
    )
      .filter((word) => !commonWords.has(word))
      .flatMap(wordsOf),
  );
  const passages = passagesOf(text).map((passage) => ({ passage, found: new Set(wordsOf(passage).filter((word) => asked.has(word))) }));
  const count = (word: string): number => passages.filter(({ found }) => found.has(word)).length;
  const weights = new Map([...asked].map((word) => [word, Math.log(1 + passages.length / (1 + count(word)))]));
  const scored = passages.map(({ passage, found }, n) => ({
    passage,
    n,
    score: [...found].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0),
  }));
  const chosen: typeof scored = [];
  let room = MAX_PASSAGES_CHARS;
  for (const one of scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score || a.n - b.n)) {
    if (chosen.length >= 12 || room < 200) break;
    chosen.push({ ...one, passage: one.passage.slice(0, room) });
    room -= one.passage.length;
  }
  return chosen
    .toSorted((a, b) => a.n - b.n)
    .map(({ passage }) => passage)
    .join('\n\n');
}

/** The blocks of text between blank lines; a heading belongs to the passage that follows it. */
function passagesOf(text: string): string[] {
  const passages: string[] = [];
  let headings = '';
  for (const passage of text.split('\n\n').filter((one) => one.trim() !== '')) {
    if (/^#{1,6} /.test(passage) && !passage.includes('\n')) headings += `${passage}\n\n`;
    else {
      passages.push(headings + passage);
      headings = '';
    }
  }
  return headings === '' ? passages : [...passages, headings.trim()];
}
