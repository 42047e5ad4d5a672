// What can happen in a conversation: one record for each thing, plain data, so that fast-check can leave some out and a
// failing conversation can be read and pasted.
//
// Not fc.commands: there a failure is repeated by seed, path and a third thing (replayPath), and shrinking only leaves
// commands out. A list of records shrinks inwards too (fewer calls, fewer events, smaller results), and seed and path suffice.

import fc from 'fast-check';

import { policyNames } from './policies.ts';

/** What befalls a worker between two statements. */
const event = fc.record({
  /** Before which statement of the iteration. */
  at: fc.nat(12),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant('crash' as const) },
    { weight: 3, arbitrary: fc.constantFrom('rolled back' as const, 'repeated' as const) },
    { weight: 4, arbitrary: fc.constant('interrupt' as const) },
    { weight: 2, arbitrary: fc.constant('message' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'news' as const,
        'compact' as const,
        'sweep' as const,
        'pause' as const,
        'pause' as const,
        'pause' as const,
        'release' as const,
        'cancel' as const,
        'policy' as const,
      ),
    },
  ),
});

const look = fc.record({
  tool: fc.constantFrom('read_file' as const, 'read_file' as const, 'edit_file' as const),
  /** Which of a few files. */
  file: fc.nat(2),
  size: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 600 }) },
    { weight: 3, arbitrary: fc.integer({ min: 600, max: 4000 }) },
    { weight: 1, arbitrary: fc.constant(70_000) },
  ),
  isError: fc.nat(4).map((n) => n === 4),
  images: fc.nat(11).map((n) => Math.max(0, n - 9)),
});
const entry = fc.record({
  tool: fc.constant('entry' as const),
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constant('step' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        'finding' as const,
        'finding' as const,
        'decision' as const,
        'error' as const,
        'plan' as const,
        'note' as const,
      ),
    },
    { weight: 1, arbitrary: fc.constant('bad' as const) },
  ),
  /** A step names what is still needed. */
  keeps: fc.nat(2).map((n) => n === 2),
});
const risky = fc.record({ tool: fc.constant('risky' as const) });
/** Of a tool that nobody has; most names are such as the API does not take. */
const unknown = fc.record({
  tool: fc.constant('no such tool' as const),
  name: fc.constantFrom('no_such_tool', 'a.b', '', 'two\nlines', 'n'.repeat(200)),
});
const nested = fc.oneof(
  { weight: 3, arbitrary: look },
  { weight: 3, arbitrary: entry },
  { weight: 2, arbitrary: risky },
  { weight: 1, arbitrary: unknown },
);
const call = fc.oneof(
  { weight: 10, arbitrary: look },
  { weight: 8, arbitrary: entry },
  { weight: 2, arbitrary: risky },
  { weight: 3, arbitrary: fc.record({ tool: fc.constant('code' as const), nested: fc.array(nested, { maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ tool: fc.constant('spawn' as const) }) },
  { weight: 2, arbitrary: fc.record({ tool: fc.constantFrom('await' as const, 'await' as const, 'check' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      tool: fc.constant('wait' as const),
      isAbove: fc.nat(3).map((n) => n === 3),
      claim: fc.option(fc.nat(1), { freq: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      tool: fc.constant('notify' as const),
      file: fc.nat(2),
      kind: fc.constantFrom('path' as const, 'end' as const, 'text' as const, 'text' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      tool: fc.constant('claim' as const),
      key: fc.nat(1),
      isShared: fc.boolean(),
      isReleased: fc.nat(3).map((n) => n === 3),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      tool: fc.constant('memory' as const),
      command: fc.constantFrom(
        'create' as const,
        'view' as const,
        'view' as const,
        'insert' as const,
        'insert' as const,
        'str_replace' as const,
        'delete' as const,
      ),
      line: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ tool: fc.constant('recall' as const), block: fc.nat(9) }) },
  /** Only of work whose result has a schema. */
  { weight: 1, arbitrary: fc.record({ tool: fc.constant('complete' as const), fits: fc.boolean() }) },
  { weight: 1, arbitrary: unknown },
);
const small: typeof call = fc.oneof(look, entry);

/** A response of the model. */
const response = fc.record({
  thinking: fc.oneof(
    { weight: 5, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constantFrom('first' as const, 'redacted' as const) },
    { weight: 1, arbitrary: fc.constant('last' as const) },
  ),
  text: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('none' as const, 'some' as const) },
    { weight: 1, arbitrary: fc.constantFrom('blank' as const, 'forged' as const, 'ends' as const) },
  ),
  calls: fc.oneof(
    { weight: 12, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(call, { maxLength: 0 }) },
    { weight: 1, arbitrary: fc.array(small, { minLength: 9, maxLength: 12 }) },
  ),
  stop: fc.oneof(
    { weight: 14, arbitrary: fc.constant('fit' as const) },
    { weight: 1, arbitrary: fc.constantFrom('max_tokens' as const, 'pause_turn' as const, 'model_context_window_exceeded' as const) },
  ),
  ids: fc.oneof(
    { weight: 6, arbitrary: fc.constant('own' as const) },
    { weight: 2, arbitrary: fc.constant('anew' as const) },
    { weight: 1, arbitrary: fc.constantFrom('illegal' as const, 'long' as const, 'empty' as const) },
  ),
});
const failure = fc.record({
  error: fc.constantFrom(
    'context_overflow' as const,
    'context_overflow' as const,
    'overloaded' as const,
    'rate_limited' as const,
    'timeout' as const,
    'malformed_response' as const,
    'authentication' as const,
    'transport' as const,
    'invalid_request' as const,
  ),
});
const hook = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('nothing' as const, 'words' as const) },
  { weight: 1, arbitrary: fc.constantFrom('refuse' as const, 'fail' as const, 'garbage' as const) },
);

const who = fc.nat(20);
const work = fc.record({
  do: fc.constant('work' as const),
  who,
  answer: fc.oneof({ weight: 12, arbitrary: response }, { weight: 1, arbitrary: failure }),
  events: fc.array(event, { maxLength: 3 }).map((all) => (all.length === 3 ? all : all.slice(0, all.length - 1))),
  hooks: fc.array(hook, { maxLength: 4 }),
  summary: fc.constantFrom('good' as const, 'good' as const, 'empty' as const, 'long' as const, 'refused' as const),
  isBackwards: fc.boolean(),
  /** Whether the worker goes on with the next iteration under the same lease, and what becomes of it then. */
  goesOn: fc.constantFrom('not' as const, 'not' as const, 'release' as const, 'crash' as const),
});

const act = fc.oneof(
  { weight: 40, arbitrary: work },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      who,
      size: fc.constantFrom('short' as const, 'short' as const, 'lines' as const, 'long' as const),
      isInterrupt: fc.nat(3).map((n) => n === 3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('news' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('tell' as const), who, to: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      which: fc.nat(9),
      how: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const, 'expire' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fork' as const),
      which: fc.nat(99),
      says: fc.boolean(),
      policy: fc.option(fc.constantFrom(...policyNames)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('go on' as const),
      who,
      which: fc.nat(99),
      says: fc.boolean(),
      /** What becomes of an open item first. */
      end: fc.constantFrom('not' as const, 'done' as const, 'fails' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('compact' as const), who, isFocused: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('policy' as const), who, policy: fc.constantFrom(...policyNames) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('end child' as const),
      who,
      how: fc.constantFrom('done' as const, 'done' as const, 'fails' as const, 'cancelled' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail attempt' as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('budget' as const),
      who,
      resource: fc.constantFrom('tokens' as const, 'calls' as const),
      room: fc.constantFrom(1, 3, 10),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('budget by day' as const),
      who,
      of: fc.constantFrom('project' as const, 'faculty' as const),
      resource: fc.constantFrom('tokens' as const, 'calls' as const, 'money' as const),
      /** Null: it is removed. */
      room: fc.constantFrom(1, 1, 1, 3, 10, null),
    }),
  },
  /** A moment before midnight, if that is near; then it works. */
  { weight: 2, arbitrary: fc.record({ do: fc.constant('midnight' as const), who, before: fc.integer({ min: 11, max: 35 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('wake' as const, 'recall' as const, 'look' as const), who, block: fc.nat(9) }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('session' as const),
      what: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom('append' as const, 'append' as const, 'read' as const) },
        { weight: 6, arbitrary: fc.constantFrom('finding' as const, 'claim' as const, 'claim' as const) },
        { weight: 5, arbitrary: fc.constantFrom('miss' as const, 'import' as const, 'left' as const, 'resume' as const) },
        { weight: 4, arbitrary: fc.constant('fork' as const) },
        { weight: 4, arbitrary: fc.constantFrom('erase' as const, 'erase agent' as const, 'erase agent' as const) },
      ),
      count: fc.integer({ min: 1, max: 9 }),
      /** Which of two processes; or whether its subagent. */
      by: fc.nat(1),
      fault: fc.option(fc.constantFrom('rolled back' as const, 'repeated' as const), { freq: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.constantFrom(1, 10, 70) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('submit' as const), policy: fc.constantFrom(...policyNames), hasOwnShape: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      who,
      /** How often its result does not fit, before one that does; four times are too often. */
      wrong: fc.nat(4),
      events: fc.array(event, { maxLength: 2 }),
      goesOn: fc.constantFrom('not' as const, 'not' as const, 'release' as const, 'crash' as const),
    }),
  },
);

export const conversation = fc.record({
  policy: fc.constantFrom(
    ...policyNames,
    'tiny window' as const,
    'tiny window, nothing elided' as const,
    'sliding window' as const,
    'sliding window, every few turns' as const,
  ),
  /** Whether its work is in a project, and what its models are like. */
  kind: fc.nat(11),
  acts: fc.noBias(fc.array(act, { maxLength: 56, size: 'max' })),
});

type Of<T> = T extends fc.Arbitrary<infer U> ? U : never;
export type Conversation = Of<typeof conversation>;
export type Act = Of<typeof act>;
export type Work = Extract<Act, { do: 'work' }>;
export type Event = Of<typeof event>;
export type Response = Extract<Work['answer'], { stop: string }>;
export type PlayedCall = Response['calls'][number];
export type HookAnswer = Of<typeof hook>;
