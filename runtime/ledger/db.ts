// The only SQL in TypeScript: one function for each SQL function that the runtime calls.
// Rows are parsed by the schemas of answers.ts, at the edge; what comes out is typed. Every call is safe to repeat (the SQL side is
// idempotent), so a call whose connection died, or that a deadlock rolled back, is repeated until it comes through or patience ends.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createPool, createTypeParserPreset, SchemaValidationError, sql } from 'slonik';
import type { DatabasePool, Interceptor, PrimitiveValueExpression, QuerySqlToken } from 'slonik';
import { z } from 'zod';

import { storableJson, storableText } from '../../plv8/storable.ts';
import { isConnectionLost } from './connection.ts';
import type { ContentBlock, ModelError, ModelResponse } from '../model/message.ts';
import type { HookResult } from '../focus/runHook.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { journalQueries } from './journalQueries.ts';
import { errorCodes, LedgerError, sqlState } from './errors.ts';
import type { ErrorCode } from './errors.ts';
import { activity, begin, call, claim, contextPart, entry, failure, finish, hookRecorded, json, nestedCall, toolHookRecorded, workItem } from './answers.ts';

export type { Activity, Begin, Claim, Claimed, ContextPart, Failure, Finish, HookOrder, LedgerEntry, OpenCall, WorkItem } from './answers.ts';

export type Submission = {
  workType: string;
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
  /** The directory of the host that it and what it delegates are worked on in. */
  workspaceDir?: string;
};

export type AbilityDefinition = {
  name: string;
  description: string;
  inputSchema: object;
  effect: string;
  risk: string;
  touches?: readonly object[] | undefined;
};

/** How the code of an execute_code call ran; bytes_seen by it, bytes_returned to the model. */
export type CodeRun = { verdict: string; calls: number; bytes_seen: number; bytes_returned: number; duration_ms: number; timeout_seconds: number };

/** The right to write for one work item. */
export type Lease = { work_item_id: string; lease: string };

/** slonik has no row validation of its own; this hands every row to the schema of its query. */
const validateRows: Interceptor = {
  name: 'validate rows',
  transformRowAsync: async (context, query, row) => {
    if (!context.resultParser) return row;
    const result = await context.resultParser['~standard'].validate(row);
    if (result.issues) throw new SchemaValidationError(query, row, result.issues);
    return result.value as typeof row;
  },
};

/** Whatever comes from a model, a tool, code or a person: an argument is text that Postgres takes. JSON is made such by storableJson(). */
const storableArguments: Interceptor = {
  name: 'storable arguments',
  transformQuery: (_, query) => ({ ...query, values: query.values.map(storableArgument) }),
};

function storableArgument(value: PrimitiveValueExpression): PrimitiveValueExpression {
  if (typeof value === 'string') return storableText(value);
  return Array.isArray(value) ? value.map(storableArgument) : value;
}

const isoTimestamps = ['timestamptz', 'timestamp'].map((name) => ({ name, parse: (value: string) => value }));
const int8AsNumber = { name: 'int8', parse: Number };

/** How long a call is repeated while the server cannot be reached: under the lease, so that a worker gives up before another takes over. */
const PATIENCE_MS = 20_000;

export type Db = Awaited<ReturnType<typeof openDb>>;

