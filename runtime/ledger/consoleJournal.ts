// The console's queries about an item's journal.

import { sql } from 'slonik';
import { z } from 'zod';

import { json } from './answers.ts';
import { number, text } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

export const journalRow = z.object({
  position: z.string(),
  id: text,
  source_id: text,
  entry_type: text,
  importance: text,
  created_at: text,
  content: json.nullable(),
  token_estimate: number,
});
export type JournalRow = z.infer<typeof journalRow>;
const MOST_COUNTED = 2000;
export function consoleJournal({ rows, run, named }: Calls) {
  return {
    journalPage: (
      workItemId: string,
      filter: { before: string | null; types: readonly string[] | null; importance: readonly string[] | null; query: string | null },
      limit: number,
    ) =>
      rows(
        'journal_page',
        [
          workItemId,
          filter.before,
          limit,
          filter.types && sql.array(filter.types, 'text'),
          filter.importance && sql.array(filter.importance, 'text'),
          filter.query,
        ],
        journalRow,
      ),

    /** How many entries of each type the journal has; null: too many to count. */
    journalCounts: async (workItemId: string) => {
      const counts = await run(
        () => sql.type(z.object({ entry_type: z.string(), n: z.number() }))`
        select entry_type, count(*)::int as n from (select entry_type from ${named('work_journal')} where work_item_id = ${workItemId}::uuid limit ${MOST_COUNTED + 1}) j group by 1`,
      );
      return counts.reduce((all, { n }) => all + n, 0) > MOST_COUNTED ? null : new Map(counts.map(({ entry_type, n }) => [entry_type, n]));
    },

    logged: async (entryId: string) =>
      (
        await run(
          () => sql.type(z.object({ id: z.string(), is_deleted: z.boolean() }))`
      select entry_id as id, is_deleted from ${named('v_journal_logged')} where entry_id = ${entryId}::uuid`,
        )
      )[0] ?? null,
  };
}
