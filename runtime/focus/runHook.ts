// A command of the faculty at a point of a focus: JSON on stdin, its answer on stdout. What the answer means is decided in
// the database.

import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import { messageOf } from '../ledger/errors.ts';
import type { HookResult } from '../ledger/iteration.ts';

const MAX_BYTES = 1_000_000;

/** Runs the command. Null if the work has to stop. Throws if its workspace is not available now. */
export async function runHook(
  command: string,
  timeoutSeconds: number,
  input: unknown,
  place: Pick<Workspace, 'run'>,
  signal: AbortSignal,
): Promise<HookResult | null> {
  const nothing = {
    stdout: '',
    stderr: '',
    exit_code: null,
    signal: null,
    is_timed_out: false,
    timeout_seconds: timeoutSeconds,
    is_truncated: false,
    duration_ms: 0,
  };
  try {
    const ended = await place.run(command, { timeoutSeconds, signal, maxBytes: MAX_BYTES, stdin: JSON.stringify(input) });
    if (ended.cause === 'abort') return null;
    return {
      stdout: ended.stdout,
      stderr: ended.stderr.slice(0, 10_000),
      exit_code: ended.exitCode,
      signal: ended.signal,
      is_timed_out: ended.cause === 'timeout',
      timeout_seconds: timeoutSeconds,
      is_truncated: ended.isTruncated,
      duration_ms: ended.durationMs,
      error: null,
    };
  } catch (error) {
    if (error instanceof WorkspaceUnavailable) throw error;
    return { ...nothing, error: messageOf(error) };
  }
}
