// bash: runs a shell command in the workspace. The agent chooses the timeout, because it can tell a build from a grep.

import { z } from 'zod';

import type { ProcessResult } from '../../sandbox/workspace.ts';
import { defineTool, failed } from './tool.ts';
import { inWorkspace } from './workspace.ts';

export const bash = defineTool({
  name: 'bash',
  description:
    'Run a shell command in the workspace. Returns its output and, when it fails, its exit code. Nothing that it starts outlives it.',
  input: z.strictObject({
    command: z.string().min(1).describe('The command line.'),
    timeout: z.number().min(1).max(600).default(120).describe('Seconds after which it is killed, at most 600. Default: 120.'),
  }),
  effect: 'unsafe',
  risk: 'dangerous',
  source: 'own_test',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      if (input.command.includes('\0')) return failed('a command must not contain NUL');
      const result = await workspace.run(input.command, {
        timeoutSeconds: input.timeout,
        signal: context.signal,
        maxBytes: context.isFromCode ? 8_000_000 : 100_000,
      });
      const ending = endingOf(result, input.timeout);
      const parts = [result.stdout.trimEnd(), result.stderr === '' ? '' : `[stderr]\n${result.stderr.trimEnd()}`, ending ?? ''];
      return {
        content: parts.filter((part) => part !== '').join('\n') || '(no output)',
        isError: ending !== null,
        value: {
          stdout: result.stdout,
          stderr: result.stderr,
          exit_code: result.exitCode ?? -1,
          duration_ms: result.durationMs,
          line_count: result.stdout === '' ? 0 : result.stdout.replace(/\n$/, '').split('\n').length,
          timed_out: result.cause === 'timeout',
        },
      };
    }),
});

function endingOf({ cause, exitCode, signal }: ProcessResult, timeout: number): string | null {
  if (cause !== null) {
    return {
      timeout: `[killed after ${timeout} s: timeout]`,
      abort: '[killed: the worker was told to stop]',
      memory: '[killed: it used up the memory of the workspace]',
      full: '[killed: the workspace is full; remove what is not needed]',
    }[cause];
  }
  if (exitCode === 0) return null;
  return exitCode === null ? `[killed by ${signal}]` : `[exit code ${exitCode}]`;
}
