// A command of the faculty at a point of a focus: JSON on stdin, its answer on stdout. What the answer means is decided in
// the database.

import { runProcess } from '../../sandbox/hostProcess.ts';
import type { Claimed } from '../db.ts';

/** As hook_record() takes it. */
export type HookResult = {
  stdout: string;
  stderr: string;
  exit_code: number | null;
  signal: string | null;
  is_timed_out: boolean;
  timeout_seconds: number;
  is_truncated: boolean;
  duration_ms: number;
  error: string | null;
};

const MAX_BYTES = 1_000_000;

/** Runs the command in the faculty's workspace, where it has one on this host. Null where the work has to stop. */
export async function runHook(command: string, timeoutSeconds: number, input: unknown, claim: Claimed, signal: AbortSignal): Promise<HookResult | null> {
  const { workspace, workspace_dir: directory } = claim.faculty.engage;
  const cwd = workspace === 'host' && directory !== null ? directory : process.cwd();
  const nothing = { stdout: '', stderr: '', exit_code: null, signal: null, is_timed_out: false, timeout_seconds: timeoutSeconds, is_truncated: false, duration_ms: 0 };
  try {
    const ended = await runProcess(command, { cwd, timeoutSeconds, signal, maxBytes: MAX_BYTES, stdin: JSON.stringify(input) });
    if (ended.isAborted) return null;
    return {
      stdout: ended.stdout, stderr: ended.stderr.slice(0, 10_000).toWellFormed(), exit_code: ended.exitCode, signal: ended.signal, is_timed_out: ended.isTimedOut,
      timeout_seconds: timeoutSeconds, is_truncated: ended.isTruncated, duration_ms: ended.durationMs, error: null,
    };
  } catch (error) {
    return { ...nothing, error: error instanceof Error ? error.message : String(error) };
  }
}
