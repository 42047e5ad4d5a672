// The tool calls of one response, side by side: each begins, runs and settles on its own, and a result is stored as
// soon as it is there. A tool that is a SQL function runs in the transaction that stores its result; these keep the
// order in which the model asked for them, so that a plan comes before the step that follows it.

import { z } from 'zod';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import type { Claimed, OpenCall } from '../db.ts';
import { isUnstorable } from '../errors.ts';
import { failed } from '../tools/tool.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import type { Runtime } from './runFocus.ts';
import { executeCode, runCode } from './runCode.ts';
import { runHook } from './runHook.ts';
import { operatorPlace, workspaceOf } from './workspaceOf.ts';

/** Runs the calls, at most as many at once as the faculty allows. False where some were left open because work has to stop. */
export async function runTools(calls: readonly OpenCall[], claim: Claimed, signal: AbortSignal, runtime: Runtime): Promise<boolean> {
  const { parallel_tool_execution: isParallel, max_parallel_tools: max } = claim.faculty.engage;
  let allSettled = true;
  const lane = async (queue: OpenCall[]): Promise<void> => {
    for (let call = queue.shift(); call; call = queue.shift()) {
      if (!(await runCall(call, claim, signal, runtime))) allSettled = false;
    }
  };
  const inDatabase = isParallel ? calls.filter((call) => call.implementation !== 'runtime') : [];
  const elsewhere = calls.filter((call) => !inDatabase.includes(call));
  const width = isParallel ? Math.min(max, elsewhere.length) : 1;
  const lanes = [lane(inDatabase), ...Array.from({ length: width }, () => lane(elsewhere))];
  // Every lane ends before the first failure is passed on: nothing may run on behind a stage that is over.
  const ends = await Promise.allSettled(lanes);
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken) throw broken.reason;
  return allSettled;
}

/** What the database cannot take of one call, its answer above all, ends that call and not the iteration. */
async function runCall(call: OpenCall, claim: Claimed, signal: AbortSignal, runtime: Runtime, isFromCode = false): Promise<boolean> {
  try {
    return await attempt(call, claim, signal, runtime, isFromCode);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await runtime.db.toolCallSettle(claim, call.id, failed(`[engine] The call or its result cannot be stored: ${messageOf(error)}. It may have been done; look before you go on.`));
    return true;
  }
}

async function attempt(call: OpenCall, claim: Claimed, signal: AbortSignal, runtime: Runtime, isFromCode: boolean): Promise<boolean> {
  const { db } = runtime;
  if (signal.aborted) return false;
  const prepared = prepare(call, runtime);
  if (prepared.kind === 'refused') {
    await db.toolCallSettle(claim, call.id, prepared.outcome);
    return true;
  }
  const { before_tool: before, after_tool: after, timeout } = claim.faculty.hooks;
  if (before !== null && call.implementation !== 'engine' && !call.is_cleared) {
    const said = await runHook(before, timeout, hookInput('before_tool', call, claim), operatorPlace(claim), signal);
    if (said === null) return false;
    const verdict = await db.toolHookRecord(claim, call.id, 'before_tool', said, null);
    return verdict.kind === 'go' ? runCall({ ...call, input: verdict.input, is_cleared: true }, claim, signal, runtime, isFromCode) : true;
  }
  if (prepared.kind === 'code') return runCode(call, claim, signal, runtime, (nested, until) => runCall(nested, claim, until, runtime, true));
  if (prepared.kind === 'database') {
    await db.toolCallExecute(claim, call.id);
    return true;
  }
  await db.toolCallBegin(claim, call.id);
  const outcome = await execute(prepared.run, contextOf(call, claim, signal, runtime, isFromCode));
  // Cut short: what can run again is left to the next worker; what cannot is reported as it ended.
  if (signal.aborted && prepared.isRepeatable) return false;
  if (after === null) {
    await db.toolCallSettle(claim, call.id, outcome);
    return true;
  }
  const said = await runHook(after, timeout, { ...hookInput('after_tool', call, claim), result: { content: outcome.content, is_error: outcome.isError } }, operatorPlace(claim), signal);
  if (said !== null) await db.toolHookRecord(claim, call.id, 'after_tool', said, outcome);
  else if (prepared.isRepeatable) return false;
  else await db.toolCallSettle(claim, call.id, failed('[engine] The call ran. Its result is withheld: its worker had to stop before the after_tool hook had seen it.'));
  return true;
}

const hookInput = (hook: string, call: OpenCall, claim: Claimed): Record<string, unknown> =>
  ({ hook, work_item_id: claim.work_item_id, faculty: claim.faculty.name, tool_call_id: call.id, tool: call.name, input: call.input });

type Prepared =
  | { kind: 'refused'; outcome: ToolOutcome }
  | { kind: 'database' }
  | { kind: 'code' }
  | { kind: 'runtime'; run: (context: ToolContext) => Promise<ToolOutcome>; isRepeatable: boolean };

function prepare(call: OpenCall, runtime: Runtime): Prepared {
  if (call.name === executeCode.name) return { kind: 'code' };
  if (call.implementation !== 'runtime') {
    const problem = refusal(schemaErrors(call.input_schema, call.input), call);
    return problem ? { kind: 'refused', outcome: problem } : { kind: 'database' };
  }
  const tool = runtime.tools.get(call.name);
  if (!tool) return { kind: 'refused', outcome: failed(`[engine] This worker does not have the tool "${call.name}".`) };
  const { data: input, error } = tool.input.safeParse(call.input);
  const problem = refusal(error ? [z.prettifyError(error)] : [], call);
  if (problem) return { kind: 'refused', outcome: problem };
  return { kind: 'runtime', run: (context) => tool.execute(input, context), isRepeatable: tool.effect !== 'unsafe' };
}

function refusal(errors: readonly string[], call: OpenCall): ToolOutcome | null {
  return errors.length === 0 ? null : failed(`[engine] The input does not match the schema of ${call.name}:\n${errors.join('\n')}`);
}

async function execute(run: (context: ToolContext) => Promise<ToolOutcome>, context: ToolContext): Promise<ToolOutcome> {
  try {
    return await run(context);
  } catch (error) {
    return failed(`[engine] The tool failed: ${messageOf(error)}`);
  }
}

function contextOf(call: OpenCall, claim: Claimed, signal: AbortSignal, runtime: Runtime, isFromCode: boolean): ToolContext {
  return {
    workspace: workspaceOf(claim, runtime),
    webFetchAllow: claim.faculty.engage.web_fetch_allow,
    workItemId: claim.work_item_id,
    toolCallId: call.id,
    isFromCode,
    signal,
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
