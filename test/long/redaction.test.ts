// Secrets in everything that an agent and people say: they are found in no row, no log, no span, no page, no answer, and in no request to
// the model; and what the agent did with them was done with them.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startOtlpReceiver } from '../otlpReceiver.ts';
import type { OtlpReceiver } from '../otlpReceiver.ts';
import { claudeSession } from '../importer.ts';
import { call, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const random = (): string => crypto.randomUUID().replaceAll('-', '');
/** Known to the worker alone, by the name of a variable; has no form of its own. */
const known = `canary.${random().slice(0, 12)}"${random().slice(0, 6)}7`;
/** Known by their form. */
const formed = ['sk', 'ant', 'api03', random()].join('-');
const password = `pw${random().slice(0, 10)}`;
const dashes = '-----';
const pem = `${dashes}BEGIN PRIVATE KEY${dashes}\n${random()}${random()}\n${dashes}END PRIVATE KEY${dashes}`;
const all = `${known} ${formed} postgresql://me:${password}@db.example/app ${pem}`;
/** What is searched for: as it is, and as JSON, shells and logs write it. */
const traces = [known, known.slice(0, 19), JSON.stringify(known).slice(1, -1), formed.slice(0, 30), password, pem.split('\n')[1] ?? ''];

let database: TestDatabase;
let db: Db;
let otlp: OtlpReceiver;
let model: Awaited<ReturnType<typeof startTeam>>;
let worker: WorkerProcess;
let directory: string;
/** What was seen of answers while they came. */
const streamed = new Set<string>();
const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: directory, DATABASE_URL: database.url, GATEWAY_KEY: known });

const expectNone = (what: string, text: string): void =>
  traces.forEach((trace) =>
    expect(text.includes(trace) ? text.slice(Math.max(0, text.indexOf(trace) - 200), text.indexOf(trace) + 60) : '', what).toBe(''),
  );

