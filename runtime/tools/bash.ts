// bash: a shell command in the workspace. The agent chooses the timeout: it knows a build from a grep.

import { z } from 'zod';

import { runProcess } from '../../sandbox/hostProcess.ts';
import { defineTool } from './tool.ts';
import { noWorkspace } from './workspace.ts';

export const bash = defineTool({
  name: 'bash',
  description: 'Run a shell command in the workspace. Returns its output and, when it fails, its exit code. Nothing that it starts outlives it.',
  input: z.strictObject({
    command: z.string().min(1).describe('The command line.'),
    timeout: z.number().min(1).max(600).default(120).describe('Seconds after which it is killed, at most 600. Default: 120.'),
  }),
  effect: 'unsafe',
  risk: 'dangerous',
  async execute(input, context) {
    if (context.workspace === null) return noWorkspace;
    if (input.command.includes('\0')) return { content: 'a command holds no NUL', isError: true };
    const result = await runProcess(input.command, { cwd: context.workspace, timeoutSeconds: input.timeout, signal: context.signal, maxBytes: context.isFromCode ? 8_000_000 : 100_000 });
    const ending = result.isTimedOut
      ? `[killed after ${input.timeout} s: timeout]`
      : result.isAborted
        ? '[killed: the worker was told to stop]'
        : result.exitCode === 0
          ? null
          : result.exitCode === null ? `[killed by ${result.signal}]` : `[exit code ${result.exitCode}]`;
    const parts = [result.stdout.trimEnd(), result.stderr === '' ? '' : `[stderr]\n${result.stderr.trimEnd()}`, ending ?? ''];
    return {
      content: parts.filter((part) => part !== '').join('\n') || '(no output)',
      isError: ending !== null,
      value: {
        stdout: result.stdout, stderr: result.stderr, exit_code: result.exitCode ?? -1, duration_ms: result.durationMs,
        line_count: result.stdout === '' ? 0 : result.stdout.replace(/\n$/, '').split('\n').length, timed_out: result.isTimedOut,
      },
    };
  },
});
