// README, CONTRIBUTING and the pages of docs/, taken apart: code blocks, code within sentences, headings, links.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

export type Block = {
  page: string;
  /** Of its first line. */
  line: number;
  language: string;
  code: string;
  /** The block of text right behind it: what it prints. Null: none. */
  output: string[] | null;
  /** Why it is not run, as the comment `<!-- not run: … -->` before it says; null: it is run. */
  notRun: string | null;
};
export type Page = { path: string; text: string; blocks: Block[]; codes: string[] };

/** README and CONTRIBUTING, and all of docs/ but the references, which are generated and have signatures only. */
export const pages: Page[] = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root }).toSorted()]
  .filter((path) => !['docs/sql.md', 'docs/typescript-reference.md'].includes(path))
  .map(pageAt);

function pageAt(path: string): Page {
  const text = readFileSync(`${root}${path}`, 'utf8');
  const blocks = [...text.matchAll(/(?:<!-- not run: (.+) -->\n+)?^```(.*)\n([^]*?)^```$/gm)].map(
    ({ 0: whole, 1: notRun = null, 2: language = '', 3: code = '', index }): Block => ({
      page: path,
      language,
      code,
      notRun,
      output: /^\n\n```text\n([^]*?)\n```\n/.exec(text.slice(index + whole.length))?.[1]?.split('\n') ?? null,
      line: text.slice(0, text.indexOf('```', index)).split('\n').length + 1,
    }),
  );
  const prose = text.replaceAll(/^```.*\n[^]*?^```$/gm, '');
  return { path, text, blocks, codes: [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code) };
}

export const blocksOf = (language: string): Block[] => pages.flatMap(({ blocks }) => blocks).filter((block) => block.language === language);
export const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(text: string): string[] {
  const headings = text.replaceAll(/^```.*\n[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

export type Command = { words: string; output: string[] };

/**
 * The commands of a shell block, one a line, of which the first prints the text behind the block; in a console block they follow `$ `, and
 * their output follows them.
 */
export function commandsOf({ language, code, output }: Block): Command[] {
  const lines = code.trimEnd().split('\n');
  if (language === 'sh') return lines.map((line, i) => ({ words: withoutComment(line), output: i === 0 ? (output ?? []) : [] }));
  const commands: Command[] = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) commands.push({ words: line.slice(2), output: [] });
    else commands.at(-1)?.output.push(line);
  }
  return commands;
}

const withoutComment = (line: string): string => line.replace(/\s+# .*$/, '').trim();

/** A command's words as a shell takes them, without assignments before, `&` behind and where its output goes. */
export function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  return words.slice(first).filter((word, i, all) => !['&', '>'].includes(word) && all[i - 1] !== '>');
}

/** The statements of a block of SQL. */
export function statementsOf(code: string): string[] {
  const tokens = code.match(/\$\$[^]*?\$\$|'(?:[^']|'')*'|--[^\n]*|;|[^;'$-]+|[^]/g) ?? [];
  const statements = [''];
  for (const token of tokens) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--')) statements[statements.length - 1] += token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
