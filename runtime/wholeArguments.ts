// The arguments of a call as shown to the person who approves it: all of them, by name, with their values as stored. Anything cut, rounded
// or left out here would be approved unread.

export type Kind = 'text' | 'empty text' | 'shell' | 'SQL' | 'diff' | 'JSON' | 'number' | 'boolean' | 'null';

/** name is null if the arguments are not an object, or are too many or too deep to list; text then holds all of them. */
export type Argument = { name: string | null; kind: Kind; text: string };

const MOST_ARGUMENTS = 500;
const DEEPEST = 64;
/** The most that a value may grow when it is indented, as a multiple of its size. */
const MOST_SPREAD = 8;

/** `json`: the arguments as text, as the ledger stores them, so that numbers keep every digit. */
export function wholeArguments(json: string): Argument[] {
  try {
    const given = exactJson(json);
    const isDeep = depthOf(json) > DEEPEST; // indented, it would grow to many times its size
    if (!isDeep && typeof given === 'object' && given !== null && !Array.isArray(given) && !isRaw(given)) {
      const entries = Object.entries(given);
      if (entries.length <= MOST_ARGUMENTS) return entries.map(([name, value]) => argument(name, value));
    }
    return [isDeep ? { name: null, kind: 'JSON', text: json } : argument(null, given)];
  } catch {
    return [{ name: null, kind: 'JSON', text: json }]; // too deep to walk
  }
}

type ExactJson = {
  parse(json: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};
const exact = JSON as unknown as ExactJson;
const isRaw = (value: unknown): boolean => exact.isRawJSON(value);

/** The parsed JSON; a number that JavaScript would round or write differently keeps its original text. */
export const exactJson = (json: string): unknown =>
  exact.parse(json, (_, value, { source = '' }) => (typeof value === 'number' && String(value) !== source ? exact.rawJSON(source) : value));

function argument(name: string | null, value: unknown): Argument {
  if (typeof value === 'string') return { name, kind: kindOf(name ?? '', value), text: value };
  const isNumber = typeof value === 'number' || isRaw(value);
  const kind = value === null ? 'null' : typeof value === 'boolean' ? 'boolean' : isNumber ? 'number' : 'JSON';
  const compact = JSON.stringify(value);
  const indented = JSON.stringify(value, null, 2);
  return { name, kind, text: indented.length > MOST_SPREAD * compact.length ? compact : indented };
}

const isDiff = /^(?:diff --git |@@ -\d|--- \S.*\n\+\+\+ \S)/m;

function kindOf(name: string, text: string): Kind {
  if (text === '') return 'empty text';
  if (isDiff.test(text)) return 'diff';
  if (/^(?:command|cmd|script|shell|bash|sh)$/i.test(name)) return 'shell';
  return /^(?:sql|query|statement)$/i.test(name) ? 'SQL' : 'text';
}

/** The nesting depth of arrays and objects. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/gs)) {
    if (part === '[' || part === '{') deepest = Math.max(deepest, ++depth);
    else if (part === ']' || part === '}') depth--;
  }
  return deepest;
}
