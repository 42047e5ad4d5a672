// Every public SQL function, called with what nobody should give it: one bad argument at a time beside plausible ones, on a
// ledger with work under way, so that the call reaches as deep as it can. It succeeds or says why in a code of ours; nothing
// of the engine's inside comes through, and nothing hangs.

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { oddValues, variants } from '../badJson.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

/** A call that hangs ends by it. */
const FUSE_SECONDS = 600;
const TEN_MB = 10 * 1024 * 1024;
/** Made of long pieces: repeat() copies a single letter at a time. */
const long = `repeat(repeat('x', 10240), ${TEN_MB / 10_240})`;

let database: TestDatabase;
let client: pg.Client;
/** Rows that are there, by what a function calls them. */
let known: Record<string, string>;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`set statement_timeout = '${FUSE_SECONDS}s'; set client_min_messages = error`);
  known = await ledgerAtWork();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const quoted = (text: string): string => pg.escapeLiteral(text);
const json = (value: unknown): string => quoted(JSON.stringify(value));
const response = (...content: object[]) => ({
  id: 'm1',
  provider: 'anthropic',
  model: 'claude-opus-4-5',
  content: content.length > 0 ? content : [{ type: 'text', text: 'Done.' }],
  stop_reason: content.length > 0 ? 'tool_use' : 'end_turn',
  stop_details: null,
  request_id: 'r1',
  duration_ms: 5,
  usage: { input_tokens: 10, output_tokens: 3, cached_input_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
});
const hookResult = {
  stdout: '{"context": "x"}',
  stderr: '',
  exit_code: 0,
  signal: null,
  is_timed_out: false,
  timeout_seconds: 20,
  is_truncated: false,
  error: null,
  duration_ms: 12,
};
const run = {
  format: 'claude-code',
  sessionId: 's1',
  parentSessionId: 'p1',
  prompt: 'Fix it',
  isPromptByHarness: false,
  promptParts: [{ text: 'Fix it', isByHarness: false, images: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }] }],
  task: 'Fix it',
  system: 'You fix.',
  model: 'm',
  tools: ['Read'],
  cwd: '/x',
  spawnedBy: 'e9',
  first: 0,
  isPart: false,
  raw: [{ line: 3, reason: 'odd', content: 'x' }],
  exchanges: [
    {
      id: 'e1',
      at: '2026-01-01T00:00:00Z',
      model: 'm',
      text: 'Reading',
      thinking: [{ thinking: 'hm' }],
      calls: [{ id: 'c1', name: 'Read', input: { file_path: 'a' }, result: 'x', isError: false, images: [], spawns: 's2' }],
      usage: { inputTokens: 5, outputTokens: 6, cachedInputTokens: 0, cacheWriteTokens: 0 },
      said: 'go',
      saidParts: [],
      followUp: 'on',
      isFollowUpByHarness: false,
      followUpParts: [],
      compactSummary: null,
      lints: [{ line: 1, message: 'x' }],
    },
  ],
};