/** Opens the ledger in `schema` of the database at `url`. Close it with `close()`. */
export async function openDb(url: string, schema: string, options: { maximumPoolSize?: number } = {}) {
  const maximumPoolSize = options.maximumPoolSize ?? 10;
  const inLine = atMost(maximumPoolSize);
  const pool: DatabasePool = await createPool(url, {
    maximumPoolSize,
    interceptors: [storableArguments, validateRows],
    typeParsers: [...createTypeParserPreset().filter((p) => !['timestamptz', 'timestamp', 'int8'].includes(p.name)), ...isoTimestamps, int8AsNumber],
    queryRetryLimit: 0,
    // Nothing here changes session state, so a connection goes back as it is (saves 0.24 ms a call).
    resetConnection: async () => {},
  });
  pool.on('error', () => {}); // an idle connection died: the next call gets a new one

  const fn = (name: string) => sql.identifier([schema, name]);

  async function run<Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>): Promise<readonly z.output<Schema>[]> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
      try {
        return (await inLine(() => pool.any(query()))) as readonly z.output<Schema>[];
      } catch (error) {
        if (!(isConnectionLost(error) || isRolledBack(error)) || performance.now() + delay > deadline) throw translate(error);
        await sleep(delay);
      }
    }
  }
  async function one<Schema extends z.ZodType>(query: () => QuerySqlToken<Schema>): Promise<z.output<Schema>> {
    const [row] = await run(query);
    if (row === undefined) throw new Error('the ledger returned no row');
    return row;
  }
  type ValueRow<T> = z.ZodObject<{ value: z.ZodType<T> }>;
  const value = async <T>(schemaOf: z.ZodType<T>, query: (row: ValueRow<T>) => QuerySqlToken<ValueRow<T>>): Promise<T> =>
    (await one(() => query(z.object({ value: schemaOf })))).value;
  const optional = (text: string | undefined | null) => text ?? null;

  /** A submission whose answer was lost with its connection is repeated, and is one. */
  const keyed = (s: Submission): Submission => ({ ...s, idempotencyKey: s.idempotencyKey ?? randomUUID() });
  const submission = (s: Submission) => sql.fragment`
    ${fn('work_submit')}(
      p_work_type => ${s.workType},
      p_description => ${s.description},
      p_params => ${storableJson(s.params ?? {})}::jsonb,
      p_faculty => ${optional(s.faculty)},
      p_priority => ${s.priority ?? null}::integer,
      p_parent_id => ${optional(s.parentId)}::uuid,
      p_dedup_key => ${optional(s.dedupKey)},
      p_external_id => ${optional(s.externalId)},
      p_max_attempts => ${s.maxAttempts ?? null}::integer,
      p_run_at => ${optional(s.runAt)}::timestamptz,
      p_idempotency_key => ${optional(s.idempotencyKey)},
      p_budget => ${s.budget ? storableJson(s.budget) : null}::jsonb,
      p_workspace_dir => ${optional(s.workspaceDir)})`;

  return {
    pool,
    schema,
    journal: journalQueries(run, fn),
    close: () => pool.end(),

    version: () => value(z.string(), (row) => sql.type(row)`select ${fn('work_ledger_version')}() as value`),

    facultySave: (config: object) =>
      value(z.string(), (row) => sql.type(row)`select name as value from ${fn('faculty_save')}(${storableJson(config)}::jsonb)`),

    abilityRegister: (ability: AbilityDefinition) =>
      value(z.string(), (row) => sql.type(row)`
        select name as value from ${fn('ability_register')}(
          ${ability.name}, ${ability.description}, ${storableJson(ability.inputSchema)}::json, ${ability.effect}, ${ability.risk},
          p_touches => ${ability.touches ? storableJson(ability.touches) : null}::json)`),

    workSubmit: (s: Submission) => {
      const once = keyed(s);
      return one(() => sql.type(workItem)`select * from ${submission(once)}`);
    },

    /** Submits, and keeps the item with what it delegates for `keeper`, until a worker of this process takes it over (startWorker's treeId) and the keeper stops. */
    workSubmitKept: (s: Submission, keeper: string, host: string) => {
      const once = keyed(s);
      return one(() => sql.type(workItem)`
        select w.* from ${submission(once)} w, lateral (select ${fn('work_keep')}(w.id, ${keeper}, ${host}, ${process.pid})::text) kept`);
    },

    budgetSet: (workItemId: string, resource: string, amount: number) =>
      value(z.string(), (row) => sql.type(row)`select resource as value from ${fn('budget_set')}(${workItemId}::uuid, ${resource}, ${amount}::numeric)`),

    budgets: (workItemId: string) =>
      run(() => sql.type(z.object({ resource: z.string(), amount: z.string(), spent: z.string(), reserved: z.string(), remaining: z.string() }))`
        select resource, trim_scale(amount)::text as amount, trim_scale(spent)::text as spent, trim_scale(reserved)::text as reserved, trim_scale(remaining)::text as remaining
          from ${fn('v_budgets')} where work_item_id = ${workItemId}::uuid order by resource`),

    workCancel: (workItemId: string, reason: string | null) =>
      run(() => sql.type(workItem)`select * from ${fn('work_cancel')}(${workItemId}::uuid, ${reason})`),

    workFork: (turnId: string, message: string | null, faculty: string | null) => {
      const key = randomUUID();
      return one(() => sql.type(workItem)`select * from ${fn('work_fork')}(${turnId}::uuid, ${message}, ${faculty}, ${key})`);
    },

    /** The abilities that an agent outside the loop is offered. */
    abilitiesForClients: () =>
      run(() => sql.type(z.object({ name: z.string(), description: z.string(), input_schema: json }))`
        select tool_name as name, description, input_schema from ${fn('abilities')}
         where implementation <> 'runtime' and name !~ '^ldg:' order by is_builtin desc, position, tool_name`),

    abilityInvoke: (name: string, input: object, workItemId: string) =>
      value(z.unknown(), (row) => sql.type(row)`select ${fn('ability_invoke')}(${name}, ${storableJson(input)}::jsonb, ${workItemId}::uuid) as value`),

    sessionImport: (recorded: object) =>
      value(z.object({ work_item_id: z.string(), session: z.string(), turns: z.number(), calls: z.number() }), (row) => sql.type(row)`
        select ${fn('session_import')}(${storableJson(recorded)}::json) as value`),

    workPause: (workItemId: string, reason: string | null) =>
      one(() => sql.type(workItem)`select * from ${fn('work_pause')}(${workItemId}::uuid, ${reason})`),

    workMessage: (workItemId: string, content: string, isInterrupt: boolean) =>
      value(z.string(), (row) => sql.type(row)`select id as value from ${fn('work_message')}(${workItemId}::uuid, ${content}, ${isInterrupt})`),

    approvals: () =>
      run(() => sql.type(z.object({ tool_call_id: z.string(), work_item_id: z.string(), tool_name: z.string(), risk: z.string(), input: z.unknown(), expires_at: z.string() }))`
        select tool_call_id, work_item_id, tool_name, risk, input, expires_at from ${fn('v_approvals')} order by requested_at`),

    toolCallApprove: (toolCallId: string) =>
      value(z.string(), (row) => sql.type(row)`select decision as value from ${fn('tool_call_approve')}(${toolCallId}::uuid)`),

    toolCallReject: (toolCallId: string, reason: string | null) =>
      value(z.string(), (row) => sql.type(row)`select decision as value from ${fn('tool_call_reject')}(${toolCallId}::uuid, ${reason})`),

    workResume: (workItemId: string) => one(() => sql.type(workItem)`select * from ${fn('work_resume')}(${workItemId}::uuid)`),

    workItem: async (workItemId: string) =>
      (await run(() => sql.type(workItem)`select * from ${fn('work_items')} where id = ${workItemId}::uuid`))[0] ?? null,

    /** The items of these trees, each behind its parent. */
    workTrees: (rootIds: readonly string[]) =>
      run(() => sql.type(workItem)`select * from ${fn('work_items')} where root_id = any (${sql.array(rootIds, 'uuid')}) order by root_id, depth, created_at`),

    awarenessShown: (workItemId: string) =>
      run(() => sql.type(z.object({ iteration: z.number(), kind: z.string(), content: z.string() }))`
        select iteration, kind, content from ${fn('v_awareness_shown')} where reader_id = ${workItemId}::uuid order by shown_at, kind`),

    workItems: (limit: number) =>
      run(() => sql.type(workItem)`select * from ${fn('work_items')} order by created_at desc limit ${limit}`),

    /** What a status line shows of a running work item. */
    workProgress: (workItemId: string) =>
      one(() => sql.type(z.object({
        state: z.string(),
        state_reason: z.string().nullable(),
        run_at: z.string(),
        turns: z.number(),
        tokens: z.number(),
        last_entry: z.string().nullable(),
      }))`
        select w.state, w.state_reason, w.run_at, coalesce(u.turns, 0) as turns, coalesce(u.total_tokens, 0)::int8 as tokens,
               (select l.entry_type || ': ' || l.content from ${fn('work_ledger')} l where l.work_item_id = w.id order by l.seq desc limit 1) as last_entry
          from ${fn('work_items')} w
          left join ${fn('v_usage')} u on u.work_item_id = w.id
         where w.id = ${workItemId}::uuid`),

    toolCalls: (workItemId: string) =>
      run(() => sql.type(z.object({ tool_name: z.string(), status: z.string(), attempts: z.number(), input: z.unknown() }))`
        select tool_name, status, attempts, input from ${fn('tool_calls')} where work_item_id = ${workItemId}::uuid order by created_at, ordinal`),

    /** Calls of execute_code, each before the calls that its code made; chars: of what they returned, whole. */
    codeCalls: (workItemId: string) =>
      run(() => sql.type(z.object({ tool_name: z.string(), is_nested: z.boolean(), code: z.string().nullable(), result: z.string(), chars: z.number() }))`
        select k.tool_name, k.parent_call_id is not null as is_nested, k.input ->> 'code' as code, coalesce(k.result #>> '{}', '') as result,
               coalesce(char_length(a.content), char_length(k.result #>> '{}'), 0) as chars
          from ${fn('tool_calls')} k
          left join ${fn('artifacts')} a on a.content_hash = k.artifact_hash
         where k.work_item_id = ${workItemId}::uuid and (k.tool_name = 'execute_code' or k.parent_call_id is not null)
         order by coalesce(k.parent_call_id, k.id), k.parent_call_id is not null, k.ordinal`),

    turnIds: async (workItemId: string) =>
      (await run(() => sql.type(z.object({ id: z.string() }))`
        select id from ${fn('turns')} where work_item_id = ${workItemId}::uuid order by depth, id`)).map((turn) => turn.id),

    contextAt: (turnId: string) =>
      value(z.string(), (row) => sql.type(row)`select ${fn('context_at')}(${turnId}::uuid)::text as value`),

    contextParts: (turnId: string) =>
      run(() => sql.type(contextPart)`select * from ${fn('context_parts')}(${turnId}::uuid) order by n`),

    explainTurn: (turnId: string) =>
      run(() => sql.type(z.object({ block: z.number(), shown: z.string(), turns: z.number(), estimated_tokens: z.number(), why: z.string() }))`
        select * from ${fn('explain_turn')}(${turnId}::uuid)`),

    ledgerAppend: (workItemId: string, entryType: string, content: string, idempotencyKey: string = randomUUID()) =>
      one(() => sql.type(entry)`
        select * from ${fn('ledger_append')}(${workItemId}::uuid, ${entryType}, ${content}, p_idempotency_key => ${idempotencyKey})`),

    ledgerRead: (workItemId: string, entryType: string | null, lastN: number | null) =>
      run(() => sql.type(entry)`select * from ${fn('ledger_read')}(${workItemId}::uuid, ${entryType}, ${lastN}::integer)`),

    ledgerSince: (workItemId: string, seq: number) =>
      run(() => sql.type(entry)`select * from ${fn('work_ledger')} where work_item_id = ${workItemId}::uuid and seq > ${seq} order by seq`),

    ledgerWatch: (workItemId: string, seconds: number) =>
      value(z.string(), (row) => sql.type(row)`select ${fn('ledger_watch')}(${workItemId}::uuid, ${seconds}) as value`),

    ledgerReadFormatted: (workItemId: string) =>
      value(z.string(), (row) => sql.type(row)`select ${fn('ledger_read_formatted')}(${workItemId}::uuid) as value`),

    awarenessDigest: (workItemId: string | null) =>
      value(z.string(), (row) => sql.type(row)`select ${fn('awareness_digest')}(${workItemId}::uuid) as value`),

    missingTools: () =>
      run(() => sql.type(z.object({ faculty: z.string(), tool: z.string() }))`select faculty, tool from ${fn('v_missing_tools')}`),

    unroutable: () =>
      run(() => sql.type(z.object({ id: z.string(), work_type: z.string() }))`select id, work_type from ${fn('v_unroutable')}`),

    expiredLeases: () =>
      run(() => sql.type(z.object({ work_item_id: z.string() }))`select work_item_id from ${fn('v_leases')} where is_expired`),

    serverSettings: () =>
      run(() => sql.type(z.object({ name: z.string(), setting: z.string() }))`
        select name, setting from pg_settings
         where name in ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'transaction_read_only')`),

    // The stages of an iteration, in order.

    focusClaim: (workItemId: string, workerId: string, leaseSeconds: number) =>
      value(claim, (row) => sql.type(row)`select ${fn('focus_claim')}(${workItemId}::uuid, ${workerId}, ${leaseSeconds}) as value`),

    iterationBegin: (lease: Lease) =>
      value(begin, (row) => sql.type(row)`select ${fn('iteration_begin')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid) as value`),

    /** Not repeated: the next one holds all of it. False: nobody watches. */
    turnStream: async (lease: Lease, turnId: string, content: readonly ContentBlock[]) =>
      (await pool.one(sql.type(z.object({ value: z.boolean() }))`
        select ${fn('turn_stream')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${turnId}::uuid, ${storableJson(content)}::json) as value`)).value,

    turnRecord: async (lease: Lease, turnId: string, response: ModelResponse) =>
      (await value(z.object({ calls: z.array(call) }), (row) => sql.type(row)`
        select ${fn('turn_record')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${turnId}::uuid, ${responseJson(response)}::json) as value`)).calls,

    summaryRecord: (lease: Lease, turnId: string, response: ModelResponse) =>
      value(z.boolean(), (row) => sql.type(row)`
        select ${fn('summary_record')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${turnId}::uuid, ${responseJson(response)}::json) as value`),

    /** The calls that have to end first; none: it has begun. */
    toolCallBegin: (lease: Lease, toolCallId: string) =>
      value(z.array(z.string()), (row) => sql.type(row)`
        select to_json(${fn('tool_call_begin')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${toolCallId}::uuid)) as value`),

    /** `whole`: what the content was made of, kept as an artifact. */
    toolCallSettle: (lease: Lease, toolCallId: string, outcome: ToolOutcome, whole: string | null = null, codeRun: CodeRun | null = null) =>
      run(() => sql.type(z.unknown())`
        select ${fn('tool_call_settle')}(
          ${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${toolCallId}::uuid, ${outcome.content}, ${outcome.isError},
          ${outcome.images ? storableJson(outcome.images) : null}::jsonb, ${whole}, ${storableJson(outcome.value)}::json,
          ${codeRun === null ? null : storableJson(codeRun)}::jsonb)::text`),

    toolCallNested: (lease: Lease, parentCallId: string, ordinal: number, name: string, input: Record<string, unknown>) =>
      value(nestedCall, (row) => sql.type(row)`
        select ${fn('tool_call_nested')}(
          ${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${parentCallId}::uuid, ${ordinal}::integer, ${name}, ${storableJson(input)}::json) as value`),

    toolCallSuspend: (lease: Lease, toolCallId: string) =>
      run(() => sql.type(z.unknown())`select ${fn('tool_call_suspend')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${toolCallId}::uuid)::text`),

    /** The calls that have to end first; none: it has run. */
    toolCallExecute: (lease: Lease, toolCallId: string) =>
      value(z.array(z.string()), (row) => sql.type(row)`
        select to_json(${fn('tool_call_execute')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${toolCallId}::uuid)) as value`),

    hookRecord: (lease: Lease, hookRunId: string, result: HookResult) =>
      value(hookRecorded, (row) => sql.type(row)`
        select ${fn('hook_record')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${hookRunId}::uuid, ${storableJson(result)}::jsonb) as value`),

    toolHookRecord: (lease: Lease, toolCallId: string, hook: string, result: HookResult, outcome: ToolOutcome | null) =>
      value(toolHookRecorded, (row) => sql.type(row)`
        select ${fn('tool_hook_record')}(
          ${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${toolCallId}::uuid, ${hook}, ${storableJson(result)}::jsonb,
          ${outcome?.content ?? null}, ${outcome?.isError ?? false}, ${outcome?.images ? storableJson(outcome.images) : null}::jsonb,
          ${storableJson(outcome?.value)}::json) as value`),

    iterationFinish: (lease: Lease) =>
      value(finish, (row) => sql.type(row)`select ${fn('iteration_finish')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid) as value`),

    iterationFail: (lease: Lease, error: ModelError) =>
      value(failure, (row) => sql.type(row)`
        select ${fn('iteration_fail')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid, ${storableJson({
          class: error.class,
          message: error.message,
          status: error.status,
          retry_after_seconds: error.retryAfterSeconds,
          request_id: error.requestId,
        })}::jsonb) as value`),

    iterationRelease: (lease: Lease) =>
      run(() => sql.type(z.unknown())`select ${fn('iteration_release')}(${lease.work_item_id}::uuid, ${lease.lease}::uuid)::text`),

    /** From `fromTurnId` on, or the newest turn. */
    workActivity: (workItemId: string, fromTurnId: string | null) =>
      run(() => sql.type(activity)`
        select turn_id, iteration, status, thinking, said, coalesce(calls, '[]') as calls from ${fn('work_activity')}(${workItemId}::uuid, ${fromTurnId}::uuid)`),

    // A worker's own upkeep. The heartbeat is never repeated: a late one proves nothing; nor is the end, which a sweep makes good.

    leaseRenew: async (workerId: string, leases: readonly string[], host: string, pid: number, treeId: string | null) =>
      (await inLine(() => pool.any(sql.type(z.object({ lease: z.string() }))`
        select lease from ${fn('lease_renew')}(${workerId}, ${sql.array(leases, 'uuid')}, ${host}, ${pid}, ${treeId}::uuid) as lease`))).map((row) => row.lease),

    connections: () =>
      one(() => sql.type(z.object({ most: z.number(), left: z.number() }))`
        with one as (
          select current_setting('max_connections')::integer as most,
                 current_setting('superuser_reserved_connections')::integer + coalesce(current_setting('reserved_connections', true)::integer, 0) as reserved)
        select most, (most - reserved - (select sum(numbackends) from pg_stat_database))::integer as left from one`),

    deadJobs: () => value(z.number(), (row) => sql.type(row)`select cardinality(${fn('_dead_jobs')}()) as value`),

    workSweep: (workerTimeoutSeconds: number) =>
      value(z.object({ expired: z.number(), enqueued: z.number(), dead_workers: z.array(z.string()) }), (row) => sql.type(row)`
        select ${fn('work_sweep')}(make_interval(secs => ${workerTimeoutSeconds})) as value`),

    workspacesOver: async (workItemIds: readonly string[]) =>
      (await run(() => sql.type(z.object({ id: z.string() }))`select id from ${fn('workspaces_over')}(${sql.array(workItemIds, 'uuid')}) as id`)).map((row) => row.id),

    workerStop: (workerId: string) => inLine(() => pool.any(sql.type(z.unknown())`select ${fn('worker_stop')}(${workerId})::text`)),
  };
}

