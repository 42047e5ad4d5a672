// No column is there that nobody ever fills: a worker, an imported run, a client of Agent OS and a journaled session write
// to one ledger, and then no column is null in every row, and none that has a default is the same in every row.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Claimed } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

/** What nothing here fills or sets to anything but its default, and who does. */
const exceptions: Record<string, string> = {
  'compactions.base_elision_id': 'a second cut: e2e/compaction',
  'compactions.error': 'a summary that failed: e2e/compaction',
  ...Object.fromEntries(
    [
      'duration_ms',
      'model',
      'provider',
      'max_transcript_chars',
      'summarization_input_tokens',
      'summarization_output_tokens',
      'instructions',
    ].map((name) => [`compactions.${name}`, 'a summary by a model: e2e/compaction']),
  ),
  ...Object.fromEntries(
    ['focus_id', 'iteration', 'first_kept_turn_id', 'messages_before', 'messages_after', 'tokens_after'].map((name) => [
      `compactions.${name}`,
      'a compaction of work of our own: e2e/compaction',
    ]),
  ),
  ...Object.fromEntries(
    ['max_result_chars', 'max_result_depth', 'max_result_effect'].map((name) => [
      `elisions.${name}`,
      'the floor and the selective strategy: e2e/compaction',
    ]),
  ),
  ...Object.fromEntries(
    ['focus_id', 'iteration', 'is_done', 'claim_ends_at'].map((name) => [`trace_exports.${name}`, 'an export of traces: e2e/traces']),
  ),
  ...Object.fromEntries(
    [
      'erasing.xid',
      'work_items.erased_at',
      'work_items.erased_hash',
      'messages.erased_hash',
      'tool_calls.erased_hash',
      'turns.erased_hash',
      'work_ledger.erased_hash',
      ...['work_item_id', 'root_id', 'keep', 'reason', 'erased_by', 'began_at', 'erased_at', 'row_count', 'quote_count', 'is_quoted'].map(
        (name) => `erasures.${name}`,
      ),
    ].map((name) => [name, 'what is erased: sql/work_erase']),
  ),
  ...Object.fromEntries(
    [
      ...['id', 'state', 'faculty', 'age', 'keep', 'export_function', 'updated_at'].map((name) => `retention_policies.${name}`),
      ...['root_id', 'error', 'tried_at'].map((name) => `retention_runs.${name}`),
    ].map((name) => [name, 'retention: sql/work_retention_run']),
  ),
  ...Object.fromEntries(
    ['is_only', 'is_on', 'updated_at'].map((name) => [`ledger_chain.${name}`, 'work without a chain: sql/ledger_verify']),
  ),
  ...Object.fromEntries(
    ['work_item_id', 'job_id'].map((name) => [`sweep_walks.${name}`, 'more than a thousand items that wait: sql/work_sweep']),
  ),
  ...Object.fromEntries(
    ['fences.submitted_by', 'work_items.submitted_by', 'workers.role'].map((name) => [name, 'another role that is logged in: e2e/roles']),
  ),
  ...Object.fromEntries(
    ['ledger_entries_used', 'metadata'].map((name) => [`compactions.${name}`, 'a compaction of work of our own: e2e/compaction']),
  ),
  ...Object.fromEntries(
    ['elisions.kept_tokens', 'turn_sizes.kept'].map((name) => [name, 'a step that keeps a file whose block leaves: sql/blocks']),
  ),
  ...Object.fromEntries(
    [...['id', 'name', 'token_hash', 'created_at', 'revoked_at'].map((name) => `people.${name}`), 'approvals.person', 'inbox.person'].map(
      (name) => [name, 'people who are known by a token: sql/person_current'],
    ),
  ),
  ...Object.fromEntries(
    ['name', 'read_as', 'version', 'digest', 'heard_at'].map((name) => [
      `linked_digests.${name}`,
      'a linked ledger that answers: long/links',
    ]),
  ),
  ...Object.fromEntries(
    ['name', 'renamed_to', 'claims', 'updated_at'].map((name) => [`projects.${name}`, 'a project that is renamed: sql/project_rename']),
  ),
  ...Object.fromEntries(
    ['id', 'work_item_id', 'kind', 'target', 'is_always', 'created_at', 'told_at'].map((name) => [
      `subscriptions.${name}`,
      'an agent that asks to be told: sql/notify_me',
    ]),
  ),
  ...Object.fromEntries(
    `id project_key session_id subpath submitted_by project work_item_id last_seq understood_seq summary summary_seq problem failure_count
     retry_at taken_ends_at created_at updated_at deleted_at`
      .split(/\s+/)
      .map((name) => [`transcripts.${name}`, 'a transcript that a program keeps here: e2e/sessionStore, sql/transcript_append']),
  ),
  ...Object.fromEntries(
    ['file_key', 'submitted_by', 'state', 'work_item_id', 'read_at'].map((name) => [
      `followed_files.${name}`,
      'a file that is followed: e2e/follow, sql/followed_file_read',
    ]),
  ),
  ...Object.fromEntries(
    ['transcript_id', 'seq', 'uuid', 'entry'].map((name) => [`transcript_entries.${name}`, 'its entries: e2e/sessionStore']),
  ),
  ...Object.fromEntries(
    [
      ...[
        'project',
        'path',
        'version',
        'is_deleted',
        'pinned_at',
        'pinned_by',
        'pinned_version',
        'is_chained',
        'created_at',
        'updated_at',
        'id',
      ].map((name) => `memory_files.${name}`),
      ...['file_id', 'version', 'command', 'path', 'content', 'work_item_id', 'tool_call_id', 'written_by', 'person', 'why'].map(
        (name) => `memory_versions.${name}`,
      ),
      ...['created_at', 'link', 'salt', 'erased_hash', 'idempotency_key'].map((name) => `memory_versions.${name}`),
      ...['file_id', 'reader', 'version', 'work_item_id', 'viewed_at'].map((name) => `memory_views.${name}`),
    ].map((name) => [name, 'notes of a project: sql/memory_command']),
  ),
  'turn_sizes.closed': 'a closed block that is worth too little to leave: sql/blocks',
  'foci.crash_count': 'a worker that dies: e2e/crash',
  'foci.overflow_count': 'a request that is too large: e2e/compaction',
  ...Object.fromEntries(
    [
      ...['scope', 'name', 'resource', 'amount', 'created_at', 'updated_at'].map((name) => `daily_budgets.${name}`),
      ...['scope', 'name', 'resource', 'day', 'spent', 'reserved'].map((name) => `daily_spending.${name}`),
    ].map((name) => [name, 'what a project or a faculty may use in a day: sql/daily_budget_set']),
  ),
  'foci.unheeded_nudge_count': 'an agent that keeps no ledger, though reminded: sql/nudge',
  'work_ledger.is_auto': 'a step that the engine drafts for it: sql/nudge',
  'work_items.ledger_epoch': 'an attempt that begins afresh: sql/work_fork',
  'work_items.result_schema': 'an answer with a shape: sql/result_schema',
  'work_items.continues_id': 'work that goes on in a new item: sql/work_continue',
  'work_items.continued_by': 'who had it go on: sql/work_continue',
  'work_items.continued_with': 'with which message: sql/work_continue',
  'awareness_shown.path': 'two who work on one file: sql/awareness_digest',
  'tool_calls.is_truncated': 'an output of more than 32 MiB: sql/tool_call_settle',
  'models.sample_count': 'long responses, from which estimates learn: sql/model_save',
  'models.cache_write_1h': 'another price for an hour: sql/cost_by',
  'models.takes': 'what its name does not tell: sql/model_save',
  'work_usage.hour_write_tokens': 'a cache that lives an hour: sql/cost_by',
  'work_hours.hour_write_tokens': 'a cache that lives an hour: sql/work_hours_sum',
  'metrics_taken.is_only': 'a table of one row: sql/work_metrics_take',
  'work_ledger.retracts': 'an entry that is taken back: sql/ledger_retract',
  'elisions.kept': 'a step that keeps a file whose block leaves: sql/blocks',
  'tool_calls.rewritten_input': 'a before_tool hook that changes a call: e2e/hooks',
};