/** Items in every state that a call may want, and their ids. */
async function ledgerAtWork(): Promise<Record<string, string>> {
  const one = async (sql: string): Promise<string> =>
    String(Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0]);
  await client.query(`
    select ability_register('look', 'Looks.', '{"type": "object", "properties": {"at": {"type": "string"}}}', 'pure', 'safe', p_touches => '[{"key": "at", "action": "read"}]');
    select ability_register('erase', 'Erases.', '{"type": "object"}', 'unsafe', 'dangerous');
    select ability_register('execute_code', 'Runs.', '{"type": "object"}', 'idempotent', 'safe');
    create extension postgres_fdw schema public;
    create server linked_server foreign data wrapper postgres_fdw options (host '/nowhere', connect_timeout '2');
    create user mapping for current_user server linked_server;
    create function public.sum_up(p jsonb) returns text language sql as $$ select 'x' $$;
    select model_save('claude-opus-4-5', 200000);
    select faculty_save('{"name": "worker", "accepts": ["work"], "engage": {"tools": ["look", "erase"], "require_approval": "dangerous", "code_execution": true}, "budget": {"calls": 100}}');
    select faculty_save('{"name": "hooked", "accepts": ["hooked"], "orient": {"command": "true"}}')`);
  const item = (type: string): Promise<string> =>
    one(`select id from work_submit('${type}', 'Do it', p_external_id => '${type}-' || gen_random_uuid())`);
  const begin = async (type: string): Promise<{ id: string; lease: string; said: Record<string, unknown> }> => {
    const id = await item(type);
    const lease = await one(`select focus_claim('${id}', 'w') ->> 'lease'`);
    return { id, lease, said: JSON.parse(await one(`select iteration_begin('${id}', '${lease}')::text`)) as Record<string, unknown> };
  };
  const asked = await begin('work');
  const calling = await begin('work');
  const content = [
    { type: 'text', text: 'Looking' },
    { type: 'tool_use', id: 't1', name: 'look', input: { at: 'a.ts' } },
    { type: 'tool_use', id: 't2', name: 'execute_code', input: { code: 'look()' } },
    { type: 'tool_use', id: 't3', name: 'erase', input: {} },
    { type: 'tool_use', id: 't4', name: 'ledger_append', input: { entry_type: 'note', content: 'x' } },
  ];
  await client.query(
    `select turn_record('${calling.id}', '${calling.lease}', '${String(calling.said['turn_id'])}', ${json(response(...content))})`,
  );
  const callOf = (name: string): Promise<string> =>
    one(`select id from tool_calls where work_item_id = '${calling.id}' and tool_name = '${name}' and parent_call_id is null`);
  const hooked = await begin('hooked');
  const free = await item('free');
  await client.query(
    `select ledger_append('${free}', 'finding', 'Found'); select session_create('main'); select artifact_read('${free}', 'x') where false`,
  );
  const over = await begin('work');
  await client.query(
    `select turn_record('${over.id}', '${over.lease}', '${String(over.said['turn_id'])}', ${json(response())}); select iteration_finish('${over.id}', '${over.lease}')`,
  );
  const child = await one(`select id from work_submit('part', 'A part', p_parent_id => '${calling.id}')`);
  const handle = await one(`select left(_artifact_store(null, repeat('line of text ', 1000)), 16)`);
  // An agent that recorded nothing, and whose context must be summarized.
  const summarized = await begin('work');
  for (let n = 0; n < 5; n++) {
    const turn =
      n === 0
        ? String(summarized.said['turn_id'])
        : await one(`select iteration_begin('${summarized.id}', '${summarized.lease}') ->> 'turn_id'`);
    await client.query(`select turn_record('${summarized.id}', '${summarized.lease}', '${turn}', ${json(response({ type: 'tool_use', id: `s${n}`, name: 'look', input: {} }))});
      select tool_call_settle('${summarized.id}', '${summarized.lease}', k.id, repeat('x', 3000)) from tool_calls k where k.turn_id = '${turn}'; select iteration_finish('${summarized.id}', '${summarized.lease}')`);
    summarized.lease = await one(`select focus_claim('${summarized.id}', 'w') ->> 'lease'`);
  }
  await client.query(`select context_compact('${summarized.id}', 'rows')`);
  const summarizedTurn = await one(`select iteration_begin('${summarized.id}', '${summarized.lease}') ->> 'turn_id'`);
  await client.query(`select memory_write('/memories/a.md', 'A note', 'shop'), memory_write('/memories/a.md', 'Another', 'shop', 1)`);
  const journal = await one(`select id from journal_session_create('conversation', 'Do it')`);
  const journalEntry = await one(`select id from journal_log('${journal}', 'thinking', '{"reasoning": "x"}')`);
  await client.query(`select session_import(${json(run)})`);
  await client.query(`select transcript_append('-home', 'kept', null, '[{"type": "user"}]', '{u1}')`);
  return {
    free,
    journal,
    journalEntry,
    child,
    handle,
    summarized: summarized.id,
    summarizedLease: summarized.lease,
    summarizedTurn,
    stopped: await one(`select w.id from work_submit('work', 'Stop it') i cross join lateral work_cancel(i.id) w`),
    overFocus: await one(`select focus_id from work_items where id = '${asked.id}'`),
    overMessage: await one(`select id from messages where turn_id = '${String(over.said['turn_id'])}' limit 1`),
    over: over.id,
    overTurn: String(over.said['turn_id']),
    asked: asked.id,
    askedLease: asked.lease,
    askedTurn: String(asked.said['turn_id']),
    calling: calling.id,
    callingLease: calling.lease,
    callingTurn: String(calling.said['turn_id']),
    look: await callOf('look'),
    code: await callOf('execute_code'),
    erase: await callOf('erase'),
    append: await callOf('ledger_append'),
    hooked: hooked.id,
    hookedLease: hooked.lease,
    hookRun: String(hooked.said['hook_run_id']),
  };
}

