// Text and JSON such as Postgres, every JSON engine and the API of a model can hold: U+0000 stands as ␀ (U+2400), half of a
// character as U+FFFD. The only place that decides what stands for them; _storable() in SQL decides alike.

export function storableText(text: string): string {
  return /[\0\ud800-\udfff]/.test(text) ? text.replaceAll('\0', '\u2400').replaceAll(/\p{Surrogate}/gu, '\ufffd') : text;
}

/** A value as JSON whose texts and keys are storable; null for what JSON does not have. Throws a RangeError for what nests too deep. */
export function storableJson(value: unknown): string | null {
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') return storableText(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || Object.keys(inner).every((key) => storableText(key) === key)) return inner;
    // fromEntries defines properties, so that a key `__proto__` stays a key.
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [storableText(key), one as unknown]));
  }) as string | undefined;
  return json ?? null;
}
