// A focus, from the claim to what follows, iteration by iteration for as long as the database lets this worker continue. Every line that
// calls `db` leaves a decision to the database; the lines between do what a database cannot: call the model, run tools.

import type { Begin, Claim, Failure, HookOrder, Step } from '../ledger/answers.ts';
import { isLeaseLost, messageOf } from '../ledger/errors.ts';
import { isConnectionLost } from '../ledger/reachable.ts';
import { lacksHook } from '../tools/hook.ts';
import { askModel } from './askModel.ts';
import type { Focus, Runtime, StopReason } from './focus.ts';
import { EarlyCalls } from './earlyCalls.ts';
import { directoryRefused } from './namedDirectory.ts';
import { runHook } from './runHook.ts';
import { runTools } from './runTools.ts';
import { tellAnswer, tellResult } from './tell.ts';
import type { Tell } from './tell.ts';

export type FocusOutcome =
  | Exclude<Claim, { kind: 'claimed' }>
  | Exclude<Begin, { kind: 'call_model' } | { kind: 'summarize' } | { kind: 'run_tools' } | HookOrder>
  | Exclude<Step, { kind: 'run_tools' } | HookOrder>
  | Failure
  | { kind: 'released' }
  | { kind: 'lost' };

/** Drives a work item, if this worker can claim it, for one or more iterations. */
export async function runFocus(workItemId: string, runtime: Runtime): Promise<FocusOutcome> {
  const askedAt = performance.now();
  const { claim, begin } = await runtime.db.focusBegin(workItemId, runtime.leases.workerId, runtime.leases.leaseSeconds);
  if (claim.kind === 'not_due' && claim.reason !== undefined) {
    runtime.log.info(
      { workItemId, reason: claim.reason, host: claim.host },
      claim.host === null ? 'item waits' : 'item goes to another host',
    );
  }
  if (claim.kind !== 'claimed') return claim;
  const held = runtime.leases.hold(claim, askedAt);
  if (claim.iteration === 1 && (runtime.waits.get(workItemId)?.startsWith('queued') ?? true))
    runtime.log.info({ workItemId, faculty: claim.faculty.name, attempt: claim.attempt }, 'item begun');
  try {
    const focus = { claim, signal: held.signal, runtime };
    const refused = await refusalOf(focus);
    const outcome =
      refused === null
        ? await drive(focus, begin)
        : await runtime.db.iterationFail(claim, { ...refused, status: null, retryAfterSeconds: null, requestId: null });
    say(workItemId, outcome, runtime);
    if (outcome.kind !== 'continued')
      void runtime
        .containers()
        ?.release(claim)
        .catch((error: unknown) => runtime.log.debug({ err: error }, 'container not released'));
    return outcome;
  } catch (error) {
    if (isLeaseLost(error)) return { kind: 'lost' };
    if (held.signal.aborted && isConnectionLost(error)) throw error; // a worker that has to stop waits no second time
    runtime.log.error({ workItemId, err: error }, 'iteration broken off');
    const outcome = await runtime.db.iterationFail(claim, {
      class: 'unknown',
      message: messageOf(error),
      status: null,
      retryAfterSeconds: null,
      requestId: null,
    });
    say(workItemId, outcome, runtime);
    return outcome;
  } finally {
    runtime.traces?.note(claim.focus_id);
    held.drop();
  }
}

/** Why this worker refuses the work altogether; null if it does not. */
async function refusalOf({ claim, runtime }: Focus): Promise<{ class: 'workspace' | 'hook'; message: string } | null> {
  const directory = await directoryRefused(claim, runtime.directories);
  if (directory !== null) return { class: 'workspace', message: directory };
  const lacks = lacksHook(claim.faculty, runtime.hooks);
  return lacks === null ? null : { class: 'hook', message: lacks };
}

