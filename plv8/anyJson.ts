// JSON as anybody may have written it, read such that every JSON engine and Postgres can hold it: what nests too deep stands
// as its text, and no text and no key has NUL or half of a character.

import { storableText } from './storable.ts';

/** Levels of lists and objects that are read as such; no agent's record has a tenth of them. */
const MAX_DEPTH = 100;

/** Throws a SyntaxError for what is no JSON. `odd` says what does not stand there as it was written; texts are not worth a word. */
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
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => {
      const clean = storableText(key);
      isKeyOdd ||= clean !== key;
      return [clean, harmless(one)];
    }));
  };
  const clean = harmless(value);
  return { value: clean, odd: odd ?? (isKeyOdd ? 'key with NUL or half of a character' : null) };
}

/** The same JSON, with whatever nests too deep as a text of its JSON. Without recursion: engines overflow at different depths. */
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

/** Where the string that begins there ends: at a quote behind no or an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