/** What a function is given where only one argument is bad: by function.argument, by argument, or else its default. */
function plausible(): Record<string, string> {
  const id = (name: string): string => quoted(known[name] ?? '');
  const lease = (name: string): Record<string, string> => ({ p_work_item_id: id(name), p_lease: id(`${name}Lease`) });
  const of = (functions: string[], given: Record<string, string>): Record<string, string> =>
    Object.fromEntries(functions.flatMap((name) => Object.entries(given).map(([key, value]) => [`${name}.${key}`, value])));
  return {
    p_work_item_id: id('free'),
    p_turn_id: id('overTurn'),
    p_tool_call_id: id('look'),
    p_parent_call_id: id('code'),
    p_hook_run_id: id('hookRun'),
    p_hook: quoted('before_tool'),
    p_iteration: '1',
    p_results: json([{ id: '00000000-0000-4000-8000-000000000000', ordinal: 1, content: 'seen', is_error: false, images: [] }]),
    p_session_id: id('journal'),
    ...of(
      ['iteration_begin', 'iteration_step', 'iteration_finish', 'iteration_fail', 'iteration_release', 'turn_record', 'context_compact'],
      {
        ...lease('asked'),
        p_turn_id: id('askedTurn'),
      },
    ),
    ...of(['tool_call_begin', 'tool_call_settle', 'tool_call_suspend', 'tool_call_nested', 'tool_call_execute', 'tool_hook_record'], {
      ...lease('calling'),
    }),
    ...of(['hook_record'], lease('hooked')),
    ...of(['tool_call_execute'], { p_tool_call_id: id('append') }),
    ...of(['tool_call_approve', 'tool_call_reject'], { p_tool_call_id: id('erase') }),
    ...of(['tool_call_suspend'], { p_tool_call_id: id('code') }),
    ...of(['awareness_digest', 'awareness_digest_across', 'context_window', 'work_approaching_limit', 'recall_block', 'artifact_read'], {
      p_work_item_id: id('over'),
    }),
    ...of(['turn_tree'], { p_work_item_id: id('over'), p_around: id('overTurn') }),
    p_a: id('over'),
    p_b: id('calling'),
    'context_timeline.p_after': id('overTurn'),
    'work_continue.p_work_item_id': id('over'),
    'work_retry.p_work_item_id': id('stopped'),
    ...of(['session_export'], { p_session: id('over'), p_format: quoted('codex'), p_cwd: quoted('/work') }),
    ...of(
      [
        'journal_log',
        'journal_read',
        'journal_page',
        'work_run',
        'work_waterfall',
        'journal_export',
        'journal_resume',
        'journal_session_begin',
        'journal_session_status',
        'inbox_take',
        'checkpoint_create',
        'checkpoint_latest',
        'resumption_context',
        'journal_summary',
        'export_for_resumption',
      ],
      { p_work_item_id: id('journal'), p_session_id: id('journal') },
    ),
    p_response: json(response({ type: 'text', text: 'x' }, { type: 'tool_use', id: 't9', name: 'look', input: { at: 'b' } })),
    p_result: json(hookResult),
    p_run: json(run),
    p_name: quoted('look'),
    p_error: json({ class: 'rate_limit', message: 'slow down', status: 429, retry_after_seconds: 3, request_id: 'r' }),
    p_policy: json({
      elide_budget: 1000,
      compact_keep_recent: 2,
      compact_threshold: 0.5,
      compact_every: 3,
      keep: { ahead: 20, budget: 16000 },
      keep_messages: 5,
    }),
    p_input: json({ at: 'a' }),
    p_input_schema: json({ type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }),
    p_output_schema: json({ type: 'string' }),
    p_touches: json([{ key: 'at', action: 'read', kind: 'path', when: { at: 'x' } }]),
    p_description: quoted('Do it'),
    p_work_type: quoted('work'),
    p_entry_type: quoted('finding'),
    'journal_log.p_entry_type': quoted('thinking'),
    p_content: quoted('A sentence'),
    'journal_log.p_content': json({ reasoning: 'x' }),
    p_entries: json([{ entry_type: 'note', content: 'x', data: {}, keep: [] }]),
    p_data: json({ a: 1 }),
    p_params: json({ a: 1 }),
    p_budget: json({ calls: 3, tokens: 1000 }),
    p_resource: quoted('calls'),
    p_amount: '5',
    p_worker_id: quoted('w'),
    p_label: quoted('main'),
    p_alias: quoted('also'),
    p_conversation_id: quoted('conversation'),
    p_original_prompt: quoted('Do it'),
    p_directory: quoted('/home/anna'),
    p_status: quoted('paused'),
    p_summary: quoted('Did it'),
    p_evidence: json(['It was seen to work']),
    p_reason: quoted('because'),
    p_model: quoted('claude-opus-4-5'),
    p_context_window: '200000',
    p_effect: quoted('pure'),
    p_risk: quoted('safe'),
    p_schema: json({ type: 'object', properties: {}, required: [] }),
    p_result_schema: json({ type: 'object', properties: { a: { type: ['string', 'null'], pattern: '^x' } }, required: ['a'] }),
    p_message: quoted('Hello'),
    p_images: json([{ media_type: 'image/png', data: 'iVBORw0KGgo=' }]),
    p_value: json({ a: 1 }),
    p_whole: quoted('whole'),
    p_format: quoted('codex'),
    'session_create.p_label': quoted('another'),
    'turn_workspace_set.p_turn_id': id('callingTurn'),
    p_ref: quoted('abc'),
    'model_price_save.p_input': '3',
    p_output: '15',
    p_cache_read: '0.3',
    p_cache_write: '1.25',
    'journal_cleanup.p_importance': `'{low,normal}'`,
    'journal_read.p_importance': `'{low,normal}'`,
    'journal_page.p_importance': `'{low,normal}'`,
    'work_run.p_marks': `'{error,decision}'`,
    'journal_page.p_types': `'{user_feedback,thinking}'`,
    'checkpoint_create.p_trigger': quoted('manual'),
    'session_alias.p_reason': quoted('manual'),
    'session_archive.p_status': quoted('archived'),
    p_session: id('over'),
    p_new_label: quoted('branch'),
    'context_window.p_focus_id': id('overFocus'),
    p_work_item_ids: `array[${id('child')}]::text[]`,
    'journal_entry_delete.p_id': id('journalEntry'),
    p_message_id: id('overMessage'),
    'artifact_read.p_handle': id('handle'),
    p_config: json({
      name: 'w2',
      accepts: ['a'],
      engage: { tools: ['look'], max_turns: 3, system_prompt: 'x', ledger_nudge_interval: 2 },
      awareness: { enabled: true, max_running: 3 },
      hooks: { timeout: 3 },
      budget: { calls: 3 },
      orient: { command: 'true' },
    }),
    ...of(['summary_record'], { ...lease('summarized'), p_turn_id: id('summarizedTurn') }),
    ...of(['await_child_work', 'check_child_work', 'spawn_child_work'], { p_work_item_id: id('calling') }),
    ...of(['work_complete', 'work_fail'], lease('asked')),
    ...of(['claim_take', 'claim_release'], lease('asked')),
    'claim_check.p_work_item_id': id('journal'),
    'claim_break.p_work_item_id': id('calling'),
    p_key: quoted('file:a.ts'),
    p_mode: quoted('shared'),
    p_ttl: quoted('5 minutes'),
    p_why: quoted('Editing'),
    p_path: quoted('/home/anna/a.ts'),
    p_paths: `array['/home/anna/a.ts']`,
    p_roots: `array['/home/anna']`,
    ...of(['memory_command'], lease('asked')),
    'memory_command.p_input': json({ command: 'create', path: '/memories/b.md', file_text: 'A note' }),
    'memory_command.p_project': quoted('shop'),
    'memory_write.p_path': quoted('/memories/c.md'),
    ...of(['memory_write', 'memory_rollback', 'memory_pin', 'memory_erase'], { p_project: quoted('shop') }),
    ...of(['memory_rollback', 'memory_pin', 'memory_erase'], { p_path: quoted('/memories/a.md') }),
    'memory_rollback.p_version': '1',
    'memory_rollback.p_replaces': '2',
    'memory_pin.p_version': '2',
    'project_set.p_project': quoted('shop'),
    'daily_budget_set.p_project': quoted('shop'),
    'project_has.p_project': quoted('shop'),
    'project_names.p_project': quoted('shop'),
    'work_id.p_name': quoted('last'),
    p_of: quoted('shop'),
    'project_set.p_claims': quoted('warn'),
    ...of(['tell_agent'], lease('calling')),
    p_to: id('journal'),
    'tell_agent.p_text': quoted('Look at d, too'),
    p_lints: json([{ line: 1, message: 'x', severity: 'warning' }]),
    'ability_invoke.p_name': quoted('ldg:task:get'),
    'ability_invoke.p_input': json({ taskId: 'x' }),
    'ability_register.p_name': quoted('look2'),
    'model_save.p_name': quoted('claude-opus-4-5'),
    p_block: '1',
    p_call: '1',
    p_handle: quoted('0123456789abcdef'),
    p_heads: json([{ work_item_id: known['over'], ledger_count: 1, ledger_link: 'x', seal_count: 1, seal_link: null }]),
    'work_erase.p_work_item_id': id('over'),
    'ledger_retract.p_seq': '1',
    p_server: quoted('linked_server'),
    'ledger_link.p_schema': quoted('elsewhere'),
    'ledger_link.p_name': quoted('shop'),
    'work_ledger_serves.p_version': 'work_ledger_version()',
    'retention_policy_save.p_age': quoted('1 day'),
    'retention_policy_save.p_state': quoted('completed'),
    'retention_policy_save.p_keep': quoted('ledger'),
    p_project_key: quoted('-home'),
    'transcript_append.p_session_id': quoted('kept'),
    'transcript_append.p_summary': 'null',
    ...of(['transcript_load', 'transcript_list', 'transcript_delete', 'transcript_understood'], { p_session_id: quoted('kept') }),
    'transcript_append.p_entries': json([{ type: 'user', uuid: 'u2' }]),
    p_uuids: `'{u2}'`,
    'transcript_load.p_bytes': '1000',
    'transcript_understood.p_seq': '1',
    'transcripts_take.p_age': quoted('0 seconds'),
    p_file_key: quoted('0a'.repeat(32)),
    'followed_file_read.p_state': quoted('12 bytes'),
    'followed_file_read.p_work_item_id': id('journal'),
    p_alive_seconds: '60',
    p_ordinal: '0',
    p_seconds: '10',
    p_limit: '5',
    p_last_n: '3',
    p_importance: quoted('normal'),
    p_text: quoted('text'),
    p_leases: 'array[gen_random_uuid()]',
    'lease_renew.p_work_item_ids': 'array[gen_random_uuid()]',
    'ledger_count.p_item': `(select w from work_items w where w.id = ${id('free')})`,
    p_host: quoted('h'),
    p_daemon: quoted('d'),
    p_pid: '1',
    p_lease_seconds: '30',
    p_types: `array['finding']`,
    p_idempotency_key: quoted('key'),
    p_dedup_key: quoted('dk'),
    p_external_id: quoted('ext'),
  };
}

