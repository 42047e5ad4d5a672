// Who takes the spans and who does not: collectors that hang, refuse or are not there delay nothing, and get later what they missed.

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import packageJson from '../../package.json' with { type: 'json' };
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { rowIds } from '../../runtime/telemetry/spans.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startOtlpReceiver } from '../otlpReceiver.ts';
import type { OtlpReceiver } from '../otlpReceiver.ts';
import { recorder } from '../recorder.ts';
import { Session } from '../session.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let receiver: OtlpReceiver;
let worker: WorkerProcess | undefined;

/** For node --import: the packages that are optional (peerDependenciesMeta) are not found. */
const withoutOptional = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const optional = new Set(${JSON.stringify(Object.keys(packageJson.peerDependenciesMeta))});
  registerHooks({ resolve: (specifier, context, next) => next(optional.has(specifier) ? 'not-installed/' + specifier : specifier, context) });
`)}`;

const note = { content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: 'Seen' } }] };

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  model = await startScriptedModel(scriptOf([note, note, note]));
  await db.facultySave({ name: 'writer', accepts: ['write'], engage: { workspace: 'none' } });
});
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  await worker?.end('SIGKILL').catch(() => {});
  worker = undefined;
  await receiver.close();
});
afterAll(async () => {
  await model?.close();
  await db?.close();
  await database?.drop();
});

async function start(env: Record<string, string>): Promise<WorkerProcess> {
  worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, env: { OTEL_EXPORTER_OTLP_TIMEOUT: '1000', ...env } });
  return worker;
}
const submit = async (): Promise<string> => (await db.workSubmit({ workType: 'write', description: 'Write it' })).id;
const completed = (id: string) => until(async () => (await db.workItem(id))?.state === 'completed');
/** Waits until every span of the item has arrived. */
async function arrived(id: string): Promise<void> {
  const ids = (await db.workTrace(id, false)).map((span) => span.span_id);
  expect(ids).toContain((await db.workTrace(id, false)).find((span) => span.attributes['work.span'] === 'work.execute')?.span_id);
  await until(() => ids.every((spanId) => receiver.spans.some((span) => span.spanId === spanId)));
}

test.each(['hang', 'refuse'] as const)(
  'a collector whose answer is to %s delays no work, and gets the spans when it has recovered',
  async (mode) => {
    receiver.mode = mode;
    const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    const first = await submit();
    await until(() => receiver.count > 0);
    expect(running.log().split('OTEL_EXPORTER_OTLP_PROTOCOL=grpc has no effect').length).toBe(2); // said once, for spans and metrics
    await completed(first);
    await completed(await submit());
    expect(receiver.spans).toEqual([]);
    await until(() => running.log().includes('spans were not exported'));
    receiver.mode = 'accept';
    await arrived(first);
  },
);

test('a collector that is not there delays no work; that it is missing is said once', async () => {
  const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await receiver.close();
  const item = await submit();
  await completed(item);
  await until(() => running.log().includes('spans were not exported'));
  await completed(await submit());
  expect(running.log().split('spans were not exported')).toHaveLength(2);
});

