// Runs a hook of the faculty at a point of a focus: a command with JSON on stdin and its answer on stdout, or a function of this program
// with the same input and answer. The database decides what the answer means.

import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import { atFailpoints } from '../failpoint.ts';
import { messageOf } from '../ledger/errors.ts';
import type { HookResult } from '../ledger/iteration.ts';
import { headOf } from '../secrets/known.ts';
import { functionOf } from '../tools/hook.ts';
import type { Hook, HookInput } from '../tools/hook.ts';
import type { Focus } from './focus.ts';
import { checkPlace, operatorPlace, workspaceOf } from './workspaceOf.ts';

const MAX_BYTES = 1_000_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** `input.hook` is the name of the point. */
export type HookRun = { command: string; timeoutSeconds: number; input: Readonly<Record<string, unknown>> };

/** Runs the hook. Null if the work must stop. Throws if its workspace is not available at the moment. */
export async function runHook(run: HookRun, focus: Focus): Promise<HookResult | null> {
  const name = functionOf(run.command);
  return atFailpoints('hook', () => (name === null ? runCommand(run, focus) : runFunction(name, run, focus)));
}

async function runCommand({ command, timeoutSeconds, input }: HookRun, focus: Focus): Promise<HookResult | null> {
  const place = input['hook'] === 'check' ? checkPlace(focus) : operatorPlace(focus);
  try {
    const ended = await place.run(command, { timeoutSeconds, signal: focus.signal, maxBytes: MAX_BYTES, stdin: JSON.stringify(input) });
    if (ended.cause === 'abort') return null;
    return {
      ...nothing(timeoutSeconds),
      stdout: ended.stdout,
      stderr: headOf(ended.stderr, 10_000),
      exit_code: ended.exitCode,
      signal: ended.signal,
      is_timed_out: ended.cause === 'timeout',
      is_truncated: ended.isTruncated,
      duration_ms: ended.durationMs,
    };
  } catch (error) {
    if (error instanceof WorkspaceUnavailable) throw error;
    return { ...nothing(timeoutSeconds), error: messageOf(error) };
  }
}

/** A function that runs beyond its time limit is not awaited. */
async function runFunction(name: string, { timeoutSeconds, input }: HookRun, focus: Focus): Promise<HookResult | null> {
  const hook = focus.runtime.hooks.get(name);
  if (!hook) throw new Error(`this worker has no hook function "${name}"`);
  const limit = AbortSignal.timeout(Math.min(timeoutSeconds * 1000, MAX_TIMEOUT_MS));
  const signal = AbortSignal.any([focus.signal, limit]);
  const startedAt = performance.now();
  const ended = (more: Partial<HookResult>): HookResult => ({
    ...nothing(timeoutSeconds),
    duration_ms: Math.round(performance.now() - startedAt),
    ...more,
  });
  try {
    const stdout = await Promise.race([answerOf(hook, input, { signal, workspace: workspaceOf(focus) }), stopOf(signal)]);
    if (stdout !== null)
      return ended({ stdout: headOf(stdout, MAX_BYTES), exit_code: 0, is_truncated: Buffer.byteLength(stdout) > MAX_BYTES });
  } catch (error) {
    if (!signal.aborted) return ended({ stderr: headOf(messageOf(error), 10_000), exit_code: 1 });
  }
  return focus.signal.aborted ? null : ended({ is_timed_out: true });
}

/** The function's answer in the form that a command would have printed. */
async function answerOf(hook: Hook, input: HookRun['input'], context: Parameters<Hook['run']>[1]): Promise<string> {
  const said: unknown = await hook.run(structuredClone(input) as HookInput, context);
  if (said === undefined || said === null) return '';
  // Only an error fails a check, so one that answers false or {refuse} would let the work pass.
  if (hook.stage === 'check' && typeof said !== 'string')
    throw new Error('a check passes by answering nothing or text and fails by throwing; this one answered something else');
  const key = { orient: 'context', recover: 'context', engage: 'summary' }[hook.stage as string];
  if (typeof said === 'string') return key === undefined ? said : JSON.stringify({ [key]: said });
  const printed: string | undefined = JSON.stringify(said);
  if (printed === undefined) throw new Error(`a hook answers nothing, text or an object; this one answered a ${typeof said}`);
  return printed;
}

function stopOf(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

const nothing = (timeoutSeconds: number): HookResult => ({
  stdout: '',
  stderr: '',
  exit_code: null,
  signal: null,
  is_timed_out: false,
  timeout_seconds: timeoutSeconds,
  is_truncated: false,
  duration_ms: 0,
  error: null,
});
