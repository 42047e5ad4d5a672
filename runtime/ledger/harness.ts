// The functions called by the hooks of a harness, by name and position; see harness/hooks.ts. A single connection can provide them as well.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Argument } from './oneConnection.ts';
import type { Calls } from './pool.ts';

const row = z.record(z.string(), z.unknown());

export function harness(calls: Calls) {
  const rows = (name: string, ...args: Argument[]): Promise<readonly z.output<typeof row>[]> =>
    calls.rows(
      name,
      args.map((value) => (typeof value === 'object' && value !== null ? sql.array(value, 'text') : value)),
      row,
    );
  return {
    rows,
    text: async (name: string, column: string, ...args: Argument[]): Promise<string> => {
      const value = (await rows(name, ...args))[0]?.[column];
      if (typeof value !== 'string') throw new Error(`${name}() of the ledger returned no text`);
      return value;
    },
  };
}