let database: TestDatabase;
let db: Db;
let client: pg.Client;
let model: ScriptedModel;
let worker: Worker | undefined;
let directory: string;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  client = new pg.Client(database.url);
  await client.connect();
  await client.query('set search_path = ledger');
  directory = await mkdtemp(join(tmpdir(), 'columns-'));
  let failures = 0;
  model = await startTeam({
    Lead: ({ exchange, children }) =>
      exchange === 0 && failures++ === 0
        ? { error: { status: 529, type: 'overloaded_error' } }
        : exchange === 0
          ? calls(
              call('ledger_append', { entry_type: 'plan', content: '1. write' }),
              call('write_file', { path: 'a.md', content: 'x'.repeat(20_000) }),
              spawn('Part'),
            )
          : exchange === 1
            ? calls(awaits(children))
            : exchange === 2
              ? calls(call('ledger_append', { entry_type: 'step', content: 'Wrote a.md', keep: ['a.md'] }))
              : exchange === 3
                ? calls(call('read_file', { path: 'a.md' }))
                : exchange === 4
                  ? calls(call('ledger_append', { entry_type: 'step', content: 'Read it' }))
                  : done('Everything is done.'),
    Part: ({ exchange }) =>
      exchange === 0
        ? calls(call('ledger_append', { entry_type: 'finding', content: 'It rains in postgresql://me:w3t-w3ather@rain/' }))
        : done('The part is done.'),
    Refuse: () => ({ content: [], stopReason: 'refusal', stopDetails: { type: 'refusal', category: 'cyber', explanation: 'no' } }),
    Wrong: () => ({ error: { status: 400, type: 'invalid_request_error' } }),
    Unbearable: () => ({ error: { status: 401, type: 'authentication_error' } }),
  });
  await db.facultySave({
    name: 'lead',
    accepts: ['lead', 'part'],
    max_concurrent: 4,
    budget: { calls: 1000 },
    engage: {
      tools: ['write_file', 'read_file'],
      workspace: 'host',
      workspace_dir: directory,
      require_approval: 'moderate',
      elide_budget: 0,
      keep_budget: 1000,
      max_result_chars: 5000,
      ledger_nudge_interval: 1,
    },
    hooks: { before_tool: `printf '{"decision":"allow"}'` },
    orient: { command: 'echo oriented' },
    consolidate: { command: 'exit 3' },
  });
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [...builtinTools],
    log: pino({ level: 'silent' }),
    concurrency: 4,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
});
afterAll(async () => {
  await worker?.stop();
  await model?.close();
  await client?.end();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

test('every column of the ledger is filled by somebody, with more than its default', async () => {
  const lead = await db.workSubmit({
    project: 'shop',
    workType: 'lead',
    description: 'Lead it',
    dedupKey: 'd',
    maxAttempts: 2,
    params: { a: 1 },
    workspaceDir: directory,
  });
  const others = await Promise.all(
    ['Refuse it', 'Wrong'].map((description) =>
      db.workSubmit({ workType: 'part', description, faculty: 'lead', idempotencyKey: description }),
    ),
  );
  await db.workMessage(lead.id, 'Only the tests', false);
  for (const { id } of [lead, ...others]) {
    await until(async () => {
      for (const approval of await db.approvals()) await client.query(`select tool_call_approve('${approval.tool_call_id}')`);
      return (await db.workItem(id))?.resolved_at ?? null;
    });
  }
  await worker?.stop();
  worker = undefined;
  await playByHand(lead.id);
  await client.query(
    `select work_message(w.id, 'Hello'), work_message(w.id, 'Now', true) from work_submit('nobody', 'Waits', p_priority => 5) w`,
  );
  await client.query(`
    select session_import('{"format": "pi", "sessionId": "p", "prompt": "Look", "cwd": "/srv", "exchanges": [
      {"id": "1", "text": "one", "usage": {"inputTokens": 10, "outputTokens": 1, "cachedInputTokens": 5}, "calls": [{"id": "not fit for the api!", "name": "task", "input": {"path": "a"}, "result": "ok", "spawns": {"sessionId": "c"}}], "lints": [{"message": "unused", "file_path": "a.ts", "lint_source": "tsc", "start_line": 1, "start_col": 1, "end_line": 1, "end_col": 2, "severity": "error"}, {"message": "long", "file_path": "a.ts", "lint_source": "tsc", "start_line": 2, "start_col": 1, "end_line": 2, "end_col": 2, "severity": "warning"}], "followUp": "And then"},
      {"id": "2", "text": "two", "calls": [], "compactSummary": "All so far"}], "raw": [{"line": 1, "reason": "unknown", "content": "x"}]}');
    select session_import('{"format": "pi", "sessionId": "c", "parentSessionId": "p", "spawnedBy": "not fit for the api!", "prompt": "Help", "exchanges": [{"id": "3", "text": "three", "calls": []}]}');
    select session_alias('other', 'pi:p'), session_alias('promoted', 'pi:p', 'identity_promotion');
    select session_archive('pi:c');
    select ability_invoke('ldg:task:save', '{"task": {"id": "t", "systemPrompt": "s", "createdAt": 1700000000000, "updatedAt": 1700000000000}}');
    select ability_invoke('ldg:msg:save', '{"message": {"id": "m", "taskId": "t", "role": "user", "content": "a", "timestamp": 1700000000000}}');
    select ability_invoke('ldg:call:save', '{"call": {"id": "k", "taskId": "t", "abilityName": "a", "parameters": "{}", "status": "completed", "details": "{}", "createdAt": 1700000000000, "updatedAt": 1700000000000, "startMessageId": "m", "endMessageId": "m"}}');
    create temporary table j as select * from journal_session_create('chat', 'Look');
    select journal_entry_delete((journal_log((select id from j), 'user_feedback', '{"message": "a"}')).id, 'a secret');
    select journal_log((select id from j), 'user_feedback', '{"message": "b"}', 'high');
    select count(journal_session_news((select id from j))) from generate_series(1, 30); -- until it was told all
    select checkpoint_create((select id from j));
    select ledger_watch((select id from j));
    select ledger_append((select id from j), 'note', 'data', '{"a": 1}', p_idempotency_key => 'k');
    select model_price_save('claude-sonnet-5-5', 3, 15, 0.3, 3.75), model_price_save('another', 2, 10, 0.2, 4);
    select ledger_data_schema_save('note', '{"type": "object"}');
    select turn_archive(t.id) from turns t where t.status = 'completed' limit 1;
    select turn_workspace_set(t.id, 'abc') from turns t where t.status = 'completed' limit 1;
    select work_metrics_take();
    select set_config('work_ledger.now', (now() + interval '1 hour')::text, false); -- the last minute is not summed
    select work_hours_sum();
    reset work_ledger.now;
    create function pg_temp.count(input jsonb) returns text language sql as $$ select '1' $$;
    select ability_register('count', 'Counts.', '{"type": "object"}', p_function => 'pg_temp.count(jsonb)');
    insert into ledger_roles values ('reader', 'as work_roles_create() writes it');
    select ledger_watch('${lead.id}')`);
  const dead = await unfilled();
  expect(
    dead.filter((name) => !(name in exceptions)),
    'nobody fills them',
  ).toEqual([]);
  expect(
    Object.keys(exceptions).filter((name) => !dead.includes(name)),
    'exceptions that are no columns, or need not be any more',
  ).toEqual([]);
});

/**
 * The columns that are null in every row, or have a default and in every row the same value. Times and ids are never that: a table may have
 * one row.
 */
async function unfilled(): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string; columns: { name: string; has_default: boolean }[] }>(`
    select c.relname as name, json_agg(json_build_object('name', a.attname,
             'has_default', a.attgenerated = '' and coalesce(pg_get_expr(d.adbin, d.adrelid) !~ '^_(now|uuidv7)\\(\\)$', false)) order by a.attname) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on (d.adrelid, d.adnum) = (c.oid, a.attnum)
     where c.relnamespace = 'ledger'::regnamespace and c.relkind = 'r'
     group by c.relname
     order by c.relname`);
  const found: string[] = [];
  for (const { name: table, columns } of tables) {
    const {
      rows: [counted],
    } = await client.query<{ counts: number[] }>(
      `select array[${columns.map(({ name }) => `count(distinct "${name}"::text)`).join()}]::integer[] as counts from "${table}"`,
    );
    for (const [n, { name, has_default }] of columns.entries()) {
      if ((counted?.counts[n] ?? 0) < (has_default ? 2 : 1)) found.push(`${table}.${name}`);
    }
  }
  return found;
}

