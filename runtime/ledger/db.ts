// The ledger from TypeScript: one function for each SQL function that the runtime calls, by stage. No other folder queries a
// ledger in SQL; install/ creates it, move/ takes it to another server.

import { checkLedger } from './checkLedger.ts';
import { consoleCalls } from './console.ts';
import { control } from './control.ts';
import { costs } from './cost.ts';
import { entries } from './entries.ts';
import { erasure } from './erasure.ts';
import { evidence } from './evidence.ts';
import { iteration } from './iteration.ts';
import { journalQueries } from './journalQueries.ts';
import { lag } from './lag.ts';
import { overview } from './overview.ts';
import { people } from './people.ts';
import { openPool } from './pool.ts';
import type { Calls, Person } from './pool.ts';
import { reads } from './reads.ts';
import { submit } from './submit.ts';
import { traces } from './traces.ts';
import { upkeep } from './upkeep.ts';

type Pool = Awaited<ReturnType<typeof openPool>>;
export type Db = ReturnType<typeof callsOf> &
  Pick<Pool, 'pool' | 'warm'> & {
    schema: string;
    /** The same, each call in the name of a person, whom the ledger verifies. */
    as(person: Person): Db;
    close(): Promise<void>;
  };

/**
 * Opens the ledger in `schema` of the database at `url`. Close it with `close()`. Throws OtherLedger if this program cannot work with what
 * is there.
 */
export async function openDb(url: string, schema: string, options: { maximumPoolSize?: number } = {}): Promise<Db> {
  await checkLedger(url, schema);
  return openChecked(url, schema, options);
}

/** The same where that has been checked. */
export async function openChecked(url: string, schema: string, options: { maximumPoolSize?: number } = {}): Promise<Db> {
  const { pool, calls, callsAs, warm } = await openPool(url, schema, options.maximumPoolSize ?? 10);
  const by = (used: Calls): Db => ({ pool, schema, warm, close: () => pool.end(), as: (person) => by(callsAs(person)), ...callsOf(used) });
  return by(calls);
}

function callsOf(calls: Calls) {
  return {
    ...submit(calls),
    ...iteration(calls),
    ...control(calls),
    ...entries(calls),
    ...reads(calls),
    ...overview(calls),
    ...lag(calls),
    ...traces(calls),
    ...upkeep(calls),
    ...costs(calls),
    ...erasure(calls),
    ...evidence(calls),
    ...people(calls),
    journal: journalQueries(calls),
    console: consoleCalls(calls),
  };
}
