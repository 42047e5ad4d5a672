// Matches the patterns of glob and grep. A model writes them and some never finish, so they run in a thread (thread.ts).

import { matchesGlob } from 'node:path';

/** The URL by which a thread loads this module. */
export const patternsModule = import.meta.url;

const MAX_ALTERNATIVES = 1000;

export type Match = { path: string; line: number; content: string };

/** Returns the paths that match a glob pattern. A pattern without a slash matches file names in any directory, as people expect. */
export function globMatcher(pattern: string): (paths: readonly string[]) => string[] {
  const plain = pattern.replace(/^(?:\.\/)+/, '');
  const seen = undotted(plain);
  return (paths) =>
    paths.filter((path) => {
      const asked = pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1);
      return matchesGlob(asked, plain) || matchesGlob(undotted(asked), seen);
    });
}

/**
 * A path or pattern in which names no longer begin with a dot: wildcards of matchesGlob() match no hidden names, and those of the tools do.
 */
const undotted = (path: string): string => path.replace(/(?<=^|[/{,(|])\.(?!\.?(?:\/|$))/g, '\u{e000}');

/** Finds the lines of a text that match a regular expression. Throws if the expression is invalid. */
export function lineMatcher({
  pattern,
  max,
  maxLine,
}: {
  pattern: string;
  max: number;
  maxLine: number;
}): (file: { path: string; text: string }) => Match[] {
  const expression = new RegExp(pattern);
  return ({ path, text }) => {
    const found: Match[] = [];
    for (const [index, content] of text.split(/\r?\n/).entries()) {
      if (found.length >= max) break;
      if (expression.test(content)) found.push({ path, line: index + 1, content: content.slice(0, maxLine) });
    }
    return found;
  };
}

/** Why a glob pattern is rejected without trying it; null if it is not. */
export function globProblem(pattern: string): string | null {
  if (pattern.length > 10_000) return 'the glob pattern is too long: at most 10,000 characters';
  return alternatives(pattern) > MAX_ALTERNATIVES
    ? `the braces of the glob pattern stand for more than ${MAX_ALTERNATIVES} patterns: make it simpler`
    : null;
}

/** An upper bound on the number of patterns that a pattern's braces expand to. */
export function alternatives(pattern: string): number {
  // For each open brace: the number of complete alternatives, that of the alternative being read, and where its text begins.
  const open = [{ complete: 0, current: 1, start: 0 }];
  for (let at = 0; at < pattern.length; at++) {
    const innermost = open.at(-1)!;
    switch (pattern.charAt(at)) {
      case '\\':
        at++;
        break;
      case '{':
        open.push({ complete: 0, current: 1, start: at + 1 });
        break;
      case ',':
        innermost.complete += innermost.current;
        innermost.current = 1;
        break;
      case '}':
        if (open.length > 1) {
          open.pop();
          open.at(-1)!.current *=
            innermost.complete + innermost.current + steps(pattern.slice(innermost.start, Math.min(at, innermost.start + 100)));
        }
    }
  }
  return open.reduce((product, { complete, current }) => product * (complete + current), 1);
}

/** The number of values of a range such as {1..9} or {a..z..2}. */
function steps(range: string): number {
  const [, from, to, by = '1'] = /^(-?\d+|[^.])\.\.(-?\d+|[^.])(?:\.\.(-?\d+))?$/.exec(range) ?? [];
  if (from === undefined || to === undefined) return 0;
  const place = (end: string): number => (/\d/.test(end) ? Number(end) : end.charCodeAt(0));
  return Math.abs(place(to) - place(from)) / Math.max(1, Math.abs(Number(by)));
}
