// JSON from any writer, read so that every JSON engine and Postgres can store it: values that are nested too deep become
// their text, and no text and no key has NUL or a lone surrogate.

import { storableText } from './storable.ts';

/** Levels of lists and objects that are read as such; agents' records have less than a tenth of that. */
const MAX_DEPTH = 100;

/** Throws a SyntaxError for anything but JSON. `odd` says what was not read as written, except changed texts. */
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
    // fromEntries defines properties, so that a key `__proto__` stays a key.
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
 * The same JSON, with values that are nested too deep as the text of their JSON. Without recursion: engines overflow at different depths.
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

/** The end of the string that begins at `start`: a quote after no or an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
