// Runs one tool of this worker: checks whether it may run with the given input, passes it its context, and turns its result into an
// outcome. A failure is an outcome too.

import { z } from 'zod';

import { isObject } from '../../plv8/isObject.ts';
import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { atFailpoints } from '../failpoint.ts';
import type { OpenCall } from '../ledger/answers.ts';
import { messageOf } from '../ledger/errors.ts';
import { isImage } from '../tools/image.ts';
import { failed } from '../tools/tool.ts';
import { untilLeft } from '../untilLeft.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import type { Focus, Runtime } from './focus.ts';
import { executeCode } from './runCode.ts';
import { ledgerOf } from './toolLedger.ts';
import { workspaceOf } from './workspaceOf.ts';

/** `left`: the signal has fired, and the check of its input, which ignored it, was abandoned. */
type PreparedTool =
  | { kind: 'refused'; outcome: ToolOutcome }
  | { kind: 'left' }
  | { kind: 'runtime'; run: (context: ToolContext) => Promise<ToolOutcome>; isRepeatable: boolean };
type Prepared = PreparedTool | { kind: 'database' } | { kind: 'code' };

export async function prepare(call: OpenCall, { signal, runtime }: Focus): Promise<Prepared> {
  if (call.name === executeCode.name) return { kind: 'code' };
  if (call.implementation !== 'runtime') {
    const problem = refusal(schemaErrors(call.input_schema, call.input), call);
    return problem ? { kind: 'refused', outcome: problem } : { kind: 'database' };
  }
  return prepareTool(call, runtime, signal);
}

/** A schema may wait (for a refinement that asks a database), and its refinements may throw: they are the program's own code. */
async function prepareTool(call: Pick<OpenCall, 'name' | 'input'>, runtime: Runtime, signal: AbortSignal): Promise<PreparedTool> {
  const tool = runtime.tools.get(call.name);
  if (!tool) return { kind: 'refused', outcome: failed(`[engine] This worker does not have the tool "${call.name}".`) };
  try {
    const parsed = await untilLeft(z.safeParseAsync(tool.input as z.ZodType, call.input), signal);
    if (parsed === null) return { kind: 'left' };
    const problem = refusal(parsed.error ? [z.prettifyError(parsed.error)] : [], call);
    if (problem) return { kind: 'refused', outcome: problem };
    return { kind: 'runtime', run: (context) => tool.execute(parsed.data, context), isRepeatable: tool.effect !== 'unsafe' };
  } catch (error) {
    return { kind: 'refused', outcome: failed(`[engine] The input of ${call.name} could not be checked: ${messageOf(error)}`) };
  }
}

function refusal(errors: readonly string[], call: Pick<OpenCall, 'name'>): ToolOutcome | null {
  return errors.length === 0 ? null : failed(`[engine] The input does not match the schema of ${call.name}:\n${errors.join('\n')}`);
}

/** Runs a tool for a call that is not stored yet; null as for execute(). */
export async function runTool(call: Pick<OpenCall, 'id' | 'name' | 'input'>, focus: Focus): Promise<ToolOutcome | null> {
  const prepared = await prepareTool(call, focus.runtime, focus.signal);
  if (prepared.kind === 'left') return null;
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
function outcomeOf(returned: unknown): ToolOutcome {
  const { content, isError = false, images, value } = isObject(returned) ? returned : {};
  if (typeof content !== 'string' || typeof isError !== 'boolean')
    return failed('[engine] The tool ran, but returned no outcome: its execute() must return ok(TEXT) or failed(TEXT).');
  if (images !== undefined && !(Array.isArray(images) && images.every(isImage)))
    return failed(
      '[engine] The tool ran, but returned images that cannot be used: each must be {media_type, data}, a PNG, JPEG, GIF or WebP in base64 of at most 5 MiB.',
    );
  if (value !== undefined && !isJson(value)) return failed('[engine] The tool ran, but returned a value that is not JSON.');
  return { content, isError, ...(images !== undefined && { images }), ...(value !== undefined && { value }) };
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch (error) {
    return error instanceof RangeError; // too deep: whoever stores it says so
  }
}

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