/** Lets so many through at once, the others in their order. slonik's own line forgets whoever waits for a connection that could not be opened. */
function atMost(places: number): <T>(use: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  return async (use) => {
    if (places > 0) places--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await use();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else places++;
    }
  };
}

function responseJson(response: ModelResponse): string | null {
  return storableJson({
    id: response.id,
    provider: response.provider,
    model: response.model,
    content: response.content,
    stop_reason: response.stopReason,
    stop_details: response.stopDetails ?? null,
    request_id: response.requestId,
    duration_ms: response.durationMs,
    first_token_ms: response.firstTokenMs ?? null,
    usage: {
      input_tokens: response.usage.inputTokens,
      output_tokens: response.usage.outputTokens,
      cached_input_tokens: response.usage.cachedInputTokens,
      cache_write_tokens: response.usage.cacheWriteTokens,
      reasoning_tokens: response.usage.reasoningTokens,
    },
  });
}

/** Another transaction won; nothing of this one was done. */
function isRolledBack(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '');
}

function translate(error: unknown): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && cause.code in errorCodes) {
      const { detail, hint } = cause as { detail?: string; hint?: string };
      return new LedgerError(cause.code as ErrorCode, cause.message, detail ?? '', hint ?? '');
    }
    if ('code' in cause && cause.code === '3F000') return new Error(`${cause.message}: no ledger was installed there (work-ledger install)`, { cause: error });
    if ('code' in cause && ['42P01', '42703', '42883'].includes(cause.code as string)) {
      return new Error(`${cause.message}. Is that ledger this program's, and whole? work-ledger doctor says what is there`, { cause: error });
    }
  }
  return error;
}
