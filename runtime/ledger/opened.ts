// A ledger that is open: groups of its functions by one pool.

import { openPool } from './pool.ts';
import type { Calls, Person } from './pool.ts';

type Pool = Awaited<ReturnType<typeof openPool>>;
export type Opened<Groups> = Groups &
  Pick<Pool, 'pool' | 'warm'> & {
    schema: string;
    /** The same, each call in the name of a person, whom the ledger verifies. */
    as(person: Person): Opened<Groups>;
    close(): Promise<void>;
  };

/** Opens the ledger in `schema` of the database at `url`, which this program can work with. Close it with `close()`. */
export async function openGroups<Groups extends object>(
  url: string,
  schema: string,
  maximumPoolSize: number,
  groupsOf: (calls: Calls) => Groups,
  options: { holdsProcess?: boolean; patienceMs?: number } = {},
): Promise<Opened<Groups>> {
  const { pool, calls, callsAs, warm } = await openPool(url, schema, maximumPoolSize, options);
  const by = (used: Calls): Opened<Groups> => ({
    pool,
    schema,
    warm,
    close: () => pool.end(),
    as: (person) => by(callsAs(person)),
    ...groupsOf(used),
  });
  return by(calls);
}
