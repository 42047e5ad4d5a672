// Schemas of the database's answers. JSON and rows are parsed with them on arrival and are typed from there on.

import { z } from 'zod';

export const json = z.record(z.string(), z.unknown());
const engage = z.looseObject({
  base_url: z.string().nullish(),
  api_key_env: z.string().nullish(),
  tools: z.array(z.string()),
  parallel_tool_execution: z.boolean(),
  max_parallel_tools: z.number(),
  workspace: z.string(),
  workspace_dir: z.string().nullable(),
  workspace_image: z.string(),
  workspace_memory: z.string(),
  workspace_cpus: z.number(),
  workspace_size: z.string(),
  web_fetch_allow: z.array(z.string()),
  code_execution_timeout: z.number(),
  code_execution_image: z.string(),
  code_execution_memory: z.string(),
  code_execution_cpus: z.number(),
  code_execution_pool: z.number(),
  code_execution_session: z.boolean(),
});
const hooks = z.looseObject({ before_tool: z.string().nullable(), after_tool: z.string().nullable(), timeout: z.number() });
const faculty = z.looseObject({ name: z.string(), engage, hooks });

export const claim = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('claimed'),
    work_item_id: z.string(),
    focus_id: z.string(),
    lease: z.string(),
    lease_generation: z.number(),
    attempt: z.number(),
    iteration: z.number(),
    faculty,
    /** The workspace_dir of the item or its faculty, and the role that set it. */
    directory: z.object({ path: z.string(), named_by: z.string().nullable(), is_administered: z.boolean() }).nullish(),
  }),
  z.object({ kind: z.literal('busy'), lease_owner: z.string() }),
  z.object({ kind: z.literal('finished'), state: z.string() }),
  z.object({
    kind: z.literal('not_due'),
    state: z.string(),
    run_at: z.string(),
    /** Why this worker may not run the item. */
    reason: z.string().optional(),
    /** The host that its job was moved to; null: no worker is alive where the item may run. */
    host: z.string().nullish(),
  }),
  z.object({ kind: z.literal('unroutable'), work_type: z.string() }),
]);

export const call = z.object({
  id: z.string(),
  /** Its position among the calls of the response, or of the code that made it. */
  ordinal: z.number(),
  name: z.string(),
  /** Whether it began when the response was stored. */
  is_begun: z.boolean(),
  input: z.unknown(),
  /** Whether its before_tool hook has already allowed it. */
  is_cleared: z.boolean(),
  input_schema: json,
  implementation: z.enum(['engine', 'sql', 'runtime']),
  /** The calls that must end before it begins. */
  behind: z.array(z.string()),
  /** For execute_code: the tools that its code may call. */
  code_tools: z.array(z.object({ name: z.string(), description: z.string(), input_schema: json })).nullable(),
});

export const nestedCall = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), call, is_rewritten: z.boolean() }),
  z.object({ kind: z.literal('settled'), is_error: z.boolean(), content: z.string(), value: z.unknown() }),
  z.object({ kind: z.literal('waiting') }),
  z.object({ kind: z.literal('diverged'), reason: z.string() }),
  z.object({ kind: z.literal('unknown'), reason: z.string() }),
]);

const runHook = z.object({
  kind: z.literal('run_hook'),
  hook_run_id: z.string(),
  command: z.string(),
  timeout_seconds: z.number(),
  input: json,
});
const ended = { kind: z.enum(['completed', 'failed', 'dead', 'queued', 'paused']), reason: z.string().nullable() };

const callModel = z.object({
  kind: z.literal('call_model'),
  turn_id: z.string(),
  is_watched: z.boolean(),
  /**
   * The tools whose calls may run before the response is recorded, as name in the request → our name; null: the database runs these calls
   * itself, with the response.
   */
  early: z.record(z.string(), z.string().nullable()),
  request: json,
});
const otherBegins = [
  z.object({ kind: z.literal('parked'), until: z.string() }),
  z.object({ kind: z.literal('retry'), run_at: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('summarize'), turn_id: z.string(), is_watched: z.boolean(), request: json }),
  runHook,
  z.object({ kind: z.literal('run_tools'), turn_id: z.string(), calls: z.array(call) }),
  z.object({ ...ended }),
] as const;

export const begin = z.discriminatedUnion('kind', [callModel, ...otherBegins]);

/** A `begin` as sent to a worker that kept the previous request: `since` is what follows that request's messages. */
const beginSent = z.discriminatedUnion('kind', [
  callModel.extend({ request: json.nullable(), since: z.array(json).nullish() }),
  ...otherBegins,
]);

