// Reads JSON lines as recorders write them: several values on one line, lines that are not JSON, an unfinished last line. Lines may have
// any length.

import { parseJson } from '../anyJson.ts';

/** The values of a line in order, the rest of the line if it is not JSON, and what is odd about the values (parseJson); null: nothing. */
export function valuesOfLine(line: string): { values: unknown[]; rest: string | null; odd: string | null } {
  let rest = line.replace(/^\uFEFF/, '').trim();
  try {
    if (rest === '') return { values: [], rest: null, odd: null };
    const { value, odd } = parseJson(rest);
    return { values: [value], rest: null, odd };
  } catch {
    // several values, or broken JSON
  }
  const values: unknown[] = [];
  let odd: string | null = null;
  while (rest !== '') {
    const end = endOfValue(rest);
    try {
      const one = parseJson(rest.slice(0, end));
      values.push(one.value);
      odd ??= one.odd;
    } catch {
      return { values, rest, odd };
    }
    rest = rest.slice(end).trimStart();
  }
  return { values, rest: null, odd };
}

/** The end of the object or array that the text begins with; the end of the text if it begins with something else or does not end. */
function endOfValue(text: string): number {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === '\\') i++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) return i + 1;
    } else if (depth === 0) return text.length;
  }
  return text.length;
}