test('a collector that refuses metrics is told of once, until it takes them again', async () => {
  receiver.mode = 'refuse';
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics`, OTEL_METRIC_EXPORT_INTERVAL: '200' };
  const running = await start(env);
  const told = (): number => running.log().split('metrics were not exported').length - 1;
  await until(() => receiver.count > 3);
  expect(told()).toBe(1);
  receiver.mode = 'accept';
  await until(() => receiver.series.size > 0);
  receiver.mode = 'refuse';
  await until(() => told() === 2);
});

test('an export that waits in the database delays no work', async () => {
  const session = await Session.open(database.url);
  try {
    await session.run('begin');
    await session.run('lock table ledger.trace_exports in share row exclusive mode');
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const item = await submit();
    await until(
      async () =>
        (
          await database.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%trace_take%'",
          )
        ).length > 0,
    );
    await completed(item);
    await completed(await submit());
    await session.run('rollback');
    await arrived(item);
  } finally {
    await session.close();
  }
});

test('a worker that is told to stop does so while its collector hangs, and another worker exports what it left', async () => {
  receiver.mode = 'hang';
  const first = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const item = await submit();
  await until(() => receiver.count > 0);
  await completed(item);
  expect(await first.end('SIGTERM')).toBe(0);
  receiver.mode = 'accept';
  await database.query('update ledger.trace_exports set claim_ends_at = null'); // a minute later
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await arrived(item);
});

test('what ended without a worker is exported, too', async () => {
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const { id } = await db.workSubmit({ workType: 'write', description: 'Write it', runAt: '2100-01-01' });
  // Due, but without a job, and claimed before a sweep can see that.
  const [claimed] = await database.query<{ kind: string }>(`
    with due as (update ledger.work_items set run_at = now() where id = '${id}' returning id)
    select ledger.focus_claim(id, 'somebody', 60) ->> 'kind' as kind from due`);
  expect(claimed?.kind).toBe('claimed');
  await database.query(`select work_cancel('${id}')`);
  await arrived(id);
});

test('nobody loads the SDK unless OTEL_* asks for it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'collectors-test-'));
  const loaded = async (env: Record<string, string>): Promise<string[]> => {
    const process = await start({ ...env, NODE_OPTIONS: `--import=${recorder}`, LOADED: join(directory, 'loaded') });
    await completed(await submit());
    expect(await process.end('SIGTERM')).toBe(0);
    const urls = await readFile(join(directory, 'loaded'), 'utf8');
    return [...new Set([...urls.matchAll(/\/node_modules\/(@opentelemetry\/[^/]+)\//g)].map(([, name = '']) => name))];
  };
  expect(await loaded({})).toEqual(['@opentelemetry/api']);
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: 'true' })).toEqual(['@opentelemetry/api']);
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toContain('@opentelemetry/sdk-trace');
  await rm(directory, { recursive: true, force: true });
});

test('where the packages for it are not installed it is said once what is missing, and the work goes on', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, NODE_OPTIONS: `--import=${withoutOptional}` };
  const running = await start(env);
  const [first, second] = [await submit(), await submit()];
  await completed(first);
  await completed(second);
  expect(await running.end('SIGTERM')).toBe(0);
  const said = running
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(said.filter((msg) => msg.includes('npm install')).toSorted()).toEqual([
    'OTEL_* asks for metrics, and the packages for them are not installed: npm install @opentelemetry/sdk-metrics @opentelemetry/resources @opentelemetry/exporter-metrics-otlp-proto',
    'traces are not exported: To export spans, install the packages for it: npm install @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-proto',
  ]);
  expect(said.filter((msg) => /export|metrics/.test(msg))).toHaveLength(2);
  expect(receiver.count).toBe(0);

  const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
  const exported = spawnSync(process.execPath, [main, 'trace', first, '--otlp', receiver.url], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url, ...env },
    encoding: 'utf8',
  });
  expect([exported.status, exported.stderr]).toEqual([
    2,
    expect.stringMatching(/^error: To export spans, install the packages for it: npm install .*\n$/),
  ]);

  // Nothing is lost: a worker that has them exports what ended meanwhile.
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await arrived(first);
  await arrived(second);
});

test('whole traces are sampled, by their ids', async () => {
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off', OTEL_METRICS_EXPORTER: 'none' });
  const item = await submit();
  await completed(item);
  await until(
    async () =>
      (
        await database.query(
          `select from ledger.trace_exports e join ledger.foci f on f.id = e.focus_id where f.work_item_id = '${item}' and e.is_done`,
        )
      ).length > 0,
  );
  expect(receiver.count).toBe(0);
});

test('a program with an SDK of its own gets the spans through the API', async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new TracerProvider({ idGenerator: rowIds, spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  const inProcess = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    const item = await submit();
    await completed(item);
    const spans = await db.workTrace(item, false);
    const received = (): { id: string; parent: string | null }[] =>
      exporter
        .getFinishedSpans()
        .filter((span) => span.attributes['work.item.id'] === item)
        .map((span) => ({ id: span.spanContext().spanId, parent: span.parentSpanContext?.spanId ?? null }));
    await until(() => received().length >= spans.length);
    expect(received()).toEqual(expect.arrayContaining(spans.map((span) => ({ id: span.span_id, parent: span.parent_span_id }))));
  } finally {
    await inProcess.stop();
    trace.disable();
  }
});

test('two workers behind one collector are two series of each metric: what happened adds up, how the ledger stands is the same of both', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRIC_EXPORT_INTERVAL: '1000' };
  await db.workMetricsTake(); // what was done before is counted
  const [before] = await database.query<{ n: number }>('select count(*)::int as n from ledger.work_ledger');
  await start(env);
  const other = await startWorkerProcess({ url: database.url, modelUrl: model.url, env: { OTEL_EXPORTER_OTLP_TIMEOUT: '1000', ...env } });
  const named = (name: string) => [...receiver.series.values()].filter((one) => one.name === name);
  const instances = (name: string) => new Set(named(name).map(({ resource }) => resource['service.instance.id']));
  const sum = (name: string) => named(name).reduce((all, { value }) => all + value, 0);
  try {
    await until(() => instances('work.workers.alive').size === 2);
    for (let n = 0; n < 4; n++) await completed(await submit());
    const [after] = await database.query<{ n: number }>('select count(*)::int as n from ledger.work_ledger');
    await until(() => sum('work.ledger.entries') === (after?.n ?? 0) - (before?.n ?? 0));
    await until(() => named('work.workers.alive').every(({ value }) => value === 2));
    const [rows] = await database.query<{ n: number }>('select requests::int as n from ledger.work_totals()');
    await until(() => named('work.model.requests').every(({ value }) => value === rows?.n));
    expect(instances('work.model.requests').size).toBe(2);
    for (const { resource, scope } of receiver.series.values()) {
      expect(resource).toMatchObject({ 'service.name': 'work-ledger', 'service.version': packageJson.version });
      expect(scope).toEqual({ name: 'work-ledger', version: packageJson.version });
    }
    await until(() => receiver.scopes.length > 0);
    expect(receiver.scopes).toEqual([{ name: 'work-ledger', version: packageJson.version }]);
  } finally {
    await other.end('SIGKILL');
  }
});
