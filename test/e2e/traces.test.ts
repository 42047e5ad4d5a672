// One run with everything in it, exported while it happened and again from its rows: both are the same spans, and the table in
// docs/observability.md says what they are.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { version } from '../../sql/extensionSource.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { cliOrFail } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { startOtlpReceiver } from '../otlpReceiver.ts';
import type { OtlpReceiver, ReceivedSpan } from '../otlpReceiver.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const secret = 'the-words-of-the-agent';
let database: TestDatabase;
let db: Db;
let directory: string;
let model: ScriptedModel;
let live: OtlpReceiver;
const workers: WorkerProcess[] = [];

/**
 * Looks: here not before there, and there not before here, nor before the response is stored that called both: what is stored with its
 * response has one moment. For long the first time that it is told to hang. And a tool that needs approval.
 */
const tools = () => `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '${import.meta.resolve('zod')}';
const look = {
  name: 'look', description: 'Looks.', input: z.strictObject({ at: z.string() }), effect: 'pure', risk: 'safe',
  async execute({ at }, context) {
    if (at === 'the abyss') throw new Error('nothing there');
    const other = { here: 'there', there: 'here' }[at];
    if (other) {
      appendFileSync('${directory}/' + at, 'x');
      while (!existsSync('${directory}/' + other) || !existsSync('${directory}/stored')) await sleep(10);
    }
    if (at === 'once' && !existsSync('${directory}/hung')) {
      appendFileSync('${directory}/hung', 'x');
      await sleep(600_000, undefined, { signal: context.signal }).catch(() => {});
    }
    return { content: at + ' ' + 'x'.repeat(4000), isError: false };
  },
};
const press = {
  name: 'press', description: 'Presses the button.', input: z.strictObject({}), effect: 'unsafe', risk: 'dangerous',
  execute: async () => ({ content: 'pressed', isError: false }),
};
export default [look, press];
`;

const entry = (type: string, content: string) => call('ledger_append', { entry_type: type, content });
const look = (at: string) => call('look', { at });
/** Each reply once, whatever the request holds by then. */
function inOrder(replies: readonly ((seen: Seen) => ScriptedReply)[]): (seen: Seen) => ScriptedReply {
  let n = 0;
  return (seen) => (replies[n++] ?? (() => done('All done.')))(seen);
}
const always = (reply: ScriptedReply) => (): ScriptedReply => reply;
const code = "return [look(at='here'), ledger_append(entry_type='note', content='from code')] and 'seen'";

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'traces-test-'));
  live = await startOtlpReceiver();
  await writeFile(join(directory, 'tools.ts'), tools());
  await writeFile(join(directory, 'orient'), '#!/bin/sh\ntest -e oriented || { touch oriented; exit 1; }\n', { mode: 0o755 });
  model = await startTeam({
    lead: inOrder([
      always(calls(look('here'), look('there'), entry('finding', secret), entry('plan', 'Look, then press'))),
      always({ error: { status: 500, type: 'api_error' } }),
      always(calls(noDocker === null ? call('execute_code', { code }) : look('code'), look('the abyss'))),
      always(calls(entry('step', 'Looked around'))),
      always(calls(look('once'), look('beside'))),
      always(calls(spawn('part: count'))),
      ({ children }) => calls(awaits(children)),
      always(calls(call('press', {}))),
      always({ stall: true }),
      always(done('All done.')),
    ]),
    part: inOrder([always(calls(entry('finding', 'Forty-two'))), always(done('Counted.'))]),
  });
  await db.facultySave({
    name: 'lead',
    accepts: ['lead', 'part'],
    orient: { command: './orient', on_failure: 'fail' },
    recover: { command: 'echo again', max_attempts: 3, backoff: 'constant' },
    consolidate: { command: 'echo kept' },
    awareness: { refresh_every: 2 },
    engage: {
      workspace: 'host',
      workspace_dir: directory,
      tools: ['look', 'press'],
      code_execution: noDocker === null,
      require_approval: 'dangerous',
      compact_every: 3,
      compact_keep_recent: 1,
      context_window: 200_000,
      ledger_nudge_interval: 0,
    },
  });
});
afterAll(async () => {
  for (const worker of workers.splice(0)) await worker.end('SIGKILL').catch(() => {});
  await model?.close();
  await live?.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

async function startWorker(): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({
    url: database.url,
    modelUrl: model.url,
    leaseSeconds: 60, // a busy machine takes none away: killed() does
    args: ['--tools', join(directory, 'tools.ts')],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: live.url, OTEL_SERVICE_NAME: 'traced' },
  });
  workers.push(worker);
  return worker;
}

