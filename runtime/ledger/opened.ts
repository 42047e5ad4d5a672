// An open ledger: groups of its functions that share connections.

import { openPool } from './pool.ts';
import type { Calls, Person, PoolOptions } from './pool.ts';

type Pool = Awaited<ReturnType<typeof openPool>>;
export type Opened<Groups> = Groups &
  Pick<Pool, 'ask' | 'warm' | 'close'> & {
    schema: string;
    /** The same, with each call made in the name of a person, whom the ledger verifies. */
    as(person: Person): Opened<Groups>;
  };

/** Opens the ledger in `schema` of the database at `url`, which must be one that this program can work with. Close it with `close()`. */
export async function openGroups<Groups extends object>(
  url: string,
  schema: string,
  maximumPoolSize: number,
  groupsOf: (calls: Calls) => Groups,
  options: PoolOptions = {},
): Promise<Opened<Groups>> {
  const { calls, callsAs, ...pool } = await openPool(url, schema, maximumPoolSize, options);
  const by = (used: Calls): Opened<Groups> => ({
    ...pool,
    schema,
    as: (person) => by(callsAs(person)),
    ...groupsOf(used),
  });
  return by(calls);
}

/** The same connections for somebody else's calls: who is lent them cannot close them. */
export const lent = <Groups>(opened: Opened<Groups>): Opened<Groups> => ({
  ...opened,
  close: async () => {},
  as: (person) => lent(opened.as(person)),
});
