// Replies written down by a person, for trying a task without a model: a JSON list, one element for each answer of the model.
//
//   [
//     {"say": "I look first.", "calls": [{"name": "bash", "input": {"command": "ls"}}]},
//     {"calls": [{"name": "work_complete", "input": {"summary": "Looked."}}]}
//   ]
//
// The n-th request of a conversation gets the n-th reply, so that a repeated one gets the same; after the last, "Done.".

import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { UsageError } from '../ledger/errors.ts';
import { scriptOf } from '../model/script.ts';
import type { Script } from '../model/script.ts';

const reply = z
  .strictObject({
    say: z.string().min(1).optional(),
    calls: z.array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) })).optional(),
    /** Milliseconds before it comes. */
    delay: z.number().min(0).max(60_000).optional(),
  })
  .refine((one) => one.say !== undefined || (one.calls?.length ?? 0) > 0, 'a reply needs "say", "calls" or both');

/** Throws UsageError with the place of the first mistake. */
export function scriptFile(path: string): Script {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') throw new UsageError(`${path} is a directory, not a file of replies`);
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not JSON: ${error.message}`);
    throw error;
  }
  const { data, error } = z.array(reply).min(1).safeParse(given);
  if (!data) {
    const [issue] = error.issues;
    const [n, ...rest] = issue?.path ?? [];
    throw new UsageError(
      `${path}: ${typeof n === 'number' ? `reply ${n + 1}${rest.length > 0 ? `, ${rest.join('.')}` : ''}: ` : ''}${issue?.message}`,
    );
  }
  return scriptOf(
    data.map(({ say, calls = [], delay }) => ({
      content: [
        ...(say === undefined ? [] : [{ type: 'text', text: say }]),
        ...calls.map(({ name, input }) => ({ type: 'tool_use', name, input })),
      ],
      ...(delay !== undefined && { delayMs: delay }),
    })),
  );
}
