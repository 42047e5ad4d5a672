// What each argument of a function is given. A call is made once in each situation of work, if one of its arguments depends on it.

/** A row of matrix.work (world.sql): an item and what belongs to it. */
export type Work = {
  side: 'own' | 'another';
  kind: string;
  item: string;
  child: string | null;
  lease: string | null;
  turn: string | null;
  call: string | null;
  code: string | null;
  entry_call: string | null;
  risky: string | null;
  hook_run: string | null;
  session: string | null;
  message: string | null;
  focus: string | null;
  journal_entry: string | null;
  conversation: string | null;
  handle: string | null;
  task: string | null;
  recorded: string | null;
  /** The item itself, as its row is written. */
  row: string;
};

/** SQL for a value: always the same, or of a situation. */
export type Value = string | ((work: Work) => string);

const nobody = '00000000-0000-4000-8000-000000000000';
const literal = (value: string): string => `'${value.replaceAll(`'`, `''`)}'`;
const json = (value: unknown): string => literal(JSON.stringify(value));
/** An id of the situation, or one that there is not. */
const id =
  (key: keyof Work): Value =>
  (work) =>
    literal(work[key] ?? nobody);
const name =
  (key: keyof Work): Value =>
  (work) =>
    literal(work[key] ?? 'none');

const usage = { input_tokens: 10, output_tokens: 3, cached_input_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
const response = {
  id: 'm1',
  provider: 'anthropic',
  model: 'm',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
  stop_details: null,
  request_id: 'r1',
  duration_ms: 5,
  usage,
};
const run = { format: 'codex', sessionId: 'run-none', prompt: 'Feed it', raw: [], exchanges: [] };

/** By argument, or by function.argument, which goes first. Not given where it is `undefined`: then the default is right. */
export const values: Record<string, Value | undefined> = {
  p_project: literal('shop'),
  p_of: literal('shop'),
  'project_rename.p_name': literal('store'),
  'work_id.p_name': id('item'),
  p_work_item_id: id('item'),
  p_turn_id: id('turn'),
  p_tool_call_id: id('call'),
  p_parent_call_id: id('code'),
  p_hook_run_id: id('hook_run'),
  p_message_id: id('message'),
  p_focus_id: id('focus'),
  p_session: name('session'),
  p_conversation_id: name('conversation'),
  p_handle: name('handle'),
  p_work_item_ids: (work) => `array['${work.item}']::pg_catalog.uuid[]`,
  p_work_items: (work) => `array['${work.item}']::pg_catalog.uuid[]`,
  'tool_call_execute.p_tool_call_id': id('entry_call'),
  'tool_call_suspend.p_tool_call_id': id('code'),
  'tool_call_approve.p_tool_call_id': id('risky'),
  'tool_call_reject.p_tool_call_id': id('risky'),
  'journal_entry_delete.p_id': id('journal_entry'),
  'session_find.p_name': name('session'),
  'session_open.p_name': name('session'),
  'session_compare.p_a': name('session'),
  'session_compare.p_b': name('session'),
  'session_compare_turns.p_a': name('session'),
  'session_compare_turns.p_b': name('session'),
  // Where there is no child, the item itself, which is nobody's.
  'await_child_work.p_work_item_ids': (work) => `array['${work.child ?? work.item}']::pg_catalog.uuid[]`,
  'notify_me.p_kind': literal('text'),
  'notify_me.p_target': literal('flaky'),
  'wait_for.p_work_item_ids': (work) => `array['${work.child ?? work.item}']::pg_catalog.uuid[]`,
  'check_child_work.p_work_item_ids': (work) => `array['${work.child ?? work.item}']::pg_catalog.uuid[]`,
  'tell_agent.p_to': (work) => literal(work.child ?? work.item),
  'ledger_count.p_item': (work) => literal(work.row),
  'session_import.p_run': (work) => (work.recorded === null ? json(run) : literal(work.recorded)),
  'session_import.p_format': literal('codex'),
  'session_import.p_content': literal('{}'),
  p_project_key: literal('-home'),
  // That of the imported session is kept here.
  p_session_id: (work) => literal(work.kind === 'imported' ? `kept-${work.side}` : 'kept-none'),
  p_subpath: 'null',
  p_uuids: `'{u2}'`,
  'transcript_append.p_entries': json([{ type: 'user' }]),
  'daily_budget_set.p_project': literal('shop'),
  'transcript_append.p_summary': undefined,
  'transcripts_take.p_age': `'0 seconds'`,
  p_file_key: `pg_catalog.repeat('0a', 32)`,
  'followed_file_read.p_state': literal('12 bytes'),
  p_alive_seconds: '60',
  'session_export.p_session': id('item'),
  'session_export.p_format': literal('claude-code'),
  'work_ledger_check.p_work_item_ids': undefined,
  'lease_renew.p_leases': (work) => `array['${work.lease ?? nobody}']::pg_catalog.uuid[]`,
  'session_fork.p_new_label': literal('branch'),

  p_result_schema: json({ type: 'object' }),
  p_amount: '5',
  p_resource: literal('calls'),
  p_content: literal('A sentence'),
  p_entry_type: literal('finding'),
  p_entries: json([{ entry_type: 'note', content: 'x' }]),
  p_description: literal('Feed it'),
  p_work_type: literal('chore'),
  p_summary: literal('Fed'),
  p_reason: literal('because'),
  p_status: literal('paused'),
  p_name: literal('look2'),
  p_label: literal('another label'),
  p_alias: literal('also'),
  p_text: literal('text'),
  p_query: literal('fed'),
  'ask_about.p_work_item_id': id('item'),
  p_by: literal('model'),
  p_directory: literal('/home/anna'),
  p_path: literal('/home/anna/a.ts'),
  p_paths: literal('{/home/anna/a.ts}'),
  p_roots: literal('{/home/anna}'),
  'memory_command.p_input': json({ command: 'view', path: '/memories' }),
  'memory_write.p_path': literal('/memories/new.md'),
  'memory_rollback.p_path': literal('/memories/a.md'),
  'memory_rollback.p_version': '1',
  'memory_pin.p_path': literal('/memories/a.md'),
  'memory_erase.p_path': literal('/memories/a.md'),
  'memory_write.p_version': undefined,
  'memory_pin.p_version': undefined,
  p_claims: literal('warn'),
  'claim_take.p_key': literal('file:b.ts'),
  'claim_release.p_key': literal('file:b.ts'),
  'claim_break.p_key': literal('file:b.ts'),
  p_worker_id: literal('w'),
  p_daemon: literal('d'),
  p_version: literal('0.2.0'),
  p_model: literal('m'),
  p_hook: literal('before_tool'),
  p_ref: literal('commit abc'),
  p_original_prompt: literal('Feed it'),
  p_schema: json({ type: 'object' }),
  p_server: literal('nowhere'),
  p_config: json({ name: 'feeder', accepts: ['feeding'] }),
  p_input_schema: json({ type: 'object' }),
  p_input: '{}',
  p_seq: '1',
  p_block: '1',
  p_call: '1',
  p_at: `'2026-01-01'`,
  p_from: `'2026-01-01'`,
  p_until: `'2026-01-02'`,
  p_age: `'3650 days'`,
  p_is_on: 'true',
  p_ordinal: '0',
  p_output: '15',
  p_lints: json([{ line: 1, message: 'x' }]),
  p_response: json(response),
  p_policy: undefined,
  p_error: json({ class: 'rate_limit', message: 'slow down', status: 429 }),
  p_result: json({ exit_code: 0, stdout: '' }),
  p_value: '1',
  'turn_stream.p_content': json([{ type: 'text', text: 'x' }]),
  'recorded_runs_parse.p_content': literal('{}'),
  'journal_log.p_entry_type': literal('thinking'),
  'journal_log.p_content': json({ reasoning: 'x' }),
  'journal_session_status.p_status': literal('paused'),
  'journal_session_prompt.p_prompt': literal('Fix the rounding'),
  'session_archive.p_status': undefined,
  'model_price_save.p_input': '3',
  'ability_invoke.p_name': undefined,
  'ability_invoke.p_input': undefined,
  'tool_call_nested.p_name': literal('look'),
  'tool_call_nested.p_input': json({ at: 'a' }),
  'ability_register.p_function': undefined,
  'json_schema_errors.p_value': json(1),
  'iteration_step.p_iteration': '1',
  'ledger_read.p_entry_type': undefined,
  'ledger_read_lines.p_entry_type': undefined,
  'awareness_digest.p_work_item_id': id('item'),
  'ledger_data_schema_save.p_entry_type': literal('note'),
};
for (const key of ['p_input', 'tool_call_nested.p_input']) if (values[key] === '{}') values[key] = literal('{}');

/** Arguments that may be left out, and then say nothing about anybody's work: how much, how long, in which words. */
export const unsaid = new Set([
  'p_after',
  'p_around',
  'p_before',
  'p_begins',
  'p_budget',
  'p_bytes',
  'p_cache_read',
  'p_cache_write',
  'p_cache_write_1h',
  'p_call_timeout',
  'p_code_run',
  'p_concurrency',
  'p_context_window',
  'p_data',
  'p_doing',
  'p_done',
  'p_driven_seconds',
  'p_effect',
  'p_evidence',
  'p_export',
  'p_faculty',
  'p_from_turn_id',
  'p_heads',
  'p_host',
  'p_images',
  'p_importance',
  'p_input_hash',
  'p_input_tokens',
  'p_instructions',
  'p_is_archived',
  'p_is_done',
  'p_is_dry_run',
  'p_is_error',
  'p_is_everything',
  'p_is_interrupt',
  'p_items',
  'p_iteration',
  'p_keep',
  'p_kept_turn_id', // compared with the turn of the lease's own item
  'p_last_n',
  'p_lease_seconds',
  'p_limit',
  'p_marks',
  'p_max_attempts',
  'p_max_tokens',
  'p_message',
  'p_mode',
  'p_older_than',
  'p_origin',
  'p_output_schema',
  'p_output_tokens',
  'p_params',
  'p_pattern',
  'p_persona_id',
  'p_pid',
  'p_prefix',
  'p_priority',
  'p_range',
  'p_results',
  'p_risk',
  'p_run_at',
  'p_seconds',
  'p_since',
  'p_source',
  'p_sources',
  'p_state',
  'p_takes',
  'p_target_tokens',
  'p_threshold',
  'p_touches',
  'p_trigger',
  'p_ttl',
  'p_types',
  'p_always',
  'p_claim',
  'p_step',
  'p_until',
  'p_whole',
  'p_why',
  'p_with_content',
  'p_with_forks',
  'p_within',
  'p_worker_timeout',
  'p_about',
  'p_function',
  'p_search_path',
  'p_is_asked',
  'p_keep_secrets',
  'p_problem',
  'p_summary_of',
  'p_is_pinned',
  'p_keep_newest',
  'p_reader',
  'p_replaces',
  'p_cwd',
]);

/** Arguments that may be left out, and name something that somebody else may have: a call of its own with each. */
export const naming: Record<string, Value> = {
  p_parent_id: id('item'),
  p_tree_id: id('item'),
  p_external_id: name('task'),
  p_dedup_key: name('task'),
  p_idempotency_key: name('task'),
  p_call_id: literal('00000000-0000-0000-0000-000000000007'),
  p_id: id('item'),
  p_origin_session_id: name('session'),
  p_workspace_dir: literal('/etc'),
};

type Inputs = Record<string, (work: Work) => unknown>;
const at = 1_700_000_000_003;
const task = (work: Work): string => work.task ?? 'none';
/** The input of each ability that a ledger brings, and of the two of users that world.ts registers. */
export const abilities: Inputs = {
  ledger_append: () => ({ entry_type: 'note', content: 'x' }),
  ledger_read: () => ({}),
  recall_block: () => ({ n: 1 }),
  artifact_read: (work) => ({ handle: work.handle ?? 'none' }),
  spawn_child_work: () => ({ work_type: 'chore', description: 'A part' }),
  await_child_work: (work) => ({ work_item_ids: [work.child ?? work.item] }),
  wait_for: (work) => ({ work_item_ids: [work.child ?? work.item] }),
  notify_me: () => ({ text: 'flaky' }),
  check_child_work: (work) => ({ work_item_ids: [work.child ?? work.item] }),
  work_complete: () => ({ summary: 'Fed' }),
  awareness_digest: () => ({}),
  checkpoint_create: () => ({}),
  resumption_context: () => ({ target_tokens: 4000 }),
  claim: () => ({ key: 'file:a.ts' }),
  claim_release: () => ({ key: 'file:a.ts' }),
  tell_agent: (work) => ({ to: work.child ?? work.item, text: 'Hello' }),
  reply: () => ({ text: 'Hello' }),
  ledger_search: () => ({ query: 'fed' }),
  ask_about: () => ({ path: 'src/a.ts' }),
  memory: () => ({ command: 'view', path: '/memories' }),
  'ldg:task:save': (work) => ({ task: { id: task(work), systemPrompt: 'Another prompt', createdAt: at, updatedAt: at } }),
  'ldg:task:get': (work) => ({ taskId: task(work) }),
  'ldg:task:query': (work) => ({ parentTaskId: task(work) }),
  'ldg:call:save': (work) => ({
    call: {
      id: `call-${work.side}`,
      taskId: task(work),
      abilityName: 'f',
      parameters: '{}',
      status: 'pending',
      details: '{}',
      createdAt: at,
      updatedAt: at,
      startMessageId: `message-${work.side}`,
    },
  }),
  'ldg:call:list': (work) => ({ taskId: task(work) }),
  'ldg:msg:save': (work) => ({ message: { id: 'message-new', taskId: task(work), role: 'user', content: 'Hello', timestamp: at } }),
  'ldg:msg:list': (work) => ({ taskId: task(work) }),
  'ldg:batch:save': (work) => ({
    entities: [{ message: { id: 'message-new', taskId: task(work), role: 'user', content: 'Hello', timestamp: at } }],
  }),
  find_customer: () => ({ id: 1 }),
  price: () => ({}),
  pay: () => ({}),
};

export const inputOf = (ability: string, work: Work): string => json(abilities[ability]?.(work));
export const quoted = literal;
