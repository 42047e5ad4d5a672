// Makes text and JSON acceptable to Postgres, every JSON engine and the model's API: U+0000 becomes ␀ (U+2400), a lone surrogate U+FFFD.
// The only place in TypeScript that determines the replacements; _storable() in SQL applies the same ones.

export function storableText(text: string): string {
  return /[\0\ud800-\udfff]/.test(text) ? text.replaceAll('\0', '\u2400').replaceAll(/\p{Surrogate}/gu, '\ufffd') : text;
}

/** A value as JSON whose texts and keys are storable; null if JSON cannot express it. Throws a RangeError if it is nested too deeply. */
export function storableJson(value: unknown): string | null {
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') return storableText(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || Object.keys(inner).every((key) => storableText(key) === key))
      return inner;
    // fromEntries defines properties, so a key `__proto__` stays an ordinary key.
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [storableText(key), one as unknown]));
  }) as string | undefined;
  return json ?? null;
}
