// Scripted model replies as people write them in a file or a test: text and calls.

import { z } from 'zod';

import type { PlainReply } from './script.ts';

const reply = z
  .strictObject({
    say: z.string().min(1).optional(),
    calls: z.array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) })).optional(),
    /** Delay in milliseconds before the reply. */
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

/** The first mistake in a list of replies, with its position. */
export function mistakeIn(error: z.ZodError): string {
  const [issue] = error.issues;
  const [n, ...rest] = issue?.path ?? [];
  return `${typeof n === 'number' ? `reply ${n + 1}${rest.length > 0 ? `, ${rest.join('.')}` : ''}: ` : ''}${issue?.message}`;
}
