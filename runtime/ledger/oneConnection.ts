// Calls the SQL functions on one open connection, for programs that must answer quickly: no pool, no row schemas, no repetition.

import type pg from 'pg';

import { storableText } from '../../plv8/storable.ts';
import { withoutKnown } from '../secrets/known.ts';

type Row = Record<string, unknown>;
/** An argument of a function of the ledger. */
export type Argument = string | number | null | readonly string[];
export type OneConnection = ReturnType<typeof oneConnection>;

const storable = <T extends string | number>(value: T): T | string =>
  typeof value === 'string' ? withoutKnown(storableText(value)) : value;

/** Calls functions of the ledger in `schema`, by position. The types of a function's parameters decide how a text is parsed. */
export function oneConnection(client: pg.Client, schema: string) {
  const rows = async (name: string, ...args: Argument[]): Promise<Row[]> => {
    const given = args.map((_, n) => `$${n + 1}`).join(', ');
    const values = args.map((value) => (typeof value === 'object' ? (value?.map(storable) ?? null) : storable(value)));
    return (await client.query<Row>(`select * from ${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}(${given})`, values))
      .rows;
  };
  return {
    /** The rows that a function returns. */
    rows,
    /** The text that it returns, or that this column of the first row contains. */
    text: async (name: string, column: string, ...args: Argument[]): Promise<string> => {
      const value = (await rows(name, ...args))[0]?.[column];
      if (typeof value !== 'string') throw new Error(`${name}() of the ledger returned no text`);
      return value;
    },
  };
}
