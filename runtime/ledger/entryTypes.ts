/**
 * The types of entries that agents and clients append to a ledger, those that readers look for first: the words of
 * sql/schema/012_words.sql.
 */
export const entryTypes = ['finding', 'decision', 'step', 'error', 'plan', 'note'] as const;
