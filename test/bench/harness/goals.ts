// What the figures should be: the only place where goals stand. Ratios are against another line of the same run.

import type { Line } from './question.ts';

export type Goal = {
  question: string;
  name: string;
  unit: string;
  at?: number;
  /** The goal is of the ratio to that line; without it, of the figure itself. */
  of?: string;
  /**
   * cpu: of what both take of the server's CPU. clock: of what both take by the clock, though the one waits for the disk and the other for
   * little else: where the disk writes at once that ratio is another one.
   */
  by?: 'cpu' | 'clock';
  atLeast?: number;
  atMost?: number;
  /** What it was before the work on it began. */
  was: string;
};

const iteration = { question: 'iteration', name: 'Work Ledger, iteration' };
const guarded = { question: 'safeguards', unit: 'entries/s', at: 16, of: 'ledger_append, bare' };
const appended = { question: 'append', unit: 'entries/s' };

export const goals: readonly Goal[] = [
  { ...appended, name: 'ledger_append', at: 1, of: 'plain INSERT', by: 'clock', atLeast: 0.5, was: '0.28' },
  { ...appended, name: 'ledger_append', at: 16, of: 'plain INSERT', by: 'clock', atLeast: 0.5, was: '0.26' },
  { ...appended, name: 'ledger_append', at: 16, of: 'plain INSERT', by: 'cpu', atMost: 5, was: 'not known' },
  { ...appended, name: 'ledger_append, the same item', at: 16, of: 'plain INSERT, the same item', by: 'clock', atLeast: 0.14, was: '0.09' },
  { ...appended, name: 'ledger_append, no chain', at: 16, of: 'ledger_append', by: 'clock', atMost: 1.33, was: 'no chain' },
  { ...appended, name: 'ledger_append, no chain', at: 16, of: 'ledger_append', by: 'cpu', atLeast: 0.75, was: 'no chain' },
  { ...appended, name: 'ledger_append_batch of 10', at: 16, of: 'ledger_append', by: 'clock', atLeast: 4, was: 'a loop' },
  { ...appended, name: 'ledger_append_batch of 10', at: 16, of: 'ledger_append', by: 'cpu', atMost: 0.4, was: 'a loop' },
  { ...appended, name: 'ledger_append_batch of 10, the same item', at: 16, of: 'ledger_append, the same item', atLeast: 4, was: 'a loop' },
  { ...appended, name: 'ledger_append, watched, one listener', at: 16, of: 'ledger_append', atLeast: 0.8, was: '0.41' },
  { ...guarded, name: 'ledger_append, a client', atLeast: 0.75, was: 'not known' },
  { ...guarded, name: 'ledger_append, a client', by: 'cpu', atMost: 1.33, was: 'not known' },
  { ...guarded, name: 'ledger_append, a client, no chain', atLeast: 0.85, was: 'not known' },
  { ...guarded, name: 'ledger_append, a client, no chain', by: 'cpu', atMost: 1.18, was: 'not known' },
  { ...iteration, unit: 'ms waiting for the server', of: 'plain INSERT', by: 'clock', atMost: 10, was: '24 to 28' },
  { ...iteration, unit: 'ms', of: 'plain INSERT', by: 'cpu', atMost: 30, was: '76' },
  { ...iteration, unit: 'ms', of: 'DBOS, step', by: 'clock', atMost: 3, was: '9.4' },
  { ...iteration, unit: 'ms', of: 'LangGraph, step', by: 'clock', atMost: 1, was: '0.63' },
  { ...iteration, unit: 'bytes of WAL beyond the text', atMost: 6144, was: '6,800' },
  { ...iteration, unit: 'statements', atMost: 4, was: '12.7' },
  { question: 'submit', name: 'Work Ledger, until the model is asked', unit: 'ms', of: 'NOTIFY to LISTEN', atMost: 6, was: '33 to 52' },
  {
    question: 'submit',
    name: 'Work Ledger, until the model is asked',
    unit: 'ms, the first after the start',
    of: 'NOTIFY to LISTEN',
    atMost: 10,
    was: '33 to 52',
  },
  { question: 'digest', name: 'awareness_digest', unit: 'ms', at: 100_000, of: 'that at 10000', atMost: 1.3, was: 'not known' },
  { question: 'digest', name: 'awareness_digest', unit: 'ms', at: 10_000_000, of: 'an entry by its key', atMost: 5, was: '27' },
  { question: 'digest', name: 'awareness_digest', unit: 'ms', at: 50_000_000, of: 'that at 100000', atMost: 1.3, was: 'not known' },
  { question: 'digest', name: 'ledger_append', unit: 'ms', at: 50_000_000, of: 'that at 100000', atMost: 1.3, was: 'not known' },
  {
    question: 'context',
    name: 'over 15,000, nothing kept',
    unit: '% of the cost of none',
    of: 'ideal of over 15,000, nothing kept',
    atMost: 1.02,
    was: '1.004',
  },
  {
    question: 'context',
    name: 'at every step, nothing kept',
    unit: '% of the cost of none',
    of: 'ideal of at every step, nothing kept',
    atMost: 1.02,
    was: '1.003',
  },
  { question: 'flat', name: 'iteration_begin', unit: 'ms', at: 1000, of: 'that at 50', atMost: 1.2, was: '1.17' },
  { question: 'flat', name: 'bytes of WAL', unit: 'bytes', at: 1000, of: 'that at 50', atMost: 1.1, was: '1.09' },
  { question: 'turns', name: 'iteration_begin', unit: 'ms', at: 2000, of: 'that at 100', atMost: 1.3, was: 'not known' },
  { question: 'backlog', name: 'focus_claim', unit: 'ms', at: 100_000, of: 'that at 1000', atMost: 1.3, was: 'not known' },
  { question: 'backlog', name: 'work_sweep', unit: 'buffers', at: 100_000, of: 'that at 1000', atMost: 1.5, was: '100' },
  { question: 'parked', name: 'a child ends, its parent wakes', unit: 'ms', at: 10_000, of: 'that at 100', atMost: 1.3, was: 'not known' },
  {
    question: 'journal',
    name: 'an entry, until who subscribes has it',
    unit: 'ms',
    at: 10_000,
    of: 'that at 100',
    atMost: 1.5,
    was: 'read whole, 80 ms',
  },
  { question: 'commands', name: '--version', unit: 'ms', of: 'node -e 0', atMost: 2.2, was: '19' },
  { question: 'commands', name: 'show ID', unit: 'ms', of: 'node -e 0', atMost: 5.4, was: '16' },
  ...['session-start', 'user-prompt', 'post-tool-use', 'pre-compact', 'stop'].map((name) => ({
    question: 'commands',
    name: `hook ${name}`,
    unit: 'ms',
    of: 'Node with pg: a connection, a query',
    atMost: 2,
    was: 'not known',
  })),
  ...(
    [
      ['v_fork_points', '349,993'],
      ['message_files, of a message', '15,385'],
      ['v_nudges', '8,028'],
      ['threads', '1,709'],
    ] as const
  ).map(([name, was]) => ({ question: 'views', name, unit: 'buffers', at: 1000, atMost: 350, was })),
  { question: 'packages', name: 'all', unit: 'MB', atMost: 140, was: '182' },
  { question: 'memory', name: 'heap in use', unit: 'MB', at: 10_000, of: 'that at 1000', atMost: 1.1, was: 'not known' },
  { question: 'foci', name: 'a worker', unit: 'µs of CPU a streamed word', of: 'the SDK alone', atMost: 3, was: 'not known' },
];

