// The faculties that conversations run with. Each conversation has its own copies, with a model of its own, so that what one
// learns of a model changes nothing in another.

export type Policy = keyof typeof policies;

const base = {
  tools: ['read_file', 'edit_file', 'risky', 'claim', 'claim_release'],
  workspace: 'none',
  code_execution: true,
  max_turns: 1000,
  compact_keep_recent: 2,
  ledger_nudge_interval: 3,
  require_approval: 'dangerous',
  approval_timeout: 3600,
};

/** Of a result whose mark begins with that letter. */
const shape = (letter: string) =>
  ({
    type: 'object',
    properties: { mark: { type: 'string', pattern: `^${letter}\\d+z$` } },
    required: ['mark'],
    additionalProperties: false,
  }) as const;

/** What an item asks for itself, whatever its faculty does. */
export const ownShape = shape('o');

export const policies = {
  'every step': { engage: { elide_budget: 0 } },
  'over a budget': { engage: { elide_budget: 300, ledger_nudge_interval: 1 } },
  'nothing elided': { engage: { elide_budget: 1_000_000 } },
  'tiny window': { engage: { elide_budget: 300, context_window: 8000, compact_keep_recent: 4 } },
  'tiny window, nothing elided': { engage: { truncate_closed_blocks: false, context_window: 8000, compact_keep_recent: 3 } },
  'sliding window': {
    engage: { truncate_closed_blocks: false, context_window: 8000, compact_strategy: 'sliding_window', compact_keep_recent: 4 },
  },
  'sliding window, every few turns': {
    engage: { elide_budget: 300, compact_strategy: 'sliding_window', compact_every: 4, compact_keep_recent: 2 },
  },
  selective: { engage: { elide_budget: 1000, compact_strategy: 'selective', compact_every: 3, compact_keep_recent: 2 } },
  'every few turns': { engage: { elide_budget: 1000, compact_every: 5, keep_budget: 1000, keep_auto: 0 } },
  hooks: {
    engage: { elide_budget: 0, check_command: 'function:check' },
    orient: { command: 'function:orient', on_failure: 'fail' },
    recover: { command: 'recover' },
    consolidate: { command: 'consolidate' },
    hooks: { before_model_call: 'before_model_call', before_tool: 'function:before_tool', after_tool: 'after_tool' },
  },
  'answers with a shape': {
    engage: { elide_budget: 300 },
    result_schema: shape('y'),
  },
  fresh: { engage: { elide_budget: 300 }, recover: { mode: 'fresh' } },
} as const satisfies Record<string, object>;

/** The hooks that the policy of that name has as functions. */
export const hookFunctions = ['orient', 'check', 'before_tool'] as const;

export const policyNames = Object.keys(policies) as Policy[];

/** The faculty of that policy, under a name and with a model of the conversation's own. */
export function faculty(name: string, model: string, policy: Policy, asked: object = {}): Record<string, unknown> & { engage: object } {
  const { engage, ...rest } = policies[policy] as { engage: object; recover?: object };
  return {
    name,
    accepts: [name],
    engage: { ...base, model, ...asked, ...engage },
    awareness: { refresh_every: 1, include_child_work: true },
    memory: true,
    ...rest,
    recover: { max_attempts: 5, backoff: 'constant', ...rest.recover },
  };
}
