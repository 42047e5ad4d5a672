// What goes through the stages of an iteration as one value: the right to write, what ends it, and what it is done with.

import type { Logger } from 'pino';

import type { Claimed } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import type { Lease } from '../ledger/iteration.ts';
import type { ModelClient } from '../model/message.ts';
import type { HostHeaders, Tool } from '../tools/tool.ts';
import type { Containers } from './containers.ts';
import type { Watchers } from './watchers.ts';

/** One iteration of a focus; `signal` fires with a StopReason when work has to stop. */
export type Focus = { claim: Claimed; signal: AbortSignal; runtime: Runtime };

/** Why work on a focus has to stop: it is somebody else's or nobody's now, or this process is asked to end. */
export type StopReason = 'lost' | 'stopping';

/** A lease that is kept alive until `drop()`. */
export type Held = { signal: AbortSignal; drop(): void };

/** What a worker has for all that it drives. */
export type Runtime = {
  db: Db;
  /** Who drives, and keeps the leases of this process alive. */
  leases: { readonly workerId: string; readonly leaseSeconds: number; hold(lease: Lease): Held };
  watchers: Watchers;
  model: ModelClient;
  tools: ReadonlyMap<string, Tool>;
  log: Logger;
  /** None on a worker without Docker. */
  containers?: Containers;
  /** What web_fetch sends to a host besides; see config.ts. */
  webFetchHeaders?: HostHeaders;
  /** Text of the model as it arrives, for whoever watches. */
  onDelta?: (workItemId: string, text: string) => void;
};
