// JSON lines as recorders leave them behind: several values run together on one line, lines that are no JSON, a last
// line that was not finished. No line is too long.

export type JsonLines = { values: unknown[]; broken: { line: number; text: string }[] };

/** The values of a file in order, and the lines (from 1) that could not be read whole, with what was left of them. */
export function parseJsonLines(text: string): JsonLines {
  const values: unknown[] = [];
  const broken: JsonLines['broken'] = [];
  text.replace(/^\uFEFF/, '').split('\n').forEach((line, index) => {
    let rest = line.trim();
    while (rest !== '') {
      const end = endOfValue(rest);
      try {
        values.push(JSON.parse(rest.slice(0, end)));
      } catch {
        broken.push({ line: index + 1, text: rest });
        return;
      }
      rest = rest.slice(end).trimStart();
    }
  });
  return { values, broken };
}

/** Where the object or array that the text begins with ends; the end of the text where it begins with something else or does not end. */
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