const texts = [
  `''`,
  `' '`,
  `E'a\\nb'`,
  `'infinity'`,
  `repeat('x', 300)`,
  long,
  `repeat(md5('x') || ' ', ${TEN_MB / 32})`,
  `'..'`,
  `'"'`,
  `'\\'`,
];
const numbers = ['0', '-1', '1', '2147483647', '-2147483648'];
const bad: Record<string, string[]> = {
  text: texts,
  integer: numbers,
  boolean: ['true', 'false'],
  bigint: [...numbers, '9223372036854775807', '-9223372036854775808'],
  numeric: [...numbers, `'NaN'`, `'Infinity'`, `'-Infinity'`, '1e308', '1e-300', `repeat('9', 100000)::numeric`],
  'double precision': [...numbers, `'NaN'`, `'Infinity'`, `'-Infinity'`],
  work_items: ['(select w from work_items w limit 1)'],
  uuid: ['gen_random_uuid()', `'00000000-0000-0000-0000-000000000000'`],
  'timestamp with time zone': [`'infinity'`, `'-infinity'`, `'294276-12-31'`, `'4713-01-01 BC'`, 'now()'],
  interval: [`'0'`, `'-1 day'`, `'178000000 years'`, `'-178000000 years'`, `'-1000 years'`],
  'text[]': [
    `'{}'`,
    'array[null]::text[]',
    `array['']`,
    `array[['a', 'b'], ['c', 'd']]`,
    `array[${long}]`,
    `array_fill('x'::text, array[1000])`,
  ],
  'integer[]': [
    `'{}'`,
    'array[null]::integer[]',
    'array[1, 1, -1]',
    'array[2147483647]',
    'array[[1, 2], [3, 4]]',
    'array_fill(1, array[1000])',
  ],
  'name[]': [
    `'{}'`,
    'array[null]::name[]',
    `array['', 'nowhere', 'pg_temp']::name[]`,
    `array[['public'], ['ledger']]::name[]`,
    `array_fill('public'::name, array[1000])`,
  ],
  'uuid[]': [`'{}'`, 'array[null]::uuid[]', 'array[gen_random_uuid()]', 'array[[gen_random_uuid()]]'],
  regprocedure: [`'pg_catalog.now()'`, '0', `'public.sum_up(jsonb)'`, '999999999'],
  jsonb: [
    ...oddValues.map(quoted),
    `to_jsonb(${long})`,
    `jsonb_build_object(repeat('k', 1000000), 1)`,
    quoted('['.repeat(1000) + ']'.repeat(1000)),
    quoted('{"a":'.repeat(1000) + '1' + '}'.repeat(1000)),
    quoted('[[[]]]'),
    quoted('{"": null}'),
  ],
};
bad['json'] = [
  ...(bad['jsonb'] ?? []),
  ...[String.raw`"\u0000"`, String.raw`{"a\u0000": "\ud800"}`, String.raw`["\udc00"]`, '1e1000000'].map(quoted),
];
bad['double precision'] ??= numbers;
/** In json, which unlike jsonb keeps text as it is written. */
const oddForJson = [...oddValues, String.raw`"a\u0000\ud800"`, String.raw`{"\u0000": "\udc00"}`];