/**
 * What a worker leaves when it is in the middle of something: a lease, code whose call waits for a person, a model that wants to be left
 * alone.
 */
async function playByHand(forked: string): Promise<void> {
  await db.facultySave({
    name: 'coder',
    accepts: ['code'],
    max_concurrent: 4,
    persona: 'Anna',
    role: 'worker',
    engage: { tools: ['look', 'risky', 'change'], code_execution: true, require_approval: 'dangerous' },
  });
  for (const [name, risk] of [
    ['look', 'safe'],
    ['risky', 'dangerous'],
    ['execute_code', 'safe'],
  ] as const)
    await db.abilityRegister({
      name,
      description: name,
      inputSchema: { type: 'object' },
      effect: 'pure',
      risk,
      touches: [{ key: 'at', action: 'read' }],
    });
  await db.abilityRegister({
    name: 'change',
    description: 'change',
    inputSchema: { type: 'object' },
    effect: 'unsafe',
    risk: 'safe',
    touches: [{ key: 'at', kind: 'record', action: 'modify' }],
  });
  const watched = await db.focusClaim(
    (await db.workSubmit({ workType: 'code', description: 'Say it', budget: { tokens: 1_000_000 } })).id,
    'w',
    600,
  );
  if (watched.kind !== 'claimed') throw new Error(watched.kind);
  const saying = await db.iterationBegin(watched);
  if (saying.kind !== 'call_model') throw new Error(saying.kind);
  await db.ledgerWatch(watched.work_item_id, 60);
  await db.turnStream(watched, saying.turn_id, [{ type: 'text', text: 'It arri' }]);
  const item = await db.workSubmit({ workType: 'code', description: 'Compute it' });
  const claim = await db.focusClaim(item.id, 'w', 600);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
  const answerOf = async (focus: Claimed, ...content: { type: string }[]) => {
    const begin = await db.iterationBegin(focus);
    if (begin.kind !== 'call_model') throw new Error(begin.kind);
    const response = {
      id: 'm',
      model: 'claude-sonnet-5-5',
      content,
      stopReason: 'tool_use',
      stopDetails: null,
      requestId: 'r',
      durationMs: 5,
      firstTokenMs: 1,
      usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    };
    return db.iterationStep(focus, { iteration: focus.iteration, seconds: null }, { answer: { turnId: begin.turn_id, response } });
  };
  // A session is at what a call of another is about to change.
  await client.query(`
    select claim_take(j.id, k.key, 'shared', '2 hours', 'Its names')
      from journal_session_create('claims', 'Rename') j cross join (values ('record:orders'), ('file:/srv/a.js')) k(key)`);
  const answer = (...content: { type: string }[]) => answerOf(claim, ...content);
  const coded = await answer(use('c', 'execute_code', { code: 'return look()' }));
  const code = coded.kind === 'run_tools' ? coded.calls[0] : undefined;
  if (!code) throw new Error('no call');
  const nested = await db.toolCallNested(claim, code.id, 0, 'look', {});
  if (nested.kind !== 'run') throw new Error(nested.kind);
  await db.toolCallSettle(claim, nested.call.id, {
    content: 'seen',
    isError: false,
    value: { a: 1 },
    images: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }],
  } as never);
  await db.toolCallSettle(claim, code.id, { content: 'returned', isError: false }, 'seen', {
    verdict: 'ok',
    calls: 1,
    bytes_seen: 4,
    bytes_returned: 8,
    duration_ms: 3,
    timeout_seconds: 120,
  });
  await db.iterationStep(claim, { iteration: claim.iteration, seconds: null });
  const again = await db.focusClaim(item.id, 'w', 600);
  if (again.kind !== 'claimed') throw new Error(again.kind);
  Object.assign(claim, again);
  await answer(use('r', 'risky', {}));
  await db.iterationStep(claim, { iteration: claim.iteration, seconds: null });
  const [asked] = await db.approvals();
  await db.toolCallReject(asked?.tool_call_id ?? '', 'not that');
  const changing = await db.focusClaim((await db.workSubmit({ workType: 'code', description: 'Change it' })).id, 'w', 600);
  if (changing.kind !== 'claimed') throw new Error(changing.kind);
  await answerOf(changing, use('w', 'change', { at: 'orders' }));
  const third = await db.focusClaim(item.id, 'w', 600);
  if (third.kind !== 'claimed') throw new Error(third.kind);
  await db.iterationStep(third, { iteration: third.iteration, seconds: 0 });
  await db.iterationFail(third, { class: 'rate_limited', message: 'too much', status: 429, retryAfterSeconds: 600, requestId: null });
  await client.query(`select context_compact('${item.id}', 'keep the figures')`);
  const last = await db.workSubmit({ workType: 'part', description: 'Held', faculty: 'lead' });
  const held = await db.focusClaim(last.id, 'w', 600);
  if (held.kind !== 'claimed') throw new Error(held.kind);
  await db.workspaceBind(held, 'daemon');
  await client.query(`select work_pause('${last.id}')`);
  const {
    rows: [fork],
  } = await client.query<{ id: string }>(`
    select (work_fork(t.id, p_faculty => 'coder')).id from turns t where t.work_item_id = '${forked}' and t.turn_type = 'normal' and t.status = 'completed' and t.depth = 1`);
  const branch = await db.focusClaim(fork?.id ?? '', 'w', 600);
  if (branch.kind !== 'claimed') throw new Error(branch.kind);
  await db.iterationBegin(branch);
  await db.leaseRenew({
    workerId: 'w',
    leases: [branch],
    host: 'host',
    pid: 1,
    treeId: fork?.id ?? null,
    concurrency: 4,
    daemon: 'daemon',
    project: 'shop',
  });
  const far = await db.workSubmit({
    workType: 'far',
    description: 'Far away',
    faculty: await db.facultySave({ name: 'far', hosts: ['far'] }),
  });
  await db.focusClaim(far.id, 'w', 600);
  await db.facultySave({ name: 'coder', accepts: ['code'] });
  await db.facultySave({ name: 'coder', project: 'shop' });
}
