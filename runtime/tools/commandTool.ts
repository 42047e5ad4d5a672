// Tools that are commands: a TOML file gives the name, input schema and command of each. A call's input is passed as JSON on the command's
// stdin, and its output is the answer; an exit code other than 0 is an error.

import { z } from 'zod';

import { fitting } from './fitting.ts';
import { parsedAs } from './parsedAs.ts';
import type { Tool } from './tool.ts';
import { inWorkspace } from './workspace.ts';

const commandFile = z.strictObject({
  tool: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'a tool is called by 1 to 64 of a-z, A-Z, 0-9, _ and -'),
        description: z.string().min(1),
        command: z.string().min(1),
        /** A JSON Schema. */
        input: z
          .looseObject({ type: z.literal('object').default('object') })
          .default({ type: 'object', properties: {}, additionalProperties: false }),
        effect: z.enum(['pure', 'idempotent', 'unsafe']).default('unsafe'),
        risk: z.enum(['safe', 'moderate', 'dangerous']).default('dangerous'),
        source: z.enum(['none', 'own_test', 'file', 'other_agent', 'web']).optional(),
        touches: z
          .array(
            z.strictObject({
              key: z.string().min(1),
              kind: z.enum(['path', 'url', 'record']).optional(),
              action: z.enum(['read', 'create', 'modify', 'delete', 'search']).optional(),
              form: z.literal('patch').optional(),
              when: z.record(z.string(), z.unknown()).optional(),
            }),
          )
          .optional(),
        timeout: z.int().min(1).max(3600).default(120),
      }),
    )
    .min(1),
});

/** Returns the tools of a parsed TOML file. Throws UsageError. */
export function commandTools(document: unknown): Tool[] {
  return parsedAs(commandFile, document).tool.map(({ command, timeout, input: schema, ...tool }) => ({
    ...tool,
    input: fitting(schema),
    inputSchema: schema,
    execute: (input, context) =>
      inWorkspace(context, async (workspace) => {
        const { stdout, stderr, exitCode, signal, cause } = await workspace.run(command, {
          timeoutSeconds: timeout,
          signal: context.signal,
          stdin: JSON.stringify(input),
          maxBytes: context.isFromCode ? 8_000_000 : 100_000,
        });
        if (cause === null && exitCode === 0) return { content: stdout.trimEnd() || '(no output)', isError: false };
        const ending =
          cause === 'timeout'
            ? `killed after ${timeout} s`
            : (cause ?? (exitCode === null ? `killed by ${signal}` : `exit code ${exitCode}`));
        return { content: [stdout.trimEnd(), stderr.trimEnd(), `[${ending}]`].filter((part) => part !== '').join('\n'), isError: true };
      }),
  }));
}
