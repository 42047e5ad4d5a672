// Runs one tool of this worker: checks whether it may run with the given input, passes it its context, and turns its result into an
// outcome. A failure is an outcome too.

import { z } from 'zod';

import { isObject } from '../../plv8/isObject.ts';
import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { atFailpoints } from '../failpoint.ts';
import type { OpenCall } from '../ledger/answers.ts';
import { messageOf } from '../ledger/errors.ts';
import { failed } from '../tools/tool.ts';
import { untilLeft } from '../untilLeft.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import type { Focus, Runtime } from './focus.ts';
import { executeCode } from './runCode.ts';
import { ledgerOf } from './toolLedger.ts';
import { workspaceOf } from './workspaceOf.ts';

type Prepared =
  | { kind: 'refused'; outcome: ToolOutcome }
  | { kind: 'database' }
  | { kind: 'code' }
  | { kind: 'runtime'; run: (context: ToolContext) => Promise<ToolOutcome>; isRepeatable: boolean };

export function prepare(call: OpenCall, runtime: Runtime): Prepared {
  if (call.name === executeCode.name) return { kind: 'code' };
  if (call.implementation !== 'runtime') {
    const problem = refusal(schemaErrors(call.input_schema, call.input), call);
    return problem ? { kind: 'refused', outcome: problem } : { kind: 'database' };
  }
  return prepareTool(call, runtime);
}

function prepareTool(call: Pick<OpenCall, 'name' | 'input'>, runtime: Runtime): Exclude<Prepared, { kind: 'database' | 'code' }> {
  const tool = runtime.tools.get(call.name);
  if (!tool) return { kind: 'refused', outcome: failed(`[engine] This worker does not have the tool "${call.name}".`) };
  const { data: input, error } = tool.input.safeParse(call.input);
  const problem = refusal(error ? [z.prettifyError(error)] : [], call);
  if (problem) return { kind: 'refused', outcome: problem };
  return { kind: 'runtime', run: (context) => tool.execute(input, context), isRepeatable: tool.effect !== 'unsafe' };
}

function refusal(errors: readonly string[], call: Pick<OpenCall, 'name'>): ToolOutcome | null {
  return errors.length === 0 ? null : failed(`[engine] The input does not match the schema of ${call.name}:\n${errors.join('\n')}`);
}

/** Runs a tool for a call that is not stored yet; null as for execute(). */
export async function runTool(call: Pick<OpenCall, 'id' | 'name' | 'input'>, focus: Focus): Promise<ToolOutcome | null> {
  const prepared = prepareTool(call, focus.runtime);
  return prepared.kind === 'refused' ? prepared.outcome : execute(prepared.run, contextOf(call, focus, false));
}

/** Null if the signal has fired and the tool, which ignored it, was abandoned: it is unknown what it did. */
export async function execute(run: (context: ToolContext) => Promise<ToolOutcome>, context: ToolContext): Promise<ToolOutcome | null> {
  try {
    return await untilLeft(
      atFailpoints('tool', async () => outcomeOf(await run(context))),
      context.signal,
    );
  } catch (error) {
    return failed(`[engine] The tool failed: ${messageOf(error)}`);
  }
}

/** The types say what a tool returns, but a tool in JavaScript may return anything, including what the ledger could not store. */
const outcomeOf = (returned: unknown): ToolOutcome =>
  isObject(returned) && typeof returned['content'] === 'string' && ['boolean', 'undefined'].includes(typeof returned['isError'])
    ? (returned as ToolOutcome)
    : failed('[engine] The tool ran, but returned no outcome: its execute() must return ok(TEXT) or failed(TEXT).');

export function contextOf(call: Pick<OpenCall, 'id'>, focus: Focus, isFromCode: boolean): ToolContext {
  const { claim, signal, runtime } = focus;
  return {
    workspace: workspaceOf(focus),
    webFetchAllow: claim.faculty.engage.web_fetch_allow,
    ...(runtime.webFetchHeaders && { webFetchHeaders: runtime.webFetchHeaders }),
    workItemId: claim.work_item_id,
    toolCallId: call.id,
    ledger: ledgerOf(call.id, focus),
    isFromCode,
    signal,
  };
}
