// Parses JSON from any writer so that every JSON engine and Postgres can store it: values that are nested too deeply become text, and no
// text or key contains NUL or a lone surrogate.

import { storableText } from './storable.ts';

/** Levels of lists and objects that are parsed; agents' records have less than a tenth of that. */
const MAX_DEPTH = 100;

/** Throws a SyntaxError if the text is not JSON. `odd` says what was not read as written, apart from changed texts. */
export function parseJson(text: string): { value: unknown; odd: string | null } {
  const shallow = withoutDepth(text);
  const value: unknown = JSON.parse(shallow);
  const odd = shallow === text ? null : `value nested deeper than ${MAX_DEPTH} levels`;
  if (!/\\u(?:0000|[dD][89a-fA-F])/.test(shallow)) return { value, odd };
  let isKeyOdd = false;
  const harmless = (inner: unknown): unknown => {
    if (typeof inner === 'string') return storableText(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(harmless);
    // fromEntries defines properties, so a key `__proto__` stays an ordinary key.
    return Object.fromEntries(
      Object.entries(inner).map(([key, one]) => {
        const clean = storableText(key);
        isKeyOdd ||= clean !== key;
        return [clean, harmless(one)];
      }),
    );
  };
  const clean = harmless(value);
  return { value: clean, odd: odd ?? (isKeyOdd ? 'key with NUL or half of a character' : null) };
}

/**
 * The same JSON, in which values that are nested too deeply are replaced by their JSON as text. Not recursive, because engines overflow at
 * different depths.
 */
function withoutDepth(text: string): string {
  const parts: string[] = [];
  let [depth, start, kept] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x22) i = endOfString(text, i);
    else if (character === 0x7b || character === 0x5b) {
      if (++depth === MAX_DEPTH + 1) start = i;
    } else if (character === 0x7d || character === 0x5d) {
      if (depth-- !== MAX_DEPTH + 1) continue;
      parts.push(text.slice(kept, start), JSON.stringify(text.slice(start, i + 1)));
      kept = i + 1;
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(kept);
}

/** The end of the string that begins at `start`: a quote preceded by no backslash or an even number of them. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
