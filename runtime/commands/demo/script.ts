// The model's replies in the demo if no API key is set. Only its words are scripted: every tool runs for real.

import type { ScriptedReply } from '../../model/script.ts';

const text = (words: string) => ({ type: 'text', text: words });
const call = (name: string, input: Record<string, unknown>) => ({ type: 'tool_use', name, input });
const append = (entry_type: string, content: string) => call('ledger_append', { entry_type, content });

export const demoReplies: ScriptedReply[] = [
  {
    content: [
      text('A plan first, and a look at what is here.'),
      append('plan', '1. See the project 2. Run the failing test 3. Find the cause 4. Fix it 5. Run all tests'),
      call('glob', { pattern: '**/*.js' }),
    ],
  },
  {
    content: [text('Now the failing test, to see it with my own eyes.'), call('bash', { command: 'node --test', timeout: 60 })],
  },
  {
    content: [
      text('One test fails by a cent or more. I read the test and both sources at once.'),
      append('step', 'Ran the tests: "no cent is lost" fails, the other two pass.'),
      call('read_file', { path: 'test/invoice.test.js' }),
      call('read_file', { path: 'src/invoice.js' }),
      call('read_file', { path: 'src/money.js' }),
    ],
  },
  {
    content: [
      text('toCents truncates: 19.99 * 100 is 1998.9999999999998 in floating point, and 0.29 * 100 is 28.999999999999996.'),
      append('finding', 'toCents() in src/money.js truncates instead of rounding: 19.99 becomes 1998 cents, 0.29 becomes 28.'),
      append('decision', 'Round in toCents() rather than in total(): every caller of toCents() has the same fault.'),
      call('edit_file', { path: 'src/money.js', old_string: 'Math.trunc(amount * 100)', new_string: 'Math.round(amount * 100)' }),
    ],
  },
  {
    content: [
      text('Fixed; now all the tests.'),
      append('step', 'Replaced Math.trunc by Math.round in toCents() of src/money.js.'),
      call('bash', { command: 'node --test', timeout: 60 }),
    ],
  },
  {
    content: [
      append('step', 'Ran the tests again: all three pass.'),
      call('work_complete', {
        summary: 'toCents() truncated amounts like 19.99 to one cent less; it rounds now. All three tests pass.',
        evidence: ['node --test: 3 pass, 0 fail'],
      }),
    ],
  },
];
