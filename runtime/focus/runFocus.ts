// One iteration of one focus, from the claim to what follows. The database decides at every line that says `db`;
// the lines between do what a database cannot: ask the model, run tools.

import type { Logger } from 'pino';

import type { Begin, Claim, Claimed, Failure, Finish, HookOrder } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { isLeaseLost, messageOf } from '../ledger/errors.ts';
import type { Leases } from '../worker/leases.ts';
import type { HostHeaders, Tool } from '../tools/tool.ts';
import { askModel } from './askModel.ts';
import type { ModelClient } from '../model/message.ts';
import type { Containers } from './containers.ts';
import { runHook } from './runHook.ts';
import { runTools } from './runTools.ts';
import type { Watchers } from './watchers.ts';
import { checkPlace, operatorPlace } from './workspaceOf.ts';

export type Runtime = {
  db: Db;
  leases: Leases;
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

export type FocusOutcome =
  | Exclude<Claim, { kind: 'claimed' }>
  | Exclude<Begin, { kind: 'call_model' } | { kind: 'summarize' } | { kind: 'run_tools' } | HookOrder>
  | Exclude<Finish, HookOrder>
  | Failure
  | { kind: 'released' }
  | { kind: 'lost' };

/** Drives a work item by one iteration if it is this worker's to drive. */
export async function runFocus(workItemId: string, runtime: Runtime): Promise<FocusOutcome> {
  const claim = await runtime.db.focusClaim(workItemId, runtime.leases.workerId, runtime.leases.leaseSeconds);
  if (claim.kind !== 'claimed') return claim;
  const held = runtime.leases.hold(claim);
  try {
    const outcome = await runIteration(claim, held.signal, runtime);
    if (outcome.kind !== 'continued') void runtime.containers?.release(claim).catch((error: unknown) => runtime.log.debug({ err: error }, 'container not released'));
    return outcome;
  } catch (error) {
    if (isLeaseLost(error)) return { kind: 'lost' };
    runtime.log.error({ workItemId, err: error }, 'iteration broken off');
    const message = messageOf(error);
    return await runtime.db.iterationFail(claim, { class: 'unknown', message, status: null, retryAfterSeconds: null, requestId: null });
  } finally {
    held.drop();
  }
}

async function runIteration(claim: Claimed, signal: AbortSignal, runtime: Runtime): Promise<FocusOutcome> {
  const { db } = runtime;
  const begin = await db.iterationBegin(claim);
  if (begin.kind === 'summarize') {
    const answer = await askModel(begin, claim, signal, runtime);
    if (answer.kind === 'aborted') return giveBack(claim, signal, db);
    if (answer.kind === 'error') return db.iterationFail(claim, answer.error);
    await db.summaryRecord(claim, begin.turn_id, answer.response);
    return runIteration(claim, signal, runtime);
  }
  if (begin.kind === 'run_hook') return (await hook(begin, claim, signal, runtime)) ?? runIteration(claim, signal, runtime);
  if (begin.kind !== 'call_model' && begin.kind !== 'run_tools') return begin;

  let calls = begin.kind === 'run_tools' ? begin.calls : [];
  if (begin.kind === 'call_model') {
    const answer = await askModel(begin, claim, signal, runtime);
    if (answer.kind === 'aborted') return giveBack(claim, signal, db);
    if (answer.kind === 'error') return db.iterationFail(claim, answer.error);
    calls = await db.turnRecord(claim, begin.turn_id, answer.response);
  }

  const allSettled = await runTools(calls, claim, signal, runtime);
  if (!allSettled) return giveBack(claim, signal, db);
  for (;;) {
    const finish = await db.iterationFinish(claim);
    if (finish.kind !== 'run_hook') return finish;
    const outcome = await hook(finish, claim, signal, runtime);
    if (outcome !== null) return outcome;
  }
}

/** Runs a command that the database asked for. Null: it is recorded, and the stage that asked comes once more. */
async function hook(order: HookOrder, claim: Claimed, signal: AbortSignal, runtime: Runtime): Promise<FocusOutcome | null> {
  const { db } = runtime;
  const place = order.input['hook'] === 'check' ? checkPlace(claim, runtime) : operatorPlace(claim);
  const result = await runHook(order.command, order.timeout_seconds, order.input, place, signal);
  if (result === null) return giveBack(claim, signal, db);
  const recorded = await db.hookRecord(claim, order.hook_run_id, result);
  return recorded.kind === 'recorded' ? null : recorded;
}

/** Leaves the iteration to another worker; a lease that is lost already needs no giving back. */
async function giveBack(claim: Claimed, signal: AbortSignal, db: Db): Promise<FocusOutcome> {
  if (signal.reason === 'lost') return { kind: 'lost' };
  await db.iterationRelease(claim);
  return { kind: 'released' };
}