export const activity = z.object({
  turn_id: z.string(),
  iteration: z.number().nullable(),
  status: z.enum(['pending', 'streaming', 'completed', 'failed']),
  /** Messages from people and other agents. */
  told: z.array(z.object({ by: z.enum(['person', 'agent']), name: z.string().nullable(), text: z.string(), told_at: z.string() })),
  thinking: z.string().nullable(),
  said: z.string().nullable(),
  calls: z.array(
    z.object({
      id: z.string(),
      parent_call_id: z.string().nullable(),
      name: z.string(),
      input: z.string(),
      status: z.string(),
      error: z.string().nullish(),
      started_at: z.string().nullable(),
      completed_at: z.string().nullable(),
    }),
  ),
  updated_at: z.string().nullable(),
  /** Null: not answered. */
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  /** Null also if there are no prices. */
  cost: z.number().nullable(),
});

export const step = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('continued'), iteration: z.number(), next: beginSent.optional() }),
  z.object({ kind: z.literal('parked'), until: z.string() }),
  /** calls: to run now; waiting: those that wait for a person, or for a call that does. */
  z.object({
    kind: z.literal('run_tools'),
    turn_id: z.string(),
    calls: z.array(call),
    waiting: z.array(call.pick({ id: true, ordinal: true, input: true })),
  }),
  runHook,
  z.object({ ...ended }),
]);

export const hookRecorded = z.discriminatedUnion('kind', [z.object({ kind: z.literal('recorded') }), z.object({ ...ended })]);

export const toolHookRecorded = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('go'), input: z.unknown(), is_rewritten: z.boolean() }),
  z.object({ kind: z.literal('waiting'), input: z.unknown(), is_rewritten: z.boolean() }),
  z.object({ kind: z.literal('settled') }),
]);

export const failure = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('retry'), run_at: z.string(), reason: z.string() }),
  z.object({ ...ended }),
]);

/** A work item as functions return it: its row. */
export const workItem = z.object({
  id: z.string(),
  parent_id: z.string().nullable(),
  work_type: z.string(),
  description: z.string(),
  faculty: z.string().nullable(),
  priority: z.number(),
  state: z.string(),
  state_reason: z.string().nullable(),
  attempts: z.number(),
  run_at: z.string(),
  created_at: z.string(),
  resolved_at: z.string().nullable(),
  erased_at: z.string().nullable(),
  outcome_data: json.nullable(),
});

/**
 * A work item as views show it: with the number of its entries (counted by its fence) and its neighbours in a conversation of several
 * items.
 */
export const countedItem = workItem.extend({
  ledger_count: z.number(),
  /** The item that it continues. */
  continues_id: z.string().nullable(),
  /** The item that continues it. */
  next_id: z.string().nullable(),
});

/** In the order in which an item reaches them, as in _work_states(). */
const states = ['created', 'queued', 'claimed', 'running', 'waiting', 'paused', 'completed', 'failed', 'dead', 'cancelled'];
const finalStates = new Set(states.slice(states.indexOf('completed')));

/** Returns the first of these that is not a state of a work item; null: all are. */
export function unknownState(given: readonly string[]): string | null {
  const unknown = given.find((state) => !states.includes(state));
  return unknown === undefined ? null : `there is no state "${unknown}": one of ${states.join(', ')}`;
}

/** Whether a work item in this state has ended. */
export const isFinal = (state: string): boolean => finalStates.has(state);

export const entry = z.object({
  work_item_id: z.string(),
  seq: z.number(),
  entry_type: z.string(),
  content: z.string(),
  keep: z.array(z.string()).nullable(),
  retracts: z.number().nullable(),
  created_at: z.string(),
});

export const contextPart = z.object({
  part: z.string(),
  role: z.string(),
  iteration: z.number().nullable(),
  block: z.number().nullable(),
  tokens: z.number(),
  content: z.string().nullable(),
});

export const journalSession = z.object({
  id: z.string(),
  conversationId: z.string(),
  originalPrompt: z.string(),
  status: z.enum(['active', 'paused', 'completed', 'crashed']),
  createdAt: z.number(),
  updatedAt: z.number(),
  completedAt: z.number().nullable(),
  tokenEstimate: z.number(),
  entryCount: z.number(),
});

