// The queries of short commands that only show work. It has only these of the groups in db.ts, so that such commands load nothing else.

import { lag } from './lag.ts';
import { openGroups } from './opened.ts';
import type { Opened } from './opened.ts';
import { overview } from './overview.ts';
import type { Calls, PoolOptions } from './pool.ts';
import { reads } from './reads.ts';

export type Looking = Opened<ReturnType<typeof callsOf>>;

export const openLooking = (url: string, schema: string, maximumPoolSize: number, options: PoolOptions = {}): Promise<Looking> =>
  openGroups(url, schema, maximumPoolSize, callsOf, options);

const callsOf = (calls: Calls) => ({ ...reads(calls), ...overview(calls), ...lag(calls) });
