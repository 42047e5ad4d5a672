// Assertions about what a work item did, for `expect.extend` of Vitest and Jest.

import { isDeepStrictEqual } from 'node:util';

import type { Seen } from './seen.ts';

type Verdict = { pass: boolean; message(): string };
type Text = string | RegExp;

const has = (text: string, wanted: Text): boolean => (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text));
const listed = (lines: readonly string[]): string => (lines.length === 0 ? '  nothing' : lines.map((line) => `  ${line}`).join('\n'));
const verdict = (pass: boolean, wanted: string, what: string, lines: readonly string[]): Verdict => ({
  pass,
  message: () => `expected it ${pass ? 'not ' : ''}to have ${wanted}; ${what}:\n${listed(lines)}`,
});

export const matchers = {
  /** Has an entry of this type whose content contains the text: toHaveRecorded('finding', /truncates/). */
  toHaveRecorded(seen: Seen, type: string, content?: Text): Verdict {
    return verdict(
      seen.entries.some((entry) => entry.entry_type === type && (content === undefined || has(entry.content, content))),
      `recorded a ${type}${content === undefined ? '' : ` with ${content}`}`,
      'it recorded',
      seen.entries.map((entry) => `[${entry.seq}] ${entry.entry_type}: ${entry.content}`),
    );
  },

  /** Has a call of this tool with at least these inputs: toHaveCalled('bash', { command: 'ls' }). */
  toHaveCalled(seen: Seen, name: string, input: Record<string, unknown> = {}): Verdict {
    return verdict(
      seen.calls.some(
        (call) => call.name === name && Object.entries(input).every(([key, value]) => isDeepStrictEqual(call.input[key], value)),
      ),
      `called ${name}${Object.keys(input).length === 0 ? '' : ` with ${JSON.stringify(input)}`}`,
      'it called',
      seen.calls.map((call) => `${call.name} ${JSON.stringify(call.input)}: ${call.status}`),
    );
  },

  /** Has a request whose text, the JSON as it was sent, contains this: toHaveToldModel('no cent is lost'). */
  toHaveToldModel(seen: Seen, text: Text): Verdict {
    return verdict(
      seen.requests.some((request) => has(request, text)),
      `told the model ${text}`,
      'its requests',
      seen.requests.map((request, n) => `${n + 1}: ${request.length} characters, ending …${request.slice(-200)}`),
    );
  },
};

/** The matchers of `expect(await ledger.seen(id))` after expect.extend(matchers). */
export type LedgerMatchers<Result = void> = {
  toHaveRecorded(type: string, content?: Text): Result;
  toHaveCalled(name: string, input?: Record<string, unknown>): Result;
  toHaveToldModel(text: Text): Result;
};
