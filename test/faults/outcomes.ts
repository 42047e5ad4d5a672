// What a ledger holds when all is over, asked past the program.

import type pg from 'pg';

import { withConnection } from '../../runtime/ledger/connection.ts';

type Ledger = { url: string; schema: string };

const rowsOf = <Row extends pg.QueryResultRow>({ url, schema }: Ledger, query: string): Promise<Row[]> =>
  withConnection({ connectionString: url }, async (client) => {
    await client.query(`set search_path to ${client.escapeIdentifier(schema)}`);
    return (await client.query<Row>(query)).rows;
  });

/** How every call of a tool ended. */
export const callOutcomes = (ledger: Ledger) =>
  rowsOf<{ id: string; tool: string; status: string }>(ledger, 'select id, tool_name as tool, status from tool_calls');

export const entryContents = async (ledger: Ledger): Promise<string[]> =>
  (await rowsOf<{ content: string }>(ledger, 'select content from work_ledger')).map(({ content }) => content);

/** Every work item that workers drive, and how often its model has answered. */
export const itemOutcomes = (ledger: Ledger) =>
  rowsOf<{ id: string; state: string; reason: string | null; iterations: number }>(
    ledger,
    `
  select w.id, w.state, w.state_reason as reason, (select count(*) from turns t where t.work_item_id = w.id and t.status = 'completed')::integer as iterations
    from work_items w where w.work_type <> 'journal'`,
  );