export const journalEntry = z.object({
  /** Stable even if other entries commit late. */
  id: z.string(),
  sessionId: z.string(),
  /** Increases with time, with gaps. */
  sequenceNum: z.number(),
  entryType: z.enum([
    'session_start',
    'thinking',
    'tool_request',
    'tool_approved',
    'tool_rejected',
    'tool_result',
    'code_generated',
    'file_read',
    'file_written',
    'decision',
    'error',
    'recovery',
    'checkpoint',
    'user_feedback',
    'summary',
    'session_end',
  ]),
  timestamp: z.number(),
  content: json,
  tokenEstimate: z.number(),
  importance: z.enum(['low', 'normal', 'high', 'critical']),
});

const instant = z.string();

/** A span as work_trace() returns it. */
export const traceSpan = z.object({
  trace_id: z.string(),
  span_id: z.string(),
  parent_span_id: z.string().nullable(),
  name: z.string(),
  kind: z.enum(['internal', 'client']),
  started_at: instant,
  ended_at: instant,
  status: z.enum(['unset', 'error']),
  attributes: json,
  events: z.array(z.object({ name: z.string(), at: instant, attributes: json })),
  links: z.array(z.object({ trace_id: z.string(), span_id: z.string(), attributes: json })),
});

const orNull = z.string().nullable();

/** A row of work_waterfall(). */
export const fallRow = z.object({
  n: z.number(),
  depth: z.number(),
  span_id: z.string(),
  parent_span_id: orNull,
  kind: z.enum(['item', 'agent', 'queue', 'model', 'tool', 'child', 'wait', 'person', 'hook']),
  name: z.string(),
  work_item_id: z.string(),
  turn_id: orNull,
  call_id: orNull,
  attempt: z.number().nullable(),
  started_at: instant,
  ended_at: instant.nullable(),
  seconds: z.number(),
  is_error: z.boolean(),
  says: orNull,
  cost: z.number().nullable(),
  critical_from: instant.nullable(),
  critical_until: instant.nullable(),
});

/** A window of a waterfall's rows, with their number and their sums. */
export const fallWindow = z.object({
  rows: z.array(fallRow),
  /** How many rows the window has, including those not in `rows`. */
  found: z.number(),
  all: z.number(),
  root: fallRow,
  /** For each kind: its rows, its seconds without those of nested rows, and its seconds on the critical path. */
  kinds: z.array(z.object({ kind: z.string(), rows: z.number(), seconds: z.number(), critical: z.number() })),
});

export const traceTaken = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('held') }),
  z.object({ kind: z.literal('nothing') }),
  z.object({ kind: z.literal('spans'), iteration: z.number(), is_done: z.boolean(), spans: z.array(traceSpan) }),
]);

const texts = z.array(z.string());

export const checkpoint = z.object({
  id: z.string(),
  sessionId: z.string(),
  createdAt: z.number(),
  trigger: z.string(),
  manual: z.boolean(),
  summary: z.string(),
  keyDecisions: texts,
  currentState: z.string(),
  filesModified: texts,
  pendingActions: texts,
});

export const resumptionContext = z.object({
  originalPrompt: z.string(),
  workSummary: z.string(),
  keyDecisions: texts,
  currentState: z.string(),
  filesModified: texts,
  pendingActions: texts,
  errorHistory: texts,
  suggestedNextSteps: texts,
  tokenCount: z.number(),
});

/** A session that can be resumed, with its resumption packet. */
export const resumableSession = journalSession.extend({ packet: resumptionContext });

export type ResumableSession = z.infer<typeof resumableSession>;
export type JournalSession = z.infer<typeof journalSession>;
export type JournalEntry = z.infer<typeof journalEntry>;
export type Checkpoint = z.infer<typeof checkpoint>;
export type ResumptionContext = z.infer<typeof resumptionContext>;
export type Claim = z.infer<typeof claim>;
export type Claimed = Extract<Claim, { kind: 'claimed' }>;
export type Activity = z.infer<typeof activity>;
export type Begin = z.infer<typeof begin>;
type StepSent = z.infer<typeof step>;
/** A step whose next request is complete. */
export type Step = Exclude<StepSent, { kind: 'continued' }> | (Omit<Extract<StepSent, { kind: 'continued' }>, 'next'> & { next?: Begin });
export type Request = Extract<Begin, { kind: 'call_model' }>;
export type Failure = z.infer<typeof failure>;
export type OpenCall = z.infer<typeof call>;
export type HookOrder = z.infer<typeof runHook>;
export type WorkItem = z.infer<typeof workItem>;
export type CountedItem = z.infer<typeof countedItem>;
export type LedgerEntry = z.infer<typeof entry>;
export type TraceSpan = z.infer<typeof traceSpan>;
export type FallRow = z.infer<typeof fallRow>;
export type FallWindow = z.infer<typeof fallWindow>;
export type ContextPart = z.infer<typeof contextPart>;
