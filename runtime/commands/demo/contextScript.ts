// The model's replies in the context scene if no API key is set: three blocks of work, each closed by a step. The last two steps name what
// is needed next.

import type { ContentBlock } from '../../model/message.ts';
import type { Script } from '../../model/script.ts';

export const contextTask =
  'The test "no cent is lost" of this project fails. Find the cause, fix it in the source, and show that all tests pass.';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const call = (name: string, input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name, input });
const append = (entry_type: string, content: string, more: Record<string, unknown> = {}): ContentBlock =>
  call('ledger_append', { entry_type, content, ...more });

const replies: ContentBlock[][] = [
  [
    append('plan', 'One cause at a time.', {
      items: ['Run the failing test', 'Find the cause', 'Fix it', 'Run all tests'].map((what) => ({ text: what })),
    }),
    call('bash', { command: 'node --test', timeout: 60 }),
  ],
  [
    text('I read the test and both sources.'),
    call('read_file', { path: 'test/invoice.test.js' }),
    call('read_file', { path: 'src/invoice.js' }),
    call('read_file', { path: 'src/money.js' }),
  ],
  [
    append('finding', 'toCents() in src/money.js truncates instead of rounding: 19.99 becomes 1998 cents.'),
    append('step', 'Found the cause: toCents() truncates.', { done: [1, 2], doing: 3, keep: ['src/money.js'] }),
    call('glob', { pattern: 'src/*.js' }),
  ],
  [
    text('I round.'),
    call('edit_file', { path: 'src/money.js', old_string: 'Math.trunc(amount * 100)', new_string: 'Math.round(amount * 100)' }),
    call('bash', { command: 'node --test', timeout: 60 }),
  ],
  [
    append('step', 'Rounded in toCents(); all three tests pass.', { done: [3, 4], keep: ['src/money.js#toCents', 'test/invoice.test.js'] }),
    call('bash', { command: 'git status || true' }),
  ],
  [call('work_complete', { summary: 'toCents() truncated; it rounds now. All three tests pass.', evidence: ['node --test'] })],
];

/** Each reply once, counted here: after a cut a request has fewer messages than the one before. */
export function contextScript(): Script {
  let n = 0;
  return () => ({ content: replies[n++] ?? [text('Done.')], delayMs: 400 });
}
