// Runs the tool calls of one response in parallel: each begins, runs and settles separately, and a result is stored as soon as it arrives.
// The database decides which call must wait for which. Calls that touch the same thing keep the order in which the model made them, and so
// do tools that are SQL functions, which run in the transaction that stores their result.

import { z } from 'zod';

import type { OpenCall } from '../ledger/answers.ts';
import { isUnstorable } from '../ledger/errors.ts';
import type { CallResult } from '../ledger/iteration.ts';
import { failed } from '../tools/tool.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { EarlyCalls } from './earlyCalls.ts';
import type { CallEnd, Focus } from './focus.ts';
import { runCode } from './runCode.ts';
import { runHook } from './runHook.ts';
import { contextOf, execute, prepare } from './runTool.ts';
import { unstorable } from './tell.ts';

/** What the calls of an iteration share. `keep` accepts the result of the last call; if it returns false, the result must be stored now. */
type Batch = Focus & { ends: CallEnds; early: EarlyCalls | undefined; keep: (call: OpenCall, outcome: ToolOutcome) => boolean };

/**
 * Runs the calls, at most as many at a time as the faculty allows. allSettled is false if some were left open because work must stop.
 * last is the one result that is not stored yet, if no other call waits for it.
 */
export async function runTools(
  calls: readonly OpenCall[],
  focus: Focus,
  early?: EarlyCalls,
): Promise<{ allSettled: boolean; last: CallResult | null }> {
  const waiting = new Set(calls);
  const underWay = new Map<OpenCall, Promise<void>>();
  let allSettled = true;
  let last: CallResult | null = null;
  const failures: unknown[] = [];
  const keep = (call: OpenCall, outcome: ToolOutcome): boolean => {
    if (!allSettled || failures.length > 0 || waiting.size > 0 || underWay.size > 1) return false;
    last = { id: call.id, outcome };
    return true;
  };
  const batch: Batch = { ...focus, ends: new CallEnds(), early, keep };
  const run = async (call: OpenCall): Promise<void> => {
    try {
      if (!(await runCall(call, batch))) allSettled = false;
    } catch (error) {
      failures.push(error);
      waiting.clear();
    } finally {
      underWay.delete(call);
    }
  };
  const isNext = (call: OpenCall): boolean =>
    ![...waiting, ...underWay.keys()].some(({ id }) => call.behind.includes(id)) &&
    (call.implementation !== 'runtime' ||
      [...underWay.keys()].filter(({ implementation }) => implementation === 'runtime').length <
        focus.claim.faculty.engage.max_parallel_tools);
  while (underWay.size > 0 || waiting.size > 0) {
    for (const call of waiting) {
      if (!isNext(call)) continue;
      waiting.delete(call);
      underWay.set(call, run(call));
    }
    await Promise.race(underWay.values());
  }
  // Every call that began has ended before the first failure is thrown, so that nothing still runs after the stage has ended.
  if (failures.length > 0) throw failures[0];
  return { allSettled, last };
}

/** Tracks how the calls of an iteration ended, for the calls that wait for them. */
class CallEnds {
  readonly #ends = new Map<string, PromiseWithResolvers<boolean>>();

  note(id: string, isSettled: boolean): void {
    this.#of(id).resolve(isSettled);
  }