/** What a command prints, on both streams. */
const cli = (...args: string[]): Promise<string> =>
  new Promise(
    (resolve) =>
      void execFile(process.execPath, [main, ...args], { env: env(), maxBuffer: 100_000_000 }, (_, stdout, stderr) =>
        resolve(stdout + stderr),
      ),
  );

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'redaction-test-'));
  otlp = await startOtlpReceiver();
  await writeFile(join(directory, 'secrets.txt'), all);
  await writeFile(join(directory, 'say.json'), JSON.stringify({ say: `By the way: ${all}` }));
  await writeFile(join(directory, 'work-ledger.toml'), 'secrets = ["GATEWAY_KEY"]\n');
  let asked = 0;
  const text = `I use ${all}, and then I look at what comes of it. `;
  const shell = (command: string) => call('bash', { command });
  model = await startTeam({
    Talk: () =>
      asked++ === 0
        ? { error: { status: 500, type: 'api_error', message: `not with ${all}` } }
        : asked === 2
          ? {
              content: [
                { type: 'text', text },
                shell(`printf %s '${known}' > stated; cat secrets.txt`),
                call('ledger_append', { entry_type: 'finding', content: `Found ${all}`, data: { all } }),
              ],
              chunkDelayMs: 150,
              // Its last words come when the first were seen: message_start, ping, the beginning of the block, words 24 letters at a time.
              afterEvent: async (count) => {
                if (count === 2 + Math.ceil(text.length / 24)) await until(() => streamed.size > 0);
              },
            }
          : asked === 3
            ? {
                content: [
                  shell(`echo '${all}' >&2; exit 3`),
                  call('no_such_tool', { all }),
                  call('write_file', { path: 'written', content: all }),
                  call('ledger_append', { entry_type: 'step', content: `Used ${all}`, keep: [`https://me:${password}@example.org/`] }),
                ],
              }
            : asked === 4
              ? { content: [call('work_complete', { summary: `Done with ${all}` })] }
              : done(`Done with ${all}`),
    Ask: ({ exchange }) =>
      exchange === 0
        ? { content: [shell(`printf %s '${formed}' > asked`), call('write_file', { path: 'also', content: formed })] }
        : done('Done.'),
    Keep: ({ exchange }) => (exchange === 0 ? { content: [shell(`printf %s '${formed}' > kept`)] } : done('Done.')),
    Crash: () => done('Done.'),
  });
  await db.facultySave({
    name: 'talker',
    accepts: ['talk'],
    orient: { command: `cat ${directory}/secrets.txt` },
    consolidate: { command: `cat ${directory}/secrets.txt` },
    hooks: { before_model_call: `cat ${directory}/say.json` },
    engage: {
      workspace: 'host',
      workspace_dir: directory,
      tools: ['bash', 'write_file'],
      elide_budget: 0,
      check_command: 'cat secrets.txt; test -e checked || { touch checked; exit 1; }',
    },
  });
  await db.facultySave({
    name: 'keeper',
    accepts: ['keep'],
    redact: false,
    engage: { workspace: 'host', workspace_dir: directory, tools: ['bash'] },
  });
  worker = await startWorkerProcess({
    url: `${database.url}?password=${password}`,
    modelUrl: model.url,
    args: ['--log-level', 'trace'],
    env: { GATEWAY_KEY: known, OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
  });
});
afterAll(async () => {
  await worker?.end('SIGTERM');
  await otlp?.close();
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

const ended = (id: string) =>
  until(async () => {
    const item = await db.workItem(id);
    return item?.resolved_at ? item : null;
  });

test('secrets are in no row, log, span, page or answer, and in no request; what was done with them was done', async () => {
  const printed: string[] = [];
  const id =
    /[0-9a-f-]{36}/.exec(await cli('submit', `Talk about ${all}`, '--type', 'talk', '--params', JSON.stringify({ all })))?.[0] ?? '';
  const tail = spawn(process.execPath, [main, 'logs', id, '--follow'], { env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [tail.stdout, tail.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  printed.push(await cli('message', id, `Mind ${all}`));
  const item = await until(async () => {
    for (const { content } of await database.query<{ content: string }>('select content::text from ledger.turn_streams'))
      streamed.add(content);
    const now = await db.workItem(id);
    return now?.resolved_at ? now : null;
  });
  expect(item.state, JSON.stringify(item.outcome_data)).toBe('completed');
  await database.query(
    `select ledger.ledger_append((select id from ledger.work_submit('other', 'By hand')), 'note', $$${formed} and ${pem}$$)`,
  );
  printed.push(
    await cli('show', id),
    await cli('logs', id),
    await cli('ledger', id, '--json'),
    await cli('trace', id),
    await cli('digest'),
    await cli('logs', id, '--json'),
  );
  const session = await db.journal.sessionOpen('here', 'A session');
  await db.journal.log(session, 'user_feedback', { message: `${formed} ${pem}` }, 'high');
  printed.push(
    await mcp([
      { name: 'ledger_append', arguments: { entry_type: 'note', content: `By a client: ${all}` } },
      { name: 'ledger_read', arguments: {} },
      { name: 'no_such_tool', arguments: { all } },
    ]),
  );

  // It was done as it was said.
  expect(await readFile(join(directory, 'stated'), 'utf8')).toBe(known);
  expect(await readFile(join(directory, 'written'), 'utf8')).toBe(all);
  const calls = await database.query<{ input: string; result: string }>(
    `select input::text, result #>> '{}' as result from ledger.tool_calls where work_item_id = '${id}' order by created_at, ordinal`,
  );
  expect(calls[0]).toMatchObject({
    input: expect.stringContaining('[redacted]'),
    result: expect.stringContaining('postgresql://me:[redacted]@db.example/app [redacted]'),
  });

  const tables = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind = 'r'`,
  );
  for (const { name } of tables)
    for (const { row } of await database.query<{ row: string }>(`select t::text as row from ledger.${name} t`))
      expectNone(`table ${name}`, row);
  model.requests.forEach(({ body }) => expectNone('a request', body));
  const turns = await database.query<{ body: string }>(
    `select ledger.context_at(id)::text as body from ledger.turns where work_item_id = '${id}' and status = 'completed'`,
  );
  for (const { body } of turns)
    expect(model.requests.map((request) => request.body)).toContain(JSON.stringify({ ...(JSON.parse(body) as object), stream: true }));
  await until(() => otlp.spans.some(({ attributes }) => JSON.stringify(attributes['gen_ai.output.messages'] ?? '').includes('Done with')));
  expectNone(
    'a span',
    JSON.stringify(otlp.spans, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  );
  expect(JSON.stringify(otlp.spans.map(({ attributes }) => attributes))).toContain('[redacted]');
  expect(streamed.size).toBeGreaterThan(0);
  streamed.forEach((content) => expectNone('a stream', content));
  expectNone('the log', worker.log());
  expectNone('what was printed', printed.join('\n'));
  expect(printed.join('\n')).toContain('[redacted]');

  const running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  try {
    const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    for (const path of [
      '/',
      '/work',
      `/work/${id}`,
      `/work/${id}/ledger`,
      `/work/${id}/turns`,
      `/work/${id}/context`,
      '/sessions',
      '/knowledge',
    ]) {
      const page = await fetch(new URL(path, running.address), { headers: { cookie } });
      expect(page.status, path).toBe(200);
      expectNone(`page ${path}`, (await page.text()).replaceAll('&quot;', '"'));
    }
  } finally {
    await running.close();
  }
});

test('a faculty with redact = false keeps what has a form', async () => {
  const { id } = await db.workSubmit({ workType: 'keep', description: 'Keep it' });
  await ended(id);
  expect(await readFile(join(directory, 'kept'), 'utf8')).toBe(formed);
  expect(
    await database.query(`select from ledger.tool_calls where work_item_id = '${id}' and input::text like '%${formed}%'`),
  ).toHaveLength(1);
});

test.each([
  ['by its faculty', {}],
  ['after a hook', { before_tool: 'true' }],
])('a call that a person has to approve, %s, runs with what was said', async (_, hooks) => {
  await db.facultySave({
    name: 'asker',
    accepts: ['ask'],
    hooks,
    engage: { workspace: 'host', workspace_dir: directory, tools: ['bash', 'write_file'], require_approval: 'moderate' },
  });
  const { id } = await db.workSubmit({ workType: 'ask', description: 'Ask first' });
  await until(async () => {
    await database.query(
      `select ledger.tool_call_approve(tool_call_id) from ledger.approvals where work_item_id = '${id}' and decision is null`,
    );
    return (await db.workItem(id))?.resolved_at;
  });
  expect(
    await database.query(`select status, input::text ~ 'redacted' as is_redacted from ledger.tool_calls where work_item_id = '${id}'`),
  ).toEqual([
    { status: 'completed', is_redacted: true },
    { status: 'completed', is_redacted: true },
  ]);
  for (const name of ['asked', 'also']) expect(await readFile(join(directory, name), 'utf8')).toBe(formed);
  await Promise.all(['asked', 'also'].map((name) => rm(join(directory, name))));
});

test('an import keeps no secret, unless it is told to', async () => {
  for (const keeps of [false, true]) {
    const text = claudeSession(1).join('\n').replaceAll('I look at 1.', `I look at ${formed}.`).replaceAll('session-1', `session-${keeps}`);
    const file = join(directory, `${keeps}.jsonl`);
    await writeFile(file, text);
    expect(await cli('import', file, ...(keeps ? ['--keep-secrets'] : []))).toContain('1 turns');
    const [said] = await database.query<{
      content: string;
    }>(`select m.content::text as content from ledger.messages m join ledger.turns t on t.id = m.turn_id
      join ledger.work_items w on w.id = t.work_item_id where w.params ->> 'conversationId' = 'claude-code:session-${keeps}' and m.role = 'assistant'`);
    expect(said?.content).toContain(keeps ? formed : 'I look at [redacted].');
  }
});

test('where the worker that heard a secret is gone, a call with it is not run with something else: the model is told', async () => {
  await db.facultySave({ name: 'crasher', accepts: ['crash'], engage: { workspace: 'host', workspace_dir: directory, tools: ['bash'] } });
  worker.signal('SIGSTOP');
  const item = await db.workSubmit({ workType: 'crash', description: 'Crash' });
  const claim = await db.focusClaim(item.id, 'gone', 60);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const begin = await db.iterationBegin(claim);
  if (begin.kind !== 'call_model') throw new Error(begin.kind);
  const response = {
    id: 'm',
    model: 'm',
    content: [
      { type: 'tool_use', id: 't1', name: 'bash', input: { command: `echo ${formed} > crashed` } },
      { type: 'tool_use', id: 't2', name: 'bash', input: { command: 'echo fine > survived' } },
    ],
    stopReason: 'tool_use',
    stopDetails: null,
    usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    requestId: null,
    durationMs: 1,
  };
  await db.iterationStep(claim, { iteration: 1, seconds: null }, { answer: { turnId: begin.turn_id, response } });
  await db.iterationRelease(claim);
  worker.signal('SIGCONT');
  await ended(item.id);
  const [lost, kept] = await database.query<{ status: string; result: string }>(
    `select status, result #>> '{}' as result from ledger.tool_calls where work_item_id = '${item.id}' order by ordinal`,
  );
  expect(lost).toMatchObject({
    status: 'failed',
    result: expect.stringMatching(/Not run: its input contained a secret.*Make the call again/),
  });
  expect(kept).toMatchObject({ status: 'completed' });
  await expect(stat(join(directory, 'crashed'))).rejects.toThrow('ENOENT');
});

/** Calls of a client over stdio, and all that the server wrote. */
function mcp(calls: { name: string; arguments: object }[]): Promise<string> {
  return new Promise((resolve) => {
    const server = spawn(process.execPath, [main, 'mcp', '--conversation', 'there'], { env: env(), stdio: 'pipe' });
    let said = '';
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if ([1, ...calls.keys()].every((_, n) => said.includes(`"id":${n}`))) server.stdin.end();
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.once('exit', () => resolve(said));
    const send = (message: object): void => void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    send({ method: 'notifications/initialized' });
    calls.forEach((params, n) => send({ id: n + 1, method: 'tools/call', params }));
  });
}
