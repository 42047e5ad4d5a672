// A ledger that is open: groups of its functions by the same connections.

import { openPool } from './pool.ts';
import type { Calls, Person, PoolOptions } from './pool.ts';

type Pool = Awaited<ReturnType<typeof openPool>>;
export type Opened<Groups> = Groups &
  Pick<Pool, 'ask' | 'warm' | 'close'> & {
    schema: string;
    /** The same, each call in the name of a person, whom the ledger verifies. */
    as(person: Person): Opened<Groups>;
  };

/** Opens the ledger in `schema` of the database at `url`, which this program can work with. Close it with `close()`. */
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