/** Its lease is over at once, as it would be a minute later. */
async function killed(worker: WorkerProcess): Promise<void> {
  await worker.end('SIGKILL');
  await database.query(`update ledger.foci set lease_expires_at = now() - interval '1 second' where lease_owner is not null`);
}

const ended = (id: string) => until(async () => (await db.workItem(id))?.resolved_at);
const key = (span: ReceivedSpan): string => `${span.traceId} ${span.spanId}`;
/** A span that was sent again, because a process died before it could say that it had arrived, is the same span. */
const distinct = (spans: readonly ReceivedSpan[]): ReceivedSpan[] =>
  [...new Map(spans.map((span) => [key(span), span])).values()].toSorted((a, b) => (key(a) < key(b) ? -1 : 1));

/** What `work-ledger trace` exports. */
async function exported(id: string): Promise<ReceivedSpan[]> {
  const receiver = await startOtlpReceiver();
  try {
    const env = { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: database.url };
    await cliOrFail(['trace', id, '--otlp', receiver.url], { env });
    return distinct(receiver.spans);
  } finally {
    await receiver.close();
  }
}

const kindOf = (span: ReceivedSpan): string => String(span.attributes['work.span']);

async function readTable(): Promise<Map<string, { parents: string[]; attributes: string[]; events: string[] }>> {
  const page = await readFile(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const rows = page.slice(page.indexOf('| Span | Below |')).split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const table = new Map(
    rows.map((row) => {
      const [, name = '', parents = '', text = ''] = row.split('|');
      const [attributes = '', events = ''] = text.split(/; events? /);
      return [
        quoted(name)[0] ?? '',
        { parents: quoted(parents.replace('(of `execute_code`)', '')), attributes: quoted(attributes), events: quoted(events) },
      ];
    }),
  );
  const tool = table.get('work.tool.execute');
  if (tool) table.set('sandbox.tool.call', { ...tool, parents: ['work.tool.execute'] });
  return table;
}

test('what the ledger writes into spans is in the documentation, whatever happens here', async () => {
  const page = await readFile(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const folder = new URL('../../sql/api/94_trace/', import.meta.url);
  const written = await Promise.all((await readdir(folder)).map((file) => readFile(new URL(file, folder), 'utf8')));
  const names = [...written.join('\n').matchAll(/'((?:work|gen_ai|sandbox|error|http|server)\.[a-z_.]+)'/g)].map(([, name]) => name);
  expect(names).toContain('work.tool.wait');
  expect([...new Set(names)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

describe('a run with parallel tools, code, a child, approval, compaction, a crash, a retry, a second attempt and a fork', () => {
  let root: string;
  let fork: string;
  let spans: ReceivedSpan[];
  const named = (name: string): ReceivedSpan[] => spans.filter((span) => kindOf(span) === name);
  const only = (name: string, of: (span: ReceivedSpan) => boolean): ReceivedSpan => {
    const found = named(name).filter(of);
    expect(found, name).toHaveLength(1);
    return found[0]!;
  };

  beforeAll(async () => {
    const item = await db.workSubmit({ workType: 'lead', description: 'lead: all of it' });
    root = item.id;
    const first = await startWorker();
    await until(async () => (await db.toolCalls(root)).length > 0);
    await writeFile(join(directory, 'stored'), '');
    await until(async () => (await readFile(join(directory, 'hung'), 'utf8').catch(() => '')) === 'x');
    await until(async () =>
      (await db.toolCalls(root)).some(({ input, status }) => (input as { at?: string }).at === 'beside' && status === 'completed'),
    );
    await killed(first);
    const second = await startWorker();
    const [approval] = await until(async () => {
      const rows = await database.query<{ tool_call_id: string }>('select tool_call_id from ledger.approvals where decision is null');
      return rows.length > 0 ? rows : null;
    });
    const before = model.requests.length;
    await database.query(`select tool_call_approve('${approval?.tool_call_id}')`);
    await until(() => model.requests.length > before); // it stalls
    await killed(second);
    await startWorker();
    await ended(root);
    const [turn] = await database.query<{ id: string }>(
      `select id from ledger.turns where work_item_id = '${root}' and iteration = 1 and status = 'completed'`,
    );
    fork = (await database.query<{ id: string }>(`select id from work_fork('${turn?.id}')`))[0]!.id;
    await ended(fork);
    spans = await exported(root);
  }, 600_000);

  test('what was sent while it happened is what its rows say', async () => {
    const ids = spans.map(key);
    // Workers were killed in the middle of an export: nobody waits for the minute to end until which they hold it.
    await database.query('update ledger.trace_exports set claim_ends_at = null');
    await until(() => distinct(live.spans).length >= ids.length);
    expect(distinct(live.spans).map(key)).toEqual(ids);
    expect(distinct(live.spans)).toEqual(spans);
    expect(live.resource).toMatchObject({
      'service.name': 'traced',
      'service.version': version(),
      'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  test('it is one trace, and every parent is in it; a fork is a trace of its own', () => {
    const traceOf = (id: string): string => id.replaceAll('-', '');
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceOf(root), traceOf(fork)]));
    const known = new Set(spans.map(key));
    for (const span of spans) if (span.parentSpanId !== '') expect(known, span.name).toContain(`${span.traceId} ${span.parentSpanId}`);
    expect(spans.filter((span) => span.parentSpanId === '').map((span) => kindOf(span))).toEqual(['work.item', 'work.item']);
    for (const span of spans) expect(span.end, kindOf(span)).toBeGreaterThanOrEqual(span.start);
  });

  test('every span and attribute is in the documentation, and each of the documentation is there', async () => {
    const table = await readTable();
    const genAi = ['gen_ai.conversation.id', 'gen_ai.agent.name', 'gen_ai.agent.id'];
    const onAll = ['work.span', 'work.item.id', 'work.focus.id', 'work.attempt', 'work.faculty', 'work.type', ...genAi];
    const everywhere = [...onAll, 'work.iteration', 'work.turn.id'];
    const names = new Map(spans.map((span) => [span.spanId, kindOf(span)]));
    expect([...new Set(spans.map((span) => kindOf(span)))].toSorted()).toEqual(
      [...table.keys()].filter((name) => noDocker === null || name !== 'sandbox.tool.call').toSorted(),
    );
    const seen = { attributes: new Map<string, Set<string>>(), events: new Set<string>(), parents: new Set<string>() };
    for (const span of spans) {
      const row = table.get(kindOf(span));
      expect(
        onAll.filter((name) => !(name in span.attributes)),
        kindOf(span),
      ).toEqual([]);
      expect(
        Object.keys(span.attributes).filter((name) => !everywhere.includes(name) && !row?.attributes.includes(name)),
        kindOf(span),
      ).toEqual([]);
      expect(
        span.events.filter(({ name }) => !row?.events.includes(name)),
        kindOf(span),
      ).toEqual([]);
      if (span.parentSpanId !== '') expect(row?.parents, kindOf(span)).toContain(names.get(span.parentSpanId));
      for (const event of span.events) seen.events.add(event.name);
      seen.parents.add(`${kindOf(span)} < ${names.get(span.parentSpanId)}`);
      seen.attributes.set(kindOf(span), new Set([...(seen.attributes.get(kindOf(span)) ?? []), ...Object.keys(span.attributes)]));
    }
    expect([...seen.events].toSorted()).toEqual([...new Set([...table.values()].flatMap((row) => row.events))].toSorted());
    // A failure of each kind of span, and what a summary's request is below, is checked where it is made to happen.
    // So is what a faculty may ask of a model (test/sql/work_trace).
    const asked = ['thinking', 'effort', 'tool_choice', 'cache_ttl', 'service_tier', 'betas'].map((name) => `work.request.${name}`);
    const elsewhere = new Set([
      'error.type',
      'gen_ai.request.temperature',
      'gen_ai.request.top_p',
      'work.tool.wait',
      'server.address',
      ...asked,
    ]);
    for (const [name, { attributes }] of table) {
      if (name === 'sandbox.tool.call' || (name === 'work.tool.execute' && noDocker !== null)) continue;
      expect(
        attributes.filter((one) => !elsewhere.has(one) && !seen.attributes.get(name)?.has(one)),
        name,
      ).toEqual([]);
    }
  });

  test('what the GenAI conventions have a span for has the name and the kind that they say', () => {
    const says: Record<string, [operation: string, of: string]> = {
      'work.execute': ['invoke_agent', 'gen_ai.agent.name'],
      'gen_ai.chat': ['chat', 'gen_ai.request.model'],
      'work.tool.execute': ['execute_tool', 'gen_ai.tool.name'],
      'sandbox.tool.call': ['execute_tool', 'gen_ai.tool.name'],
    };
    for (const span of spans) {
      const [operation, of = ''] = says[kindOf(span)] ?? [];
      expect(span.attributes['gen_ai.operation.name']).toBe(operation);
      expect(span.name).toBe(operation === undefined ? kindOf(span) : `${operation} ${String(span.attributes[of])}`);
      expect(span.kind).toBe(operation === 'chat' ? 3 : 1);
    }
  });

  test('item, attempt, iteration and turn are those of the rows', async () => {
    const turns = await database.query<{ id: string; iteration: number; attempt: number; work_item_id: string }>(
      "select t.id, t.iteration, f.attempt, t.work_item_id from ledger.turns t join ledger.foci f on f.id = t.focus_id where t.turn_type = 'normal'",
    );
    for (const span of [...named('gen_ai.chat'), ...named('work.engage.iteration'), ...named('work.tool.execute')]) {
      const turn = turns.find(({ id }) => id === span.attributes['work.turn.id']);
      expect(span.attributes).toMatchObject({
        'work.item.id': turn?.work_item_id,
        'work.attempt': turn?.attempt,
        'work.iteration': turn?.iteration,
      });
    }
  });

  test('the attempts of a request: one that failed, one that was lost with its worker, and the answer of each', () => {
    const chats = named('gen_ai.chat').filter((span) => span.attributes['work.item.id'] === root);
    expect(chats.filter((span) => span.attributes['error.type'] === 'server_error')).toMatchObject([
      { status: 2, kind: 3, attributes: { 'http.response.status_code': 500 } },
    ]);
    expect(chats.filter((span) => span.attributes['error.type'] === 'lost')).toMatchObject([{ status: 2 }]);
    for (const failed of chats.filter((span) => span.status === 2)) {
      const [answer] = chats.filter((span) => span.attributes['work.turn.id'] === failed.attributes['work.turn.id'] && span.status === 0);
      expect(answer?.attributes).toMatchObject({
        'work.model_call.attempt': 2,
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
      });
      expect(answer!.start).toBeGreaterThanOrEqual(failed.end);
    }
  });

  test('counts are those of the turns', async () => {
    const turns = await database.query<{
      id: string;
      input: number;
      output_tokens: number;
      cached_input_tokens: number;
      stop_reason: string;
      first_token_ms: number;
    }>(`
      select id, input_tokens + cached_input_tokens + cache_write_tokens as input, output_tokens, cached_input_tokens, stop_reason, first_token_ms
        from ledger.turns where config_hash is not null and status = 'completed'`);
    for (const turn of turns) {
      const span = only('gen_ai.chat', ({ attributes, status }) => attributes['work.turn.id'] === turn.id && status === 0);
      expect(span.attributes).toMatchObject({
        'gen_ai.usage.input_tokens': turn.input,
        'gen_ai.usage.output_tokens': turn.output_tokens,
        'gen_ai.usage.cache_read.input_tokens': turn.cached_input_tokens,
        'gen_ai.response.finish_reasons': [turn.stop_reason],
        'gen_ai.response.time_to_first_chunk': turn.first_token_ms / 1000,
      });
    }
  });

  test('calls that run in parallel overlap; what failed has status error; what ran again after the crash says so', () => {
    const [here, there] = ['here', 'there'].map(
      (at) =>
        named('work.tool.execute').filter(
          (span) => span.attributes['work.tool.name'] === 'look' && span.attributes['work.iteration'] === 1,
        )[at === 'here' ? 0 : 1]!,
    );
    expect(here!.start < there!.end && there!.start < here!.end).toBe(true);
    expect(
      named('work.tool.execute')
        .filter((span) => span.status === 2)
        .map((span) => span.attributes['error.type']),
    ).toEqual(['failed']);
    only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'look' && span.attributes['work.tool.attempts'] === 2);
  });

  test.skipIf(noDocker !== null)('calls of code are below it', () => {
    const execution = only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'execute_code');
    expect(
      named('sandbox.tool.call')
        .map((span) => `${String(span.attributes['work.tool.name'])} below ${span.parentSpanId}`)
        .toSorted(),
    ).toEqual([`ledger_append below ${execution.spanId}`, `look below ${execution.spanId}`]);
    expect(execution.attributes).toMatchObject({ 'work.sandbox.verdict': 'ok', 'work.sandbox.tool_calls': 2 });
  });

  test('a ledger entry, a closed block, a compaction, digests', () => {
    only('work.tool.execute', (span) => span.attributes['work.ledger.entry_type'] === 'plan' && span.attributes['work.ledger.seq'] === 2);
    const closed = named('work.engage.iteration').flatMap((span) => span.events.filter(({ name }) => name === 'work.context.block_closed'));
    expect(closed.map(({ attributes }) => attributes['work.context.block'])).toEqual([1]);
    expect(named('work.context.compaction').length).toBeGreaterThan(0);
    for (const { attributes } of named('work.context.compaction')) {
      expect(attributes).toMatchObject({ trigger: 'periodic' });
      expect(attributes['messages_after']).toBeLessThan(attributes['messages_before'] as number);
    }
    expect(new Set(named('work.awareness.digest').map((span) => span.attributes['work.awareness.is_delta']))).toEqual(
      new Set([true, false]),
    );
  });

  test('waiting is apart from running', () => {
    const pressed = only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'press');
    expect(pressed.events.map((event) => event.name)).toEqual(['work.tool.approval_requested', 'work.tool.approval_decided']);
    expect(pressed.attributes).toMatchObject({
      'work.tool.approval': 'approved',
      'work.tool.approval_wait': expect.any(Number),
      'work.tool.run_time': expect.any(Number),
    });
    const awaited = only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'await_child_work');
    expect(awaited.attributes['work.tool.children_wait']).toEqual(expect.any(Number));
    expect(awaited.attributes).not.toHaveProperty('work.tool.run_time');
  });

  test('a child is linked to the calls that spawned and awaited it, and they to it', () => {
    const executions = named('work.execute').filter((span) => span.attributes['work.parent_item.id'] === root);
    const first = executions.find((span) => span.attributes['work.attempt'] === 1)!;
    const spawned = only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'spawn_child_work');
    const awaited = only('work.tool.execute', (span) => span.attributes['work.tool.name'] === 'await_child_work');
    const links = (span: ReceivedSpan): unknown[] => span.links.map((link) => [link.attributes['work.link'], link.spanId]);
    expect(links(spawned)).toEqual([['spawned', first.spanId]]);
    expect(links(awaited)).toEqual([['awaits', first.spanId]]);
    expect(executions.at(-1)!.parentSpanId).toBe(spawned.spanId);
    expect(executions.flatMap(links)).toEqual(
      expect.arrayContaining([
        ['spawned_by', spawned.spanId],
        ['awaited_by', awaited.spanId],
      ]),
    );
  });

  test('an attempt that failed, the one after it, and the fork are linked', () => {
    const [first, second] = [1, 2].map((attempt) =>
      only('work.execute', (span) => span.attributes['work.item.id'] === root && span.attributes['work.attempt'] === attempt),
    );
    expect(first).toMatchObject({ status: 2, attributes: { 'work.outcome': 'failed', 'error.type': 'failed' } });
    expect(second!.links).toMatchObject([{ spanId: first!.spanId, attributes: { 'work.link': 'retry_of' } }]);
    expect(only('work.orient', (span) => span.attributes['work.focus.id'] === first!.attributes['work.focus.id']).status).toBe(2);
    const forked = only('work.execute', (span) => span.attributes['work.item.id'] === fork);
    const iteration = only(
      'work.engage.iteration',
      (span) => span.attributes['work.focus.id'] === second!.attributes['work.focus.id'] && span.attributes['work.iteration'] === 1,
    );
    expect(forked.links).toMatchObject([
      { traceId: iteration.traceId, spanId: iteration.spanId, attributes: { 'work.link': 'forked_from' } },
    ]);
  });

  test('nothing that was said is in a span, unless it is asked for', async () => {
    expect(
      JSON.stringify([...live.spans, ...spans], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(secret);
    const env = {
      PATH: process.env['PATH'],
      HOME: directory,
      DATABASE_URL: database.url,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    };
    const { stdout } = await cliOrFail(['trace', root, '--json'], { env });
    const all = JSON.parse(stdout) as { name: string; attributes: Record<string, string> }[];
    const chat = all.find((span) => span.attributes['gen_ai.output.messages']?.includes(secret));
    expect(JSON.parse(chat?.attributes['gen_ai.input.messages'] ?? '')).toMatchObject([{ role: 'user', parts: [{ type: 'text' }] }]);
    expect(JSON.parse(chat?.attributes['gen_ai.output.messages'] ?? '')).toMatchObject([
      { role: 'assistant', finish_reason: 'tool_use', parts: [{ type: 'tool_call', name: 'look' }, {}, {}, {}] },
    ]);
    expect(
      all.find((span) => span.attributes['gen_ai.tool.call.arguments']?.includes(secret))?.attributes['gen_ai.tool.call.result'],
    ).toContain('Recorded');
  });

  test('in the terminal it is a tree with bars', async () => {
    const { stdout } = await cliOrFail(['trace', root], {
      env: { PATH: process.env['PATH'], HOME: directory, DATABASE_URL: database.url },
    });
    expect(stdout).toMatch(/^work\.item /);
    expect(stdout).toMatch(/^ {2}invoke_agent lead +─+/m);
    expect(stdout).toMatch(/^ {4}chat claude-sonnet-5-5 +█+ +\*? +[\d.]+ m?s/m);
    expect(stdout).toMatch(/^ {4}execute_tool spawn_child_work +▓+ .*\n {6}work\.item /m);
    expect(stdout).toMatch(/on the critical path\n█ model/);
    const [rows] = await database.query<{ n: number }>(`select count(*)::int as n from ledger.work_waterfall('${root}')`);
    expect(stdout.split('\n\n')[0]?.split('\n')).toHaveLength(rows?.n ?? 0);
  });
});
