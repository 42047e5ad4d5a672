// Replies of a model as people write them down, in a file or a test: what it says, and what it calls.

import { z } from 'zod';

import type { PlainReply } from './script.ts';

const reply = z
  .strictObject({
    say: z.string().min(1).optional(),
    calls: z.array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) })).optional(),
    /** Milliseconds before it comes. */
    delay: z.number().min(0).max(60_000).optional(),
  })
  .refine((one) => one.say !== undefined || (one.calls?.length ?? 0) > 0, 'a reply needs "say", "calls" or both');

export const replies = z.array(reply).min(1);
export type Reply = z.input<typeof reply>;

export const plainReply = ({ say, calls = [], delay }: Reply): PlainReply => ({
  content: [
    ...(say === undefined ? [] : [{ type: 'text', text: say }]),
    ...calls.map(({ name, input = {} }) => ({ type: 'tool_use', name, input })),
  ],
  ...(delay !== undefined && { delayMs: delay }),
});

/** The first mistake in a list of replies, with its place. */
export function mistakeIn(error: z.ZodError): string {
  const [issue] = error.issues;
  const [n, ...rest] = issue?.path ?? [];
  return `${typeof n === 'number' ? `reply ${n + 1}${rest.length > 0 ? `, ${rest.join('.')}` : ''}: ` : ''}${issue?.message}`;
}
