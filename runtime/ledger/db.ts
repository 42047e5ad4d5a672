// The ledger from TypeScript: one function for each SQL function that the runtime calls, by stage. No other folder queries a ledger in SQL,
// except that install/ creates it and move/ moves it to another server.

import { checkLedgerOn } from './checkLedger.ts';
import { configOfCalls, connect } from './connection.ts';
import { consoleCalls } from './console.ts';
import { control } from './control.ts';
import { costs } from './cost.ts';
import { entries } from './entries.ts';
import { erasure } from './erasure.ts';
import { evidence } from './evidence.ts';
import { harness } from './harness.ts';
import { iteration } from './iteration.ts';
import { journalQueries } from './journalQueries.ts';
import { lag } from './lag.ts';
import { notes } from './notes.ts';
import { openGroups } from './opened.ts';
import type { Opened } from './opened.ts';
import { overview } from './overview.ts';
import { people } from './people.ts';
import type { Calls, PoolOptions } from './pool.ts';
import { reads } from './reads.ts';
import { submit } from './submit.ts';
import { traces } from './traces.ts';
import { transcripts } from './transcripts.ts';
import { upkeep } from './upkeep.ts';

export type Db = Opened<ReturnType<typeof callsOf>>;

export type OpenOptions = PoolOptions & { maximumPoolSize?: number };

/**
 * Opens the ledger in `schema` of the database at `url`. Close it with `close()`. Throws OtherLedger if this program cannot work with it.
 */
export async function openDb(url: string, schema: string, options: OpenOptions = {}): Promise<Db> {
  const open = await connect(configOfCalls(url));
  try {
    await checkLedgerOn(open, schema);
    return await openChecked(url, schema, { ...options, open });
  } catch (error) {
    await open.end().catch(() => {});
    throw error;
  }
}

/** The same, if that has already been checked. */
export const openChecked = (url: string, schema: string, { maximumPoolSize = 10, ...options }: OpenOptions = {}): Promise<Db> =>
  openGroups(url, schema, maximumPoolSize, callsOf, options);

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
    ...transcripts(calls),
    ...upkeep(calls),
    ...costs(calls),
    ...erasure(calls),
    ...evidence(calls),
    ...people(calls),
    harness: harness(calls),
    ...notes(calls),
    journal: journalQueries(calls),
    console: consoleCalls(calls),
  };
}