type Argument = { name: string; type: string; hasDefault: boolean };
type Public = { oid: string; name: string; comment: string; arguments: Argument[] };

test('each argument of each public function: success or a code of ours', async () => {
  const { rows: functions } = await client.query<Public>(`
    select p.oid::text, p.proname as name, coalesce(obj_description(p.oid, 'pg_proc'), '') as comment,
           coalesce((select json_agg(json_build_object('name', a.name, 'type', format_type(a.type, null), 'hasDefault', a.n > p.pronargs - p.pronargdefaults) order by a.n)
                       from unnest(p.proargtypes::oid[], p.proargnames[1:p.pronargs]) with ordinality as a(type, name, n)), '[]') as arguments
      from pg_proc p
     where p.pronamespace = 'ledger'::regnamespace and p.proname !~ '^_' and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
     order by p.proname, p.oid`);
  expect(functions.length).toBeGreaterThan(80);
  const given = plausible();
  const wrong = new Set<string>();
  const refused: string[] = [];
  const took: [number, string][] = [];
  let [calls, succeeded] = [0, 0];
  const attempt = async (one: Public, values: Map<string, string>): Promise<string | null> => {
    calls++;
    const list = [...values].map(([name, value]) => `${name} => (${value})::${one.arguments.find((a) => a.name === name)?.type}`);
    const result = await client.query(`rollback; begin; select count(*) from ledger.${one.name}(${list.join(', ')})`).then(
      () => null,
      (error: pg.DatabaseError) => error,
    );
    if (result === null) succeeded++;
    // Documented where there is no JavaScript engine, or a worker has to run what is asked for.
    const isOurs = result === null || /^WL00\d$/.test(result.code ?? '') || (result.code === '0A000' && one.comment.includes('0A000'));
    return isOurs ? (result === null ? null : (result.code ?? null)) : `${result.code} ${result.message}`;
  };
  for (const one of functions) {
    const base = new Map(
      one.arguments.flatMap(({ name, type, hasDefault }) => {
        const value = given[`${one.name}.${name}`] ?? given[name];
        const isJsonOrNot = value === undefined || (type.startsWith('json') ? /^'[[{]/.test(value) : true);
        return value !== undefined && isJsonOrNot
          ? [[name, value] as const]
          : hasDefault
            ? []
            : [[name, (bad[type] ?? [])[0] ?? 'null'] as const];
      }),
    );
    const report = async (values: Map<string, string>, what: string): Promise<void> => {
      const said = await attempt(one, values);
      if (said !== null && !/^(WL00\d|0A000)$/.test(said))
        wrong.add(`${one.name}(${what.length > 90 ? `${what.slice(0, 90)}…` : what}): ${said.slice(0, 140)}`);
    };
    const before = succeeded;
    const startedAt = performance.now();
    await report(base, 'plausible');
    if (succeeded === before)
      refused.push(`${one.name}(${[...base].map(([k, v]) => `${k} => ${v.slice(0, 40)}`).join(', ')}): ${await attempt(one, base)}`);
    for (const { name, type } of one.arguments) {
      const ofJson =
        type.startsWith('json') && base.has(name)
          ? variants(
              JSON.parse((base.get(name) ?? '').replace(/^ ?E?'|'$/g, '').replaceAll(`''`, `'`)),
              type === 'json' ? oddForJson : oddValues,
            ).map(quoted)
          : [];
      expect(bad[type], `bad values of type ${type}`).toBeDefined();
      for (const value of ['null', ...(bad[type] ?? []), ...ofJson]) await report(new Map([...base, [name, value]]), `${name} => ${value}`);
    }
    took.push([Math.round(performance.now() - startedAt), one.name]);
  }
  await client.query('rollback');
  if (process.env['SHOW'] !== undefined)
    console.log(
      `${functions.length} functions, ${calls} calls, ${succeeded} succeeded\n${[...wrong].join('\n')}\nplausible but refused:\n${refused.join('\n')}\n${took
        .toSorted(([a], [b]) => b - a)
        .slice(0, 12)
        .join('\n')}`,
    );
  expect([...wrong]).toEqual([]);
  expect(calls).toBeGreaterThan(5000);
  expect(succeeded).toBeGreaterThan(2000);
});
