/** The types of entries that agents and clients append to a ledger, most sought-after first, as listed in sql/schema/012_words.sql. */
export const entryTypes = ['finding', 'decision', 'step', 'error', 'plan', 'note'] as const;
