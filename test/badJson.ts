// JSON that nobody should give a function, one bad place at a time.

/** Values of every kind, as JSON text. */
export const oddValues: readonly string[] = [
  'null',
  '"x"',
  '""',
  '"12x"',
  '-1',
  '2766.8',
  '0',
  '99999999999999999999',
  '1e300',
  'true',
  '[]',
  '{}',
  '[1]',
  '{"a": 1}',
  '[null]',
  '"infinity"',
];

/** A JSON value with each of its values, down to the fourth level, replaced by each of `odd` or left out. */
export function variants(value: unknown, odd: readonly string[], depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  const found: string[] = [];
  const entries = Object.entries(value);
  const withValue = (key: string, raw: string): string => {
    const parts = entries.map(([k, v]) => [k, k === key ? raw : JSON.stringify(v)] as const);
    return Array.isArray(value)
      ? `[${parts.map(([, v]) => v).join(',')}]`
      : `{${parts.map(([k, v]) => `${JSON.stringify(k)}:${v}`).join(',')}}`;
  };
  for (const [key, inner] of entries) {
    for (const raw of odd) found.push(withValue(key, raw));
    if (!Array.isArray(value)) found.push(JSON.stringify(Object.fromEntries(entries.filter(([k]) => k !== key))));
    for (const raw of variants(inner, odd, depth + 1)) found.push(withValue(key, raw));
  }
  return found;
}
