// Work, faculties, abilities and budgets.

import { randomUUID } from 'node:crypto';

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { json, workItem } from './answers.ts';
import type { Calls } from './pool.ts';

export type Submission = {
  /** The kind of work, which decides who does it; default: the only one that faculties of the project accept, else task. */
  workType?: string;
  description: string;
  params?: Record<string, unknown>;
  faculty?: string;
  priority?: number;
  parentId?: string;
  dedupKey?: string;
  externalId?: string;
  maxAttempts?: number;
  runAt?: string;
  idempotencyKey?: string;
  /** By resource: tokens, money, seconds, calls, children. */
  budget?: Record<string, number>;
  /** The host directory in which it and the items delegated below it run. */
  workspaceDir?: string;
  /** Where the work belongs; see project.ts. */
  project?: string;
  /** The required form of its result: a JSON Schema with the keywords listed in docs/faculty.md; default: the faculty's. */
  resultSchema?: object;
};

export type AbilityDefinition = {
  name: string;
  description: string;
  inputSchema: object;
  effect: string;
  risk: string;
  source?: string | undefined;
  touches?: readonly object[] | undefined;
};

const name = z.object({ name: z.string() });
/** What an item and its descendants may use, have used, and have reserved for what is running. */
const budget = z.object({ resource: z.string(), amount: z.string(), spent: z.string(), reserved: z.string(), remaining: z.string() });
export type Budget = z.infer<typeof budget>;
const owner = z.object({ scope: z.enum(['project', 'faculty']), name: z.string() });
/** A project, by any of its names; or a faculty, by its name or, if it belongs to a project, as name@project. */
export type DailyOwner = z.infer<typeof owner>;
/** What all work of a project or a faculty may use in one UTC day, and today's state. */
const dailyBudget = budget.extend(owner.shape);
export type DailyBudget = z.infer<typeof dailyBudget>;

/**
 * The arguments of work_submit(), with an idempotency key: if the answer is lost with its connection, the submission is repeated and still
 * makes one item.
 */
const submission = (s: Submission) => ({
  p_work_type: s.workType ?? null,
  p_description: s.description,
  p_params: storableJson(s.params ?? {}),
  p_faculty: s.faculty ?? null,
  p_priority: s.priority ?? null,
  p_parent_id: s.parentId ?? null,
  p_dedup_key: s.dedupKey ?? null,
  p_external_id: s.externalId ?? null,
  p_max_attempts: s.maxAttempts ?? null,
  p_run_at: s.runAt ?? null,
  p_idempotency_key: s.idempotencyKey ?? randomUUID(),
  p_budget: s.budget ? storableJson(s.budget) : null,
  p_workspace_dir: s.workspaceDir ?? null,
  p_project: s.project ?? null,
  p_result_schema: s.resultSchema ? storableJson(s.resultSchema) : null,
});

