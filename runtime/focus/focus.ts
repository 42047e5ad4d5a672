// The value that the stages of an iteration pass on: the right to write, the signal that ends it, and what the worker provides.

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

/** One iteration of a focus; `signal` fires with a StopReason when work must stop. */
export type Focus = { claim: Claimed; signal: AbortSignal; runtime: Runtime };

/** How a call ended here. waiting: for a person, or behind a call that waits for one. left: still open, because work must stop. */
export type CallEnd = 'settled' | 'waiting' | 'left';

/** Why work on a focus must stop: its lease is lost, or this process was asked to end. */
export type StopReason = 'lost' | 'stopping';

/** A lease that is kept alive until `drop()`. */
export type Held = { signal: AbortSignal; drop(): void };

/** What a worker shares among all the foci that it drives. */
export type Runtime = {
  db: Db;
  /** Identifies this worker and keeps this process's leases alive. */
  leases: {
    readonly workerId: string;
    readonly leaseSeconds: number;
    readonly isEnding: boolean;
    hold(claim: Claimed, askedAt: number): Held;
  };
  watchers: Watchers;
  inputs: StatedInputs;
  /** The model client for a faculty. */
  modelFor(engage: ModelAddress): ModelClient;
  tools: ReadonlyMap<string, Tool>;
  /** The functions that faculties may name as hooks. */
  hooks: ReadonlyMap<string, Hook>;
  log: Logger;
  /** For each item, the last reason to wait that was logged. */
  waits: Map<string, string>;
  /** The directories of this host that the worker serves, regardless of who names them. */
  directories: ServedDirectories;
  /** Null while no Docker daemon is known to this worker. */
  containers(): Containers | null;
  /** Additional headers that web_fetch sends, by host; see config.ts. */
  webFetchHeaders?: HostHeaders;
  /** Called for each focus in which something has ended; it never waits and never throws. */
  traces?: { note(focusId: string): void };
  /** Called with the model's text as it arrives. */
  onDelta?: (workItemId: string, text: string) => void;
};