export type Judged = {
  goal: Goal;
  value: number;
  isMet: boolean;
  /** By a ratio that is the same on every disk: half of the goal is not reached or, where the kept figures miss the goal, half of those. */ isFarOff: boolean;
};

/** The goals of a question that its lines tell something of; `kept`: the lines that were measured before and kept. */
export function judge(question: string, lines: readonly Line[], kept: readonly Line[] = []): Judged[] {
  return goals
    .filter((goal) => goal.question === question)
    .flatMap((goal) => {
      const value = valueOf(goal, lines);
      if (Number.isNaN(value)) return [];
      const reached = (one: number): number => (goal.atLeast !== undefined ? one / goal.atLeast : (goal.atMost ?? Number.NaN) / one);
      const before = reached(valueOf(goal, kept));
      return [
        {
          goal,
          value,
          isMet: reached(value) >= 1,
          isFarOff: goal.of !== undefined && goal.by !== 'clock' && reached(value) < (before < 1 ? before : 1) / 2,
        },
      ];
    });
}

function valueOf(goal: Goal, lines: readonly Line[]): number {
  const lineOf = (wanted: string): Line | undefined =>
    lines.find(({ name, unit, at }) => name === wanted && unit === goal.unit && at === goal.at);
  const line = lineOf(goal.name);
  const ratio = line?.against?.find(({ of }) => of === goal.of);
  const value =
    goal.of === undefined
      ? line?.median
      : goal.by === 'cpu'
        ? (ratio?.cpu ?? (line?.cpu ?? Number.NaN) / (lineOf(goal.of)?.cpu ?? Number.NaN)) // where the rounds were not kept
        : ratio?.median;
  return value ?? Number.NaN;
}