export const submit = ({ call, row, rows, one, run, named, invoked }: Calls) => ({
  version: () => call('work_ledger_version', [], z.string()),

  facultySave: async (config: object) => (await row('faculty_save', [storableJson(config)], name)).name,

  /** All problems of a faculty's configuration; empty: facultySave() accepts it. */
  facultyProblems: (config: unknown) =>
    rows('faculty_problems', [storableJson(config)], z.object({ path: z.array(z.string()), says: z.string() })),

  facultyKeys: () =>
    run(
      () =>
        sql.type(
          z.object({ path: z.string(), type: z.string(), says: z.string() }),
        )`select path, type, says from ${named('v_faculty_keys')}`,
    ),

  abilityRegister: async ({ touches, ...ability }: AbilityDefinition) =>
    (
      await row(
        'ability_register',
        {
          p_name: ability.name,
          p_description: ability.description,
          p_input_schema: storableJson(ability.inputSchema),
          p_effect: ability.effect,
          p_risk: ability.risk,
          p_touches: touches ? storableJson(touches) : null,
          p_source: ability.source ?? null,
        },
        name,
      )
    ).name,

  workSubmit: (s: Submission) => row('work_submit', submission(s), workItem),

  /**
   * Submits an item and keeps it, and those delegated below it, for `keeper`, until a worker of this process takes it over (startWorker's
   * treeId) and the keeper stops.
   */
  workSubmitKept: (s: Submission, keeper: string, host: string) => {
    const submitted = submission(s);
    return one(
      () => sql.type(workItem)`
      select w.* from ${invoked('work_submit', submitted)} w, lateral (select ${invoked('work_keep', [sql.fragment`w.id`, keeper, host, process.pid])}::text) kept`,
    );
  },

  /** Continues finished work (completed: with a message, else from where it ended), and keeps the new item as workSubmitKept() does. */
  workGoOnKept: async (how: 'work_continue' | 'work_retry', workItemId: string, content: string | null, keeper: string, host: string) =>
    one(
      () => sql.type(workItem)`
      select w.* from ${invoked(how, [workItemId, content, randomUUID()])} w, lateral (select ${invoked('work_keep', [sql.fragment`w.id`, keeper, host, process.pid])}::text) kept`,
    ),

  /** Keeps an existing item in the same way. */
  workKeep: (workItemId: string, keeper: string, host: string) => call('work_keep', [workItemId, keeper, host, process.pid], z.unknown()),

  workFork: (turnId: string, message: string | null, faculty: string | null) =>
    row('work_fork', [turnId, message, faculty, randomUUID()], workItem),

  /** The new item that continues completed work. `key`: repeating the call with it returns the same item. */
  workContinue: (workItemId: string, content: string, key: string = randomUUID()) =>
    row('work_continue', [workItemId, content, key], workItem),

  /** The new item that continues failed, dead or cancelled work from where it ended. */
  workRetry: (workItemId: string, content: string | null = null, key: string = randomUUID()) =>
    row('work_retry', [workItemId, content, key], workItem),

  sessionImport: (recorded: object) =>
    call(
      'session_import',
      [storableJson(recorded)],
      z.object({ work_item_id: z.string(), session: z.string(), turns: z.number(), calls: z.number() }),
    ),

  /** A session in another program's own format: its records, and what could not be converted. */
  sessionExport: async (session: string, format: string, cwd: string | null) => {
    const lines = await rows(
      'session_export',
      [session, format, cwd],
      z.object({ n: z.number(), record: z.record(z.string(), z.unknown()).nullable(), left_out: z.string().nullable() }),
    );
    const inOrder = lines.toSorted((a, b) => a.n - b.n);
    return {
      records: inOrder.flatMap(({ record }) => (record === null ? [] : [record])),
      leftOut: inOrder.flatMap(({ left_out }) => (left_out === null ? [] : [left_out])),
    };
  },

  budgetSet: async (workItemId: string, resource: string, amount: number) =>
    (await row('budget_set', [workItemId, resource, amount], z.object({ resource: z.string() }))).resource,

  budgets: (workItemId: string) =>
    run(
      () => sql.type(budget)`
      select resource, trim_scale(amount)::text as amount, trim_scale(spent)::text as spent, trim_scale(reserved)::text as reserved, trim_scale(remaining)::text as remaining
        from ${named('v_budgets')} where work_item_id = ${workItemId}::uuid order by resource`,
    ),

  /** `amount` null: removes it. */
  dailyBudgetSet: (resource: string, amount: string | null, { scope, name: of }: DailyOwner) =>
    run(
      () => sql.type(z.object({ name: z.string().nullable() }))`
      select name from ${named('daily_budget_set')}(${resource}, ${amount}::numeric, ${scope === 'project' ? of : null}, ${scope === 'faculty' ? of : null})`,
    ),

  /** The daily budgets of one owner, or all. */
  dailyBudgets: (of: DailyOwner | null = null) =>
    run(
      () => sql.type(dailyBudget)`
      select scope, name, resource, trim_scale(amount)::text as amount, trim_scale(spent)::text as spent, trim_scale(reserved)::text as reserved, trim_scale(remaining)::text as remaining
        from ${named('v_daily_budgets')}
       where ${of === null} or scope = ${of?.scope ?? ''} and name = case scope when 'project' then ${named('project_name')}(${of?.scope === 'project' ? of.name : null}) else ${of?.name ?? ''} end
       order by scope desc, name, array_position(array['money', 'tokens', 'calls', 'seconds'], resource::text)`,
    ),

  /** The projects and faculties that may have one. */
  dailyOwners: () =>
    run(
      () => sql.type(owner)`
      select 'project' as scope, project as name from ${named('v_projects')}
      union all select 'faculty', concat_ws('@', name, project) from ${named('v_faculties')}
      union select scope, name from ${named('v_daily_budgets')}
      order by 1 desc, 2`,
    ),

  /** The abilities offered to agents outside the loop. */
  abilitiesForClients: () =>
    run(
      () => sql.type(z.object({ name: z.string(), description: z.string(), input_schema: json }))`
      select tool_name as name, description, input_schema from ${named('v_abilities')}
       where implementation <> 'runtime' and name !~ '^ldg:' order by is_builtin desc, position, tool_name`,
    ),

  /**
   * `callId`: if the answer is lost with its connection, the call is repeated and still takes effect once; so does any other call with the
   * same id.
   */
  abilityInvoke: (ability: string, input: object, workItemId: string, lease: string | null = null, callId: string = randomUUID()) =>
    call('ability_invoke', [ability, storableJson(input), workItemId, lease, callId], z.unknown()),

  /** Messages from people and other agents to another program's session since the last call; null: none. */
  inboxTake: (workItemId: string) => call('inbox_take', [workItemId], z.string().nullable()),
});
