// Verifies that the ledger is as it was written, and reads the ends of its chains, to be kept elsewhere.

import { z } from 'zod';

import { withConnection } from './connection.ts';
import { translate } from './pool.ts';
import type { Calls } from './pool.ts';

/** The ends of a work item's chains; see ledger_head(). */
export type Head = z.infer<typeof head>;
export const head = z.object({
  work_item_id: z.guid(),
  ledger_count: z.number(),
  ledger_link: z.string().nullable(),
  seal_count: z.number(),
  seal_link: z.string().nullable(),
});

/** `work_item_id` null: the ledger itself. */
export type Problem = z.infer<typeof problem>;
const problem = z.object({ work_item_id: z.string().nullable(), place: z.string(), problem: z.string() });

export const evidence = ({ rows }: Calls) => ({
  /** `workItemId` null: all work items. */
  ledgerHead: (workItemId: string | null) => rows('ledger_head', [workItemId], head),

  /** Differences from what was written; `heads`: chain ends that were kept elsewhere. */
  ledgerVerify: (workItemId: string | null, heads: readonly Head[] | null) =>
    rows('ledger_verify', [workItemId, heads === null ? null : JSON.stringify(heads)], problem),
});

/** The same, with progress after each work item, on a separate connection. */
export const verifyAloud = (
  url: string,
  schema: string,
  { workItemId, heads }: { workItemId: string | null; heads: readonly Head[] | null },
  onItem: (done: number, all: number) => void,
): Promise<Problem[]> =>
  withConnection({ connectionString: url }, async (client) => {
    client.on('notice', ({ message = '' }) => {
      const [, done, all] = /^verified (\d+) of (\d+)$/.exec(message) ?? [];
      if (done !== undefined) onItem(Number(done), Number(all));
    });
    try {
      await client.query('begin read only; set local client_min_messages = debug1');
      const { rows } = await client.query(`select * from ${client.escapeIdentifier(schema)}.ledger_verify($1, $2)`, [
        workItemId,
        heads === null ? null : JSON.stringify(heads),
      ]);
      await client.query('rollback');
      return z.array(problem).parse(rows);
    } catch (error) {
      throw translate(error);
    }
  });
