// The values that this process knows to be secret. They are removed from everything before it is sent to a database or logged. Imports
// little, because every command opens a ledger.

import { mark, withoutForms } from './forms.ts';

/** Where secrets were found; a label of the metric work.redactions. */
export type Place = 'known_value' | 'log' | 'model_error' | 'web_fetch' | 'answer';

/** The spellings of all values, longest first. */
let spellings: string[] = [];
let counting: (place: Place, secrets: number) => void = (place, secrets) => void counted.set(place, (counted.get(place) ?? 0) + secrets);
const counted = new Map<Place, number>();

/** From now on the value is removed wherever it occurs. A word or a short number is ignored: it could not be told apart from text. */
export function keepSecret(value: string | null | undefined): void {
  const secret = value?.trim() ?? '';
  if (secret.length < 6 || /^(?:[A-Za-z]{1,15}|\d{1,7})$/.test(secret)) return;
  spellings = [...new Set([...spellings, ...spellingsOf(secret)])].toSorted((a, b) => b.length - a.length);
}

function spellingsOf(secret: string): string[] {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  const [once, twice] = [escaped(secret), escaped(escaped(secret))]; // JSON within JSON: the output of a hook, the answer of a tool
  return [secret, once, twice, escaped(twice), encodeURIComponent(secret), ...base64Of(secret)];
}

/**
 * The base64 spellings of a value, alone or within a longer text (HTTP Basic: user:value), where what precedes it shifts its bits by zero,
 * one or two bytes. Characters that it shares with its surroundings are left out; at its end they are also included, for when nothing
 * follows. A short value has none, because so few characters could be anything.
 */
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value);
  if (bytes.length < 8) return [];
  const written = [0, 1, 2].flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const begin = Math.ceil((before * 8) / 6);
    return [base64.slice(begin), base64.slice(begin, Math.floor(((before + bytes.length) * 8) / 6))];
  });
  return [...written, ...written.map((base64) => base64.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** For what goes to a database: a text, or JSON, which stays valid. The model's thinking is left as it is, because it is signed. */
export function withoutKnown(text: string): string {
  const isThere = spellings.some((secret) => text.includes(secret));
  if (!isThere) return text;
  const isThought = /^[[{]/.test(text) && /"type":"(?:redacted_)?thinking"/.test(text);
  return isThought ? withoutThoughts(text) : without(text, 'known_value', spellings);
}

/** The first characters of a text that is stored. Its secrets are removed before it is cut, because half of one is not recognised. */
export const headOf = (text: string, length: number): string => uncut(text, length).slice(0, length);

/** The last characters of a text that is stored, cut in the same way. */
export const tailOf = (text: string, length: number): string => uncut(text, length).slice(-length);

const uncut = (text: string, length: number): string => (text.length > length ? withoutForms(withoutKnown(text)).text : text);

/** For what is shown to a person or a program and is stored in no database. */
export function withoutSecrets(text: string, place: Place): string {
  const { text: redacted, found } = withoutForms(without(text, place, spellings));
  if (found > 0) counting(place, found);
  return redacted;
}

/** The text without the given values. */
export const withoutValues = (text: string, values: readonly string[], place: Place): string =>
  without(
    text,
    place,
    values.toSorted((a, b) => b.length - a.length),
  );

/**
 * A text that is still arriving, without known values and without an end that may be the beginning of one. The text will be checked again,
 * so nothing is counted.
 */
export function withoutKnownSoFar(arriving: string): string {
  const text = spellings.reduce((left, secret) => left.replaceAll(secret, mark), arriving);
  let end = text.length;
  for (const secret of spellings) {
    for (let length = Math.min(secret.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(secret.slice(0, length))) {
        end = Math.min(end, text.length - length);
        break;
      }
    }
  }
  return text.slice(0, end);
}

/** Sets the function that counts; what was found before is counted at once. */
export function countWith(count: (place: Place, secrets: number) => void): void {
  for (const [place, secrets] of counted) count(place, secrets);
  counted.clear();
  counting = count;
}

function without(text: string, place: Place, secrets: readonly string[]): string {
  let found = 0;
  let redacted = text;
  for (const secret of secrets) {
    if (redacted.includes(secret)) redacted = redacted.replaceAll(secret, () => (found++, mark));
  }
  if (found > 0) counting(place, found);
  return redacted;
}

/** Keeps numbers as they are written. */
const raw = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

function withoutThoughts(json: string): string {
  const parsed = raw.parse(json, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? raw.rawJSON(source) : value,
  );
  const walked = (value: unknown): unknown => {
    if (typeof value === 'string') return without(value, 'known_value', spellings);
    if (Array.isArray(value)) return value.map(walked);
    if (typeof value !== 'object' || value === null || raw.isRawJSON(value)) return value;
    if ('type' in value && (value.type === 'thinking' || value.type === 'redacted_thinking')) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [without(key, 'known_value', spellings), walked(inner)]));
  };
  return JSON.stringify(walked(parsed));
}
