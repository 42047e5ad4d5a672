// Extracts parts of what models write: fenced code with its language and file, and the files that prose names.

import { lexer } from 'marked';
import type { Token } from 'marked';

export type CodeBlock = { idx: number; language: string | null; content: string; filePath: string | null };
export type FileReference = { filePath: string; lineStart: number | null; lineEnd: number | null };

const pathIn = /(?:^|[\s:"'(=`])((?:\.{1,2}\/|\/)?(?:[\w.@-]+\/)*[\w@-]+(?:\.[\w-]+)*\.[A-Za-z][\w]{0,9})(?::(\d+)(?:-(\d+))?)?/;

/** The code blocks in order; indented ones have no language. */
export function codeBlocks(text: string): CodeBlock[] {
  const found: CodeBlock[] = [];
  walk(lexer(text), (token) => {
    if (token.type !== 'code') return;
    const info = typeof token['lang'] === 'string' ? token['lang'] : '';
    const [language = ''] = info.split(/[\s:{,]/, 1);
    const rest = info.slice(language.length);
    found.push({
      idx: found.length,
      language: language === '' ? null : language,
      content: String(token['text']),
      filePath: pathIn.exec(rest)?.[1] ?? null,
    });
  });
  return found;
}

/** The files named in text and inline code, with their line numbers, each once; names inside code blocks do not count. */
export function fileReferences(text: string): FileReference[] {
  const found = new Map<string, FileReference>();
  walk(lexer(text), (token) => {
    if (token.type !== 'text' && token.type !== 'codespan') return;
    if ('tokens' in token && Array.isArray(token.tokens)) return; // its parts are visited too
    const everywhere = new RegExp(pathIn.source, 'g');
    for (const [, filePath = '', start, end] of String(token['text']).matchAll(everywhere)) {
      const reference = {
        filePath,
        lineStart: start === undefined ? null : Number(start),
        lineEnd: end === undefined ? (start === undefined ? null : Number(start)) : Number(end),
      };
      found.set(JSON.stringify(reference), reference);
    }
  });
  return [...found.values()];
}

function walk(tokens: readonly Token[], visit: (token: Token & Record<string, unknown>) => void): void {
  for (const token of tokens) {
    visit(token as Token & Record<string, unknown>);
    const {
      tokens: inner,
      items,
      header,
      rows,
    } = token as unknown as { tokens?: Token[]; items?: Token[]; header?: { tokens: Token[] }[]; rows?: { tokens: Token[] }[][] };
    if (inner) walk(inner, visit);
    if (items) walk(items, visit);
    for (const cell of [...(header ?? []), ...(rows ?? []).flat()]) walk(cell.tokens, visit);
  }
}
