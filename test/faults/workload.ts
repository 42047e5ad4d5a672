// What is worked on while things break: trees of three items with parallel tools of every effect, a call that waits for approval, children,
// compactions. The model of it knows how far an item is from the request alone, so that it can be asked again at any point.

import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import type { Faculty } from '../../runtime/faculty/faculty.ts';
import type { Submission } from '../../runtime/ledger/submit.ts';
import type { ContentBlock, ModelRequest } from '../../runtime/model/message.ts';
import type { Script } from '../../runtime/model/script.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import type { Effect, Tool } from '../../runtime/tools/tool.ts';

export type Workload = {
  faculties: Faculty[];
  script: Script;
  /** The n-th work item to submit. */
  submission(n: number): Submission;
};

/** Tools that take a moment, so that something can happen meanwhile. */
export const tools: readonly Tool[] = (
  [
    ['look', 'pure', 'safe'],
    ['put', 'idempotent', 'safe'],
    ['pay', 'unsafe', 'safe'],
    ['wipe', 'unsafe', 'dangerous'],
  ] as const
).map(([name, effect, risk]) =>
  defineTool({
    name,
    description: `A tool whose effect is ${effect}.`,
    input: z.strictObject({ mark: z.string() }),
    effect: effect satisfies Effect,
    risk,
    source: 'none',
    async execute({ mark }, { signal }) {
      await sleep(20, undefined, { signal }).catch(() => {});
      return ok(`done ${mark}`);
    },
  }),
);

const STEPS = 6;

/** `hasCode`: one response of each item is code, which calls the tools from a container. */
export const ownWorkload = ({ hasCode }: { hasCode: boolean }): Workload => ({
  faculties: [
    {
      name: 'storm',
      accepts: ['storm', 'part'],
      awareness: { enabled: false },
      recover: { max_attempts: 1000 },
      engage: {
        workspace: 'none',
        tools: tools.map(({ name }) => name),
        require_approval: 'dangerous',
        ledger_nudge_interval: 0,
        stall_limit: 0,
        max_turns: 1000,
        compact_every: 4,
        compact_keep_recent: 2,
        code_execution: hasCode,
        code_execution_memory: '64m',
      },
    },
  ],
  submission: (n) => ({ workType: 'storm', description: `Weather it. key:k${n}`, idempotencyKey: `k${n}` }),
  script: (request, { exchange }) => ({ content: whatFollows(request, hasCode), delayMs: 5 + ((exchange * 7) % 30) }),
});

function whatFollows(request: ModelRequest, hasCode: boolean): ContentBlock[] {
  const text = JSON.stringify(request.messages);
  const key = /key:(\w+)/.exec(text)?.[1] ?? 'none';
  const step = 1 + Math.max(-1, ...[...text.matchAll(new RegExp(`\\b${key}\\.(\\d+)\\b`, 'g'))].map(([, n]) => Number(n)));
  if (step >= STEPS) return [{ type: 'text', text: `${key} is done.` }];
  const isRoot = !key.includes('_');
  const call = (name: string, input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name, input });
  const use = (name: string): ContentBlock => call(name, { mark: `${key}-${step}-${name}` });
  const children = [...new Set([...text.matchAll(/Child work item ([0-9a-f-]{36}) is/g)].map(([, id]) => id ?? ''))];
  const kept = new RegExp(`${key} has ([0-9a-f, -]{36,})`).exec(text)?.[1]?.split(', ') ?? [];
  return [
    call('ledger_append', { entry_type: step % 2 === 0 ? 'step' : 'finding', content: `${key}.${step}` }),
    ...(isRoot && step === 1
      ? ['a', 'b'].map((part) => call('spawn_child_work', { work_type: 'part', description: `A part. key:${key}_${part}` }))
      : []),
    ...(isRoot && step === 2 && children.length > 0
      ? [call('ledger_append', { entry_type: 'note', content: `${key} has ${children.join(', ')}` })]
      : []),
    ...(isRoot && step === 4 && kept.length > 0 ? [call('await_child_work', { work_item_ids: kept, timeout_seconds: 600 })] : []),
    ...(step === 2 ? [use('wipe')] : []),
    ...(step === 3 && hasCode
      ? [call('execute_code', { code: `for n in range(3):\n    pay(mark=f"${key}-code-{n}")\nreturn look(mark="${key}-code")` })]
      : []),
    use('look'),
    use('put'),
    use('pay'),
  ];
}