/** Logs one line for the end of an item, and one for each new reason to wait. */
function say(workItemId: string, outcome: FocusOutcome, { log, waits }: Runtime): void {
  const { kind } = outcome;
  if (kind === 'parked') log.info({ workItemId, until: outcome.until }, 'item waits');
  if (kind === 'completed' || kind === 'failed' || kind === 'dead')
    log.info({ workItemId, ...(outcome.reason !== null && { reason: outcome.reason }) }, `item ${kind}`);
  if (kind !== 'queued' && kind !== 'paused' && kind !== 'retry') return void waits.delete(workItemId);
  const { reason } = outcome;
  const last = waits.get(workItemId);
  waits.set(workItemId, `${kind} ${reason}`);
  if (last !== `${kind} ${reason}`)
    log.info({ workItemId, reason }, { queued: 'attempt failed', paused: 'item paused', retry: 'item waits' }[kind]);
}

/** Runs iterations under one lease until the database gives the item to the next holder. `begun`: the first iteration, if already begun. */
async function drive(focus: Focus, begun: Begin | null): Promise<FocusOutcome> {
  const { claim, runtime } = focus;
  const since = performance.now();
  let begin = begun ?? (await runtime.db.iterationBegin(claim));
  for (let iteration = claim.iteration; ; iteration++) {
    const kept = begin.kind === 'call_model' ? begin : null;
    const outcome = await runIteration(begin, focus, (done) => {
      const seconds = runtime.leases.isEnding ? null : (performance.now() - since) / 1000;
      return runtime.db.iterationStep(claim, { iteration, seconds }, done, kept);
    });
    if (outcome.kind !== 'continued' || outcome.next === undefined) return outcome;
    runtime.traces?.note(claim.focus_id);
    begin = outcome.next;
  }
}

/** One iteration: a request, its response and its calls. Each is reported to the database, which says what follows. */
async function runIteration(begin: Begin, focus: Focus, tell: Tell): Promise<FocusOutcome> {
  const {
    claim,
    runtime: { db },
  } = focus;
  const again = async (): Promise<FocusOutcome> => runIteration(await db.iterationBegin(claim), focus, tell);
  if (begin.kind === 'run_hook') return (await hook(begin, focus)) ?? again();
  if (begin.kind === 'run_tools') return settle(begin, focus, tell);
  if (begin.kind !== 'call_model' && begin.kind !== 'summarize') return begin;

  const answer = await askModel(begin, focus);
  if (answer.kind === 'aborted') return giveBack(focus);
  if (answer.kind === 'error') return db.iterationFail(claim, answer.error);
  if (begin.kind === 'summarize') {
    await db.summaryRecord(claim, begin.turn_id, answer.response);
    return again();
  }
  const early = new EarlyCalls(answer.response, begin, focus);
  const recorded = await tellAnswer({ turnId: begin.turn_id, response: answer.response }, await early.begun(), tell);
  if (recorded.kind === 'run_tools') focus.runtime.inputs.keep([...recorded.calls, ...recorded.waiting], answer.response);
  return settle(recorded, focus, tell, early);
}

/** Runs tools and hooks as requested until something else follows. */
async function settle(
  step: Step | Extract<Begin, { kind: 'run_tools' }>,
  focus: Focus,
  tell: Tell,
  early?: EarlyCalls,
): Promise<FocusOutcome> {
  for (;;) {
    if (step.kind === 'run_tools') {
      const ran = await runTools(step.calls, focus, early);
      if (!ran.allSettled) return giveBack(focus);
      step = await tellResult(ran.last, focus, tell);
    } else if (step.kind === 'run_hook') {
      const outcome = await hook(step, focus);
      if (outcome !== null) return outcome;
      step = await tell();
    } else return step;
  }
}

/** Runs a hook that the database requested. Null: its output is recorded, and the stage that requested it is called again. */
async function hook(order: HookOrder, focus: Focus): Promise<FocusOutcome | null> {
  const {
    claim,
    runtime: { db },
  } = focus;
  const result = await runHook({ command: order.command, timeoutSeconds: order.timeout_seconds, input: order.input }, focus);
  if (result === null) return giveBack(focus);
  const recorded = await db.hookRecord(claim, order.hook_run_id, result);
  return recorded.kind === 'recorded' ? null : recorded;
}

/** Releases the iteration to another worker; a lease that is already lost need not be released. */
async function giveBack({ claim, signal, runtime }: Focus): Promise<FocusOutcome> {
  if (signal.reason === ('lost' satisfies StopReason)) return { kind: 'lost' };
  await runtime.db.iterationRelease(claim);
  return { kind: 'released' };
}