  /** Waits until all of these calls have ended. False if one was left open. */
  async allSettled(ids: readonly string[]): Promise<boolean> {
    return (await Promise.all(ids.map((id) => this.#of(id).promise))).every(Boolean);
  }

  #of(id: string): PromiseWithResolvers<boolean> {
    let end = this.#ends.get(id);
    if (!end) this.#ends.set(id, (end = Promise.withResolvers()));
    return end;
  }
}

/**
 * If the database cannot store part of a call, usually its result, the call fails rather than the iteration. False if it was left open.
 */
async function runCall(call: OpenCall, batch: Batch, isFromCode = false): Promise<boolean> {
  let end: CallEnd = 'left';
  try {
    end = await runStages(call, batch, isFromCode);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await batch.runtime.db.toolCallSettle(batch.claim, call.id, unstorable(error));
    end = 'settled';
  } finally {
    if (end === 'settled') batch.runtime.inputs.forget(call.id);
    batch.ends.note(call.id, end !== 'left');
  }
  return end !== 'left';
}

async function runStages(stored: OpenCall, batch: Batch, isFromCode: boolean): Promise<CallEnd> {
  const {
    claim,
    signal,
    runtime,
    runtime: { db },
  } = batch;
  if (signal.aborted) return 'left';
  const stated = runtime.inputs.of(stored);
  if ('refusal' in stated) {
    await db.toolCallSettle(claim, stored.id, stated.refusal);
    return 'settled';
  }
  const { call } = stated;
  const prepared = await prepare(call, batch);
  if (prepared.kind === 'left') return 'left';
  if (prepared.kind === 'refused') {
    await db.toolCallSettle(claim, call.id, prepared.outcome);
    return 'settled';
  }
  const { before_tool: before, after_tool: after, timeout } = claim.faculty.hooks;
  if (before !== null && call.implementation !== 'engine' && !call.is_cleared) {
    const said = await runHook({ command: before, timeoutSeconds: timeout, input: hookInput('before_tool', call, batch) }, batch);
    if (said === null) return 'left';
    const verdict = await db.toolHookRecord(claim, call.id, 'before_tool', said, null);
    // The row holds the hook's input with secrets removed, as it does the model's.
    if (verdict.kind !== 'settled' && verdict.is_rewritten)
      runtime.inputs.keepOne({ ...stored, input: verdict.input }, saidInput(said.stdout));
    return verdict.kind === 'go' ? runStages({ ...stored, input: verdict.input, is_cleared: true }, batch, isFromCode) : verdict.kind;
  }
  if (prepared.kind === 'code') return runCode(call, batch, (nested, until) => runCall(nested, { ...batch, signal: until }, true));
  if (prepared.kind === 'database') {
    const turn = await inTurn(call, () => db.toolCallExecute(claim, call.id), batch);
    return turn === 'come' ? 'settled' : turn;
  }
  const turn = call.is_begun ? 'come' : await inTurn(call, () => db.toolCallBegin(claim, call.id), batch);
  if (turn !== 'come') return turn;
  const outcome = await ((isFromCode ? undefined : batch.early?.of(call)) ?? execute(prepared.run, contextOf(call, batch, isFromCode)));
  // After an interruption, a call that can run again is left to the next worker; one that cannot is reported as it ended.
  if (outcome === null || (signal.aborted && prepared.isRepeatable)) return 'left';
  if (after === null) {
    if (isFromCode || !batch.keep(call, outcome)) await db.toolCallSettle(claim, call.id, outcome);
    return 'settled';
  }
  const input = { ...hookInput('after_tool', call, batch), result: { content: outcome.content, is_error: outcome.isError } };
  const said = await runHook({ command: after, timeoutSeconds: timeout, input }, batch);
  if (said !== null) await db.toolHookRecord(claim, call.id, 'after_tool', said, outcome);
  else if (prepared.isRepeatable) return 'left';
  else
    await db.toolCallSettle(
      claim,
      call.id,
      failed('[engine] The call ran. Its result is withheld: its worker had to stop before the after_tool hook saw it.'),
    );
  return 'settled';
}

/**
 * Asks the database, for a call of code or one whose input a hook changed, until it need not wait, each time after the calls before it
 * have ended. left: one of those was left open. waiting: one of those waits for approval, so this iteration cannot wait for it.
 */
async function inTurn(call: OpenCall, ask: () => Promise<string[]>, { ends }: Batch): Promise<'come' | 'left' | 'waiting'> {
  for (;;) {
    const behind = await ask();
    if (behind.length === 0) return 'come';
    if (behind.includes(call.id)) return 'waiting';
    if (!(await ends.allSettled(behind))) return 'left';
  }
}

/** The input that a hook gave a call, in its own words. */
const saidInput = (stdout: string): unknown => z.object({ input: z.unknown() }).parse(JSON.parse(stdout)).input;

const hookInput = (hook: string, call: OpenCall, { claim }: Focus): Record<string, unknown> => ({
  hook,
  work_item_id: claim.work_item_id,
  faculty: claim.faculty.name,
  tool_call_id: call.id,
  tool: call.name,
  input: call.input,
});
