// What chance brings together too seldom: conversations that are played first, as if they had been drawn.

import type { Act, Conversation, Work } from './commands.ts';

const answers = (calls: Extract<Work['answer'], { calls: unknown }>['calls']): Act => ({
  do: 'work',
  who: 0,
  answer: { thinking: 'none', text: 'none', calls, stop: 'fit', ids: 'own' },
  events: [],
  hooks: [],
  summary: 'good',
  isBackwards: false,
  goesOn: 'not',
});
const look = { tool: 'read_file' as const, file: 0, size: 20, isError: false, images: 0 };
const session = (what: Extract<Act, { do: 'session' }>['what'], by = 1): Act => ({ do: 'session', what, count: 9, by, fault: null });

const acts: Record<string, Act[]> = {
  'waits for its child and for others at once': [
    answers([{ tool: 'spawn' }]),
    answers([{ tool: 'await' }, { tool: 'wait', isAbove: false, claim: null }]),
    { do: 'end child', who: 0, how: 'done' },
    answers([]),
  ],
  'is told by another agent and of the end of its child, and begins anew': [
    { do: 'submit', policy: 'every step', hasOwnShape: false },
    { do: 'tell', who: 3, to: 0 }, // 3: the second of two
    answers([{ tool: 'spawn' }]),
    { do: 'end child', who: 0, how: 'done' },
    answers([look]),
    { do: 'fail attempt', who: 0 },
    answers([look]),
  ],
  'a kept session whose subagent is erased': [
    session('append'),
    session('append'),
    session('append', 0),
    session('read'),
    session('erase agent'),
    session('append'),
    session('read'),
  ],
};

export const scenes: Conversation[] = Object.values(acts).map((each) => ({ policy: 'every step', kind: 0, acts: each }));
