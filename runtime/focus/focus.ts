// What the stages of an iteration pass on as one value: the right to write, the signal that ends it, and the worker's means.

import type { Logger } from 'pino';

import type { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import type { Claimed } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import type { ModelAddress } from '../model/facultyModels.ts';
import type { ModelClient } from '../model/message.ts';
import type { Hook } from '../tools/hook.ts';
import type { HostHeaders, Tool } from '../tools/tool.ts';
import type { Containers } from './containers.ts';
import type { StatedInputs } from './statedInputs.ts';
import type { Watchers } from './watchers.ts';

/** One iteration of a focus; `signal` fires with a StopReason when work has to stop. */
export type Focus = { claim: Claimed; signal: AbortSignal; runtime: Runtime };

/** How a call ended here. waiting: for a person, or behind a call that does. left: open, because work has to stop. */
export type CallEnd = 'settled' | 'waiting' | 'left';

/** Why work on a focus has to stop: its lease is lost, or this process is asked to end. */
export type StopReason = 'lost' | 'stopping';

/** A lease that is kept alive until `drop()`. */
export type Held = { signal: AbortSignal; drop(): void };

/** What a worker shares among all foci that it drives. */
export type Runtime = {
  db: Db;
  /** Identifies this worker, and keeps the leases of this process alive. */
  leases: { readonly workerId: string; readonly leaseSeconds: number; readonly isEnding: boolean; hold(claim: Claimed): Held };
  watchers: Watchers;
  inputs: StatedInputs;
  /** The client for the models of a faculty. */
  modelFor(engage: ModelAddress): ModelClient;
  tools: ReadonlyMap<string, Tool>;
  /** The functions that faculties may name as hooks. */
  hooks: ReadonlyMap<string, Hook>;
  log: Logger;
  /** The last reason to wait of each item that was logged. */
  waits: Map<string, string>;
  /** The directories of this host that the worker serves, whoever names them. */
  directories: ServedDirectories;
  /** None on a worker without Docker. */
  containers?: Containers;
  /** Additional headers that web_fetch sends to a host; see config.ts. */
  webFetchHeaders?: HostHeaders;
  /** Told of each focus of which something has ended; it never waits and never throws. */
  traces?: { note(focusId: string): void };
  /** Text of the model as it arrives, for watchers. */
  onDelta?: (workItemId: string, text: string) => void;
};
