// Metrics as an OpenTelemetry SDK gets them from real workers, each compared with what the rows say.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Histogram, MetricData } from '@opentelemetry/sdk-metrics';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startMetrics } from '../../runtime/telemetry/metrics.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { docker, noDocker } from '../docker.ts';
import { noPrometheus, startPrometheus } from '../prometheus.ts';
import type { Prometheus } from '../prometheus.ts';
import { Session } from '../session.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
const documented = [
  ...page.matchAll(/^\| `((?:work|gen_ai)\.[\w.]+)` \| (counter|histogram|gauge|total) \| (\S+) \| ([\w., ]*) \| (.+) \|$/gm),
].map(([, name = '', type, unit, labels = '', says]) => ({
  name,
  type,
  unit,
  labels: labels
    .split(', ')
    .map((label) => label.trim())
    .filter((label) => label !== ''),
  says,
}));

const isOfWhatHappens = ({ type }: { type?: string | undefined }): boolean => type === 'counter' || type === 'histogram';

const quiet = pino({ level: 'silent' });
let database: TestDatabase;
let db: Db;
let provider: MeterProvider;
let exporter: InMemoryMetricExporter;

beforeAll(() => {
  exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })] });
  metrics.setGlobalMeterProvider(provider);
});
afterAll(async () => {
  metrics.disable();
  await provider.shutdown();
});
beforeEach(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterEach(async () => {
  await db?.close();
  await database?.drop();
});

/** All that the SDK has by now. */
async function exported(): Promise<Map<string, MetricData>> {
  exporter.reset();
  await provider.forceFlush();
  return new Map(
    exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap((scope) => scope.metrics)
      .map((metric) => [metric.descriptor.name, metric]),
  );
}

/** [labels, sum, number of observations (of a counter: null)], in the order of the labels. */
const pointsOf = (metric: MetricData | undefined): unknown[] =>
  (metric?.dataPoints ?? [])
    .map(
      ({ attributes, value }) =>
        [
          attributes,
          rounded(typeof value === 'number' ? value : ((value as Histogram).sum ?? 0)),
          typeof value === 'number' ? null : (value as Histogram).count,
        ] as const,
    )
    .toSorted((a, b) => (label(a[0]) < label(b[0]) ? -1 : 1));
const label = (labels: object): string => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const rounded = (value: number): number => Number(value.toPrecision(9));

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.strictObject({ chars: z.int() }),
  effect: 'pure',
  risk: 'safe',
  execute: async ({ chars }) => ok('x'.repeat(chars)),
});
const note = (type: string, content: string) => call('ledger_append', { entry_type: type, content });

/** What the rows say of each metric, by queries of this test's own: labels, sum, count. */
const byFaculty = (value: string, from: string): string =>
  `select jsonb_build_object('faculty', f.faculty) as labels, sum(${value})::float8 as sum, count(${value})::int as count from ${from} group by f.faculty having count(${value}) > 0`;
const turns = "ledger.turns t join ledger.foci f on f.id = t.focus_id and t.turn_type = 'normal' and t.status = 'completed'";
const runs =
  'ledger.tool_calls k join ledger.turns t on t.id = k.turn_id and k.code_run is not null join ledger.foci f on f.id = t.focus_id';
const entries = 'ledger.work_ledger l join ledger.foci f on f.id = l.focus_id';
const ofRequest = `jsonb_build_object('faculty', f.faculty, 'gen_ai.operation.name', 'chat', 'gen_ai.provider.name', 'anthropic', 'gen_ai.request.model', c.model)`;
const requests = 'ledger.turns t join ledger.foci f on f.id = t.focus_id join ledger.turn_configs c on c.content_hash = t.config_hash';
const byModel = (labels: string, value: string, from: string): string =>
  `select ${ofRequest} || ${labels} as labels, sum(${value})::float8 as sum, count(${value})::int as count from ${from} group by 1 having count(${value}) > 0`;
const tokens = (type: string, value: string): string =>
  byModel(
    `jsonb_build_object('gen_ai.token.type', '${type}', 'gen_ai.response.model', t.model)`,
    value,
    `${requests} and t.total_tokens > 0`,
  );
const rowsOf: Record<string, string> = {
  'gen_ai.client.operation.duration': `${byModel(
    `jsonb_build_object('gen_ai.response.model', t.model)`,
    't.duration_ms / 1000.0',
    `${requests} and t.total_tokens > 0`,
  )} union all ${byModel(
    `jsonb_build_object('error.type', m.error_class)`,
    'extract(epoch from m.ended_at - m.started_at)',
    `${requests} join ledger.model_calls m on m.turn_id = t.id and m.error_class is not null`,
  )}`,
  'gen_ai.client.operation.time_to_first_chunk': byModel(
    `jsonb_build_object('gen_ai.response.model', t.model)`,
    't.first_token_ms / 1000.0',
    `${requests} and t.total_tokens > 0`,
  ),
  'gen_ai.client.token.usage': `${tokens('input', 't.input_tokens + t.cached_input_tokens + t.cache_write_tokens')} union all ${tokens('output', 't.output_tokens')}`,
  'gen_ai.invoke_agent.duration': `select jsonb_build_object('gen_ai.operation.name', 'invoke_agent', 'gen_ai.agent.name', faculty) || case outcome when 'failed' then '{"error.type": "failed"}' else '{}' end::jsonb as labels,
      sum(extract(epoch from ended_at - created_at))::float8 as sum, count(*)::int as count from ledger.foci group by 1`,
  'gen_ai.execute_tool.duration': `select jsonb_build_object('faculty', f.faculty, 'gen_ai.operation.name', 'execute_tool', 'gen_ai.tool.name', k.tool_name, 'gen_ai.tool.type', 'function')
        || case when k.is_error then jsonb_build_object('error.type', k.status) else '{}' end as labels,
      sum(extract(epoch from k.completed_at - k.started_at))::float8 as sum, count(*)::int as count
      from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id join ledger.foci f on f.id = t.focus_id
     where k.tool_name not in ('await_child_work', 'wait_for') and k.started_at is not null group by 1`,
  'work.engage.iterations': byFaculty('f.iteration', 'ledger.foci f'),
  'work.engage.parallel_tools': byFaculty(
    'k.n',
    `(select turn_id, count(*) as n from ledger.tool_calls where parent_call_id is null group by 1) k join ${turns} on t.id = k.turn_id`,
  ),
  'work.context.blocks_closed': byFaculty(
    '1',
    `(select distinct turn_id from ledger.work_ledger where entry_type = 'step') l join ${turns} on t.id = l.turn_id`,
  ),
  // Every elision is the first to leave its blocks out; of a compaction, those that had not left yet.
  'work.context.blocks_truncated': byFaculty(
    'e.last_block - greatest(e.first_block - 1, b.last_block)',
    `ledger.elisions e join ledger.foci f on f.id = e.focus_id
    left join ledger.compactions c on c.elision_id = e.id left join ledger.elisions b on b.id = c.base_elision_id`,
  ).replace(/having.*/, 'having sum(e.last_block - greatest(e.first_block - 1, b.last_block)) > 0'),
  'work.context.cache_read_ratio': byFaculty(
    't.cached_input_tokens::float8 / (t.input_tokens + t.cached_input_tokens + t.cache_write_tokens)',
    turns,
  ),
  'work.context.compactions': `select jsonb_build_object('faculty', f.faculty, 'trigger', c.trigger) as labels, count(*)::float8 as sum, count(*)::int as count
    from ledger.compactions c join ledger.turns t on t.id = c.turn_id join ledger.foci f on f.id = t.focus_id where c.is_applied group by f.faculty, c.trigger`,
  'work.context.compaction.messages_removed': `select '{}'::jsonb as labels, sum(messages_before - messages_after)::float8 as sum, count(*)::int as count from ledger.compactions where is_applied`,
  'work.context.emergency_summarizations': byFaculty(
    '1',
    "ledger.compactions c join ledger.turns t on t.id = c.turn_id join ledger.foci f on f.id = t.focus_id and c.compaction_type = 'summary'",
  ),
  'work.child.spawned': `select jsonb_build_object('faculty', f.faculty, 'child_work_type', case w.work_type when 'nobody''s' then 'other' else w.work_type end) as labels, count(*)::float8 as sum, count(*)::int as count
    from ledger.work_items w join ledger.foci f on f.work_item_id = w.parent_id group by f.faculty, w.work_type`,
  'work.child.await_duration': byFaculty(
    'extract(epoch from k.completed_at - k.started_at)',
    "ledger.tool_calls k join ledger.turns t on t.id = k.turn_id and k.tool_name = 'await_child_work' join ledger.foci f on f.id = t.focus_id",
  ),
  'work.awareness.digest_size': byFaculty(
    'd.tokens',
    'ledger.awareness_digests d join ledger.foci f on f.id = d.focus_id and (d.entries > 0 or not d.is_delta)',
  ),
  'work.awareness.digest_latency': `select '{}'::jsonb as labels, sum(duration_ms) / 1000 as sum, count(*)::int as count from ledger.awareness_digests`,
  'work.sandbox.executions': byFaculty('1', runs),
  'work.sandbox.duration': byFaculty("(k.code_run ->> 'duration_ms')::float8 / 1000", runs),
  'work.sandbox.tool_calls': byFaculty("(k.code_run ->> 'calls')::float8", runs),
  'work.sandbox.output_bytes': byFaculty("(k.code_run ->> 'bytes_returned')::float8", runs),
  'work.sandbox.internal_bytes': byFaculty("(k.code_run ->> 'bytes_seen')::float8", runs),
  'work.sandbox.compression_ratio': byFaculty(
    "(k.code_run ->> 'bytes_seen')::float8 / nullif((k.code_run ->> 'bytes_returned')::float8, 0)",
    runs,
  ),
  'work.sandbox.timeouts': byFaculty('1', `${runs} where k.code_run ->> 'verdict' = 'timeout'`),
  'work.sandbox.errors': byFaculty('1', `${runs} where k.code_run ->> 'verdict' = 'error'`),
  'work.ledger.entries': `select jsonb_build_object('faculty', coalesce(f.faculty, 'none'), 'entry_type', l.entry_type) as labels, count(*)::float8 as sum, count(*)::int as count
    from ledger.work_ledger l left join ledger.foci f on f.id = l.focus_id group by f.faculty, l.entry_type`,
  'work.ledger.soft_cap_warnings': byFaculty('1', `${entries} where octet_length(l.content) > 4096`),
};

describe.skipIf(noDocker !== null)('two workers and a tree with code, cuts, compactions and children', () => {
  test('each documented metric has its type, unit, labels and meaning, and the value of the rows', async () => {
    const engage = { ledger_nudge_interval: 0, tools: ['look'], workspace: 'none' };
    await db.facultySave({ name: 'lead', accepts: ['lead'], engage: { ...engage, code_execution: true } });
    await db.facultySave({ name: 'part', accepts: ['part'], engage: { ...engage, elide_budget: 0 }, awareness: { refresh_every: 2 } });
    await db.facultySave({ name: 'mute', accepts: ['mute'], engage: { ...engage, compact_every: 4, compact_keep_recent: 2 } });
    const code = (text: string, more = {}) => call('execute_code', { code: text, ...more });
    const key = ['sk', 'ant', '1'.repeat(20)].join('-');
    const other = key.replaceAll('1', '2');
    // Counted here: a cut takes responses out of the request.
    let looks = 0;
    let refused = 0;
    const model = await startTeam({
      lead: ({ exchange, children }) =>
        [
          calls(
            spawn('part one'),
            spawn('mute two', { work_type: 'mute' }),
            spawn('three', { work_type: "nobody's" }),
            note('plan', `Delegate, with ${other} and ${other}`),
          ),
          calls(awaits(children.slice(0, 2), 3600), code('return look(chars=5000)[:50]')),
          calls(code('raise ValueError("no")')),
          calls(code('while True: pass', { timeout_seconds: 1 })),
        ][exchange] ?? done('All is done.'),
      part: () =>
        refused++ === 0
          ? { error: { status: 500, type: 'api_error', message: `not for ${key} nor ${other}` } }
          : ([
              calls(call('look', { chars: 3000 }), call('look', { chars: 10 }), note('finding', `It is long: ${'y'.repeat(5000)}`)),
              calls(note('step', 'Looked'), note('step', 'Looked twice')),
              calls(call('look', { chars: 3000 })),
              calls(note('step', 'Looked again')),
              calls(call('look', { chars: 5 })),
            ][refused - 2] ?? done('Done.')),
      mute: ({ said }) =>
        said.some((text) => text.includes('Summarize the progress'))
          ? done('It looked at 20,000 letters x.')
          : looks++ < 6
            ? calls(call('look', { chars: 20_000 }))
            : done('Done.'),
    });
    const start = (): Promise<Worker> =>
      startWorker({
        url: database.url,
        schema: 'ledger',
        tools: [look],
        log: quiet,
        concurrency: 4,
        docker,
        http: { host: '127.0.0.1', port: 0 },
        model: createModelClient({ apiKey: key, baseURL: model.url }),
      });
    const workers = [await start(), await start()];
    const hosts = workers.map(({ address }) => new URL(address ?? '').host);
    const prometheus = noPrometheus === null ? await startPrometheus(hosts) : null;
    try {
      const root = await db.workSubmit({ workType: 'lead', description: 'lead' });
      await database.query(
        `select ledger.ledger_append((select id from ledger.work_submit('other', 'nobody drives it')), 'note', 'From a client')`,
      );
      await until(async () => (await db.workItem(root.id))?.state === 'completed');
      if (prometheus) await showsAll(prometheus);
      await saysWhatIsExported(workers);
      await standsAsTheLedgerSays();
    } finally {
      await prometheus?.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      await model.close();
    }
    const got = await exported();
    const happens = documented.filter(isOfWhatHappens);
    const standing = new Set(documented.filter((one) => !isOfWhatHappens(one)).map(({ name }) => name));
    expect([...got.keys()].filter((name) => !standing.has(name)).toSorted()).toEqual(happens.map(({ name }) => name).toSorted());
    expect(happens.map(({ name }) => name)).toEqual([...Object.keys(rowsOf).toSorted(byReadme), 'work.redactions'].toSorted(byReadme));
    for (const { name, type, unit, labels, says } of happens) {
      const metric = got.get(name);
      expect({
        name,
        type: metric?.dataPointType === DataPointType.SUM ? 'counter' : 'histogram',
        unit: metric?.descriptor.unit,
        says: metric?.descriptor.description,
      }).toEqual({ name, type, unit, says });
      const has = new Set(metric?.dataPoints.flatMap(({ attributes }) => Object.keys(attributes)));
      expect([...has].filter((one) => one !== 'error.type').toSorted(), name).toEqual(
        labels.filter((one) => !['faculty_project', 'server.address', 'error.type'].includes(one)).toSorted(), // they are the ledger's, at the worker's own server, and few fail
      );
    }
    for (const [name, query] of Object.entries(rowsOf)) {
      const rows = await database.query<{ labels: Record<string, string>; sum: number; count: number }>(query);
      const isCounter = got.get(name)?.dataPointType === DataPointType.SUM;
      expect(pointsOf(got.get(name)), name).toEqual(
        rows
          .map(({ labels, sum, count }) => [labels, rounded(sum), isCounter ? null : count])
          .toSorted((a, b) => (label(a[0] as object) < label(b[0] as object) ? -1 : 1)),
      );
    }
    // Of rows by the marks in them, of what never was a row by what was said; the known key stands in nothing else.
    const [marks] = await database.query<{ entries: number; messages: number; inputs: number }>(`select
      (select count(*)::int from ledger.work_ledger, regexp_matches(content, '\\[redacted\\]', 'g')) as entries,
      (select count(*)::int from ledger.messages, regexp_matches(content::text, '\\[redacted\\]', 'g') where role = 'assistant') as messages,
      (select count(*)::int from ledger.tool_calls, regexp_matches(input::text, '\\[redacted\\]', 'g')) as inputs`);
    expect(marks).toEqual({ entries: 2, messages: 2, inputs: 2 });
    expect(pointsOf(got.get('work.redactions'))).toEqual([
      [{ place: 'messages' }, 2, null],
      [{ place: 'model_error' }, 2, null],
      [{ place: 'tool_calls' }, 2, null],
    ]);
  });
});

/** What Grafana asks for: everything that the dashboard draws from Prometheus. */
const drawn = z
  .object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string().optional() })).optional() })) })
  .parse(JSON.parse(readFileSync(new URL('../../docs/grafana/work-ledger.json', import.meta.url), 'utf8')))
  .panels.flatMap(({ title, targets = [] }) => targets.flatMap(({ expr }) => (expr === undefined ? [] : [{ title, expr }])));

async function showsAll(prometheus: Prometheus): Promise<void> {
  let empty: string[] = [];
  const isAllThere = async (): Promise<boolean> => {
    empty = [];
    for (const { title, expr } of drawn) {
      const asked = expr.replaceAll('$faculty', '.*').replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h');
      if ((await prometheus.query(asked)).length === 0) empty.push(`${title}: ${asked}`);
    }
    return empty.length === 0;
  };
  await until(isAllThere).catch(() => {});
  expect(empty).toEqual([]);
  expect(drawn.length).toBeGreaterThan(60);
  await until(async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown'));
  expect((await prometheus.rules()).map(({ health }) => health)).toEqual(Array(17).fill('ok'));
}

/** Both workers together have counted what the rows say; each says alike how the ledger stands. */
async function saysWhatIsExported(workers: readonly Worker[]): Promise<void> {
  let texts: string[] = [];
  const valuesOf = (text: string, start: string): number[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith(start))
      .map((line) => Number(line.split(' ').at(-1)));
  const sum = (start: string): number => texts.flatMap((text) => valuesOf(text, start)).reduce((all, one) => all + one, 0);
  const [rows] = await database.query<{ entries: number; tokens: number }>(
    `select (select count(*)::int from ledger.work_ledger where not is_inherited) as entries,
            (select sum(input_tokens + output_tokens + cached_input_tokens + cache_write_tokens)::int from ledger.work_totals()) as tokens`,
  );
  // Each counts from time to time.
  await until(async () => {
    texts = await Promise.all(workers.map(async ({ address }) => (await fetch(`${address}/metrics`)).text()));
    return sum('work_ledger_entries_total') === rows?.entries;
  });
  for (const text of texts) expect(valuesOf(text, 'work_model_tokens_total').reduce((all, one) => all + one, 0)).toBe(rows?.tokens);
  expect(new Set(texts.map((text) => /service_instance_id="([^"]+)"/.exec(text)?.[1])).size).toBe(1); // one process
  for (const text of texts) expect(text).not.toContain('sk-ant');
}

/** Gauges and totals: what the SDK asks for is what SQL says at that moment. */
async function standsAsTheLedgerSays(): Promise<void> {
  const got = await exported();
  const stands = await database.query<{ metric: string; labels: Record<string, string>; value: number }>(
    'select * from ledger.work_gauges()',
  );
  expect(new Set(stands.map(({ metric }) => metric)).size).toBeGreaterThan(15);
  for (const { name, type, unit, says } of documented.filter((one) => !isOfWhatHappens(one))) {
    const rows = stands.filter(({ metric }) => metric === name);
    if (rows.length === 0) continue;
    const metric = got.get(name);
    expect(metric?.descriptor, name).toMatchObject({ unit, description: says });
    expect(metric?.dataPointType, name).toBe(type === 'gauge' ? DataPointType.GAUGE : DataPointType.SUM);
    const ages = name.endsWith('_age') ? expect.any(Number) : null; // of this moment
    expect(pointsOf(metric), name).toEqual(
      rows
        .map(({ labels, value }) => [labels, ages ?? rounded(value), null])
        .toSorted((a, b) => (label(a[0] as object) < label(b[0] as object) ? -1 : 1)),
    );
  }
}

const byReadme = (a: string, b: string): number =>
  documented.findIndex(({ name }) => name === a) - documented.findIndex(({ name }) => name === b);

const taken = (): Promise<{ metric: string; labels: Record<string, string>; times: string }[]> =>
  database.query(`select * from ledger.work_metrics_take() where metric = 'work.ledger.entries'`);

test('an observation is given to one of several takers; what a taker rolls back is given to the next', async () => {
  await taken();
  await database.query(`select ledger.ledger_append((select id from ledger.work_submit('any', 'Anything')), 'note', 'Here')`);
  const one = await Session.open(database.url);
  try {
    await one.run('begin');
    expect(await one.run(`select sum(times)::int from ledger.work_metrics_take() where metric = 'work.ledger.entries'`)).toBe(1);
    expect(await taken()).toEqual([]);
    await one.run('rollback');
    expect(await taken()).toMatchObject([{ times: '1' }]);
    expect(await taken()).toEqual([]);
  } finally {
    await one.close();
  }
});

test('what commits late is not passed over, and what commits meanwhile is not counted twice', async () => {
  await taken();
  const [late] = await database.query<{ id: string }>(`select id from ledger.work_submit('any', 'Late')`);
  const [early] = await database.query<{ id: string }>(`select id from ledger.work_submit('any', 'Early')`);
  const one = await Session.open(database.url);
  try {
    await one.run(`begin; select ledger.ledger_append('${late?.id}', 'note', 'Written first, committed last')`);
    await database.query(`select ledger.ledger_append('${early?.id}', 'finding', 'Written last, committed first')`);
    expect(await taken()).toEqual([]);
    await one.run('commit');
    expect(new Set((await taken()).map(({ labels }) => labels['entry_type']))).toEqual(new Set(['finding', 'note']));
    expect(await taken()).toEqual([]);
  } finally {
    await one.close();
  }
});

const works = async (): Promise<void> => {
  await db.facultySave({ name: 'plain', accepts: ['plain'], engage: { workspace: 'none' } });
  const model = await startTeam({ plain: () => done('Done.') });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: quiet,
    docker: null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    const item = await db.workSubmit({ workType: 'plain', description: 'plain' });
    await until(async () => (await db.workItem(item.id))?.state === 'completed');
  } finally {
    await worker.stop();
    await model.close();
  }
};

describe('the loop notices nothing', () => {
  test('of a ledger that cannot be counted', async () => {
    await database
      .query('drop function ledger.work_metrics_take()')
      .catch(() =>
        database.query('alter extension work_ledger drop function ledger.work_metrics_take(); drop function ledger.work_metrics_take()'),
      );
    await works();
  });

  test('of a count that never ends', async () => {
    const one = await Session.open(database.url);
    try {
      await one.run('begin; lock table ledger.metrics_taken in access exclusive mode');
      await works();
    } finally {
      await one.close();
    }
  });
});

describe('with OTEL_EXPORTER_OTLP_ENDPOINT, to a collector', () => {
  let collector: Server;
  const arrived: { path: string; body: Buffer }[] = [];
  let answers = true;
  beforeEach(async () => {
    metrics.disable();
    const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      arrived.push({ path: request.url ?? '', body: await buffer(request) });
      if (answers) response.writeHead(200).end();
    };
    collector = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    collector.closeAllConnections();
    collector.close();
    metrics.setGlobalMeterProvider(provider);
  });

  test('the last observations arrive before the worker has stopped', async () => {
    await works();
    expect(arrived.map(({ path }) => path)).toContain('/v1/metrics');
    expect(Buffer.concat(arrived.map(({ body }) => body)).includes('work.engage.iterations')).toBe(true);
  });

  test('two workers share an SDK that is not registered: a program may register its own, and the second goes on when the first stops', async () => {
    vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '200');
    const model = createModelClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:9' });
    const start = (): Promise<Worker> => startWorker({ url: database.url, schema: 'ledger', tools: [], docker: null, log: quiet, model });
    const [first, second] = [await start(), await start()];
    try {
      await first.stop();
      arrived.length = 0;
      await until(async () => arrived.some(({ body }) => body.includes('work.')));
      expect(metrics.setGlobalMeterProvider(provider)).toBe(true);
      metrics.disable();
    } finally {
      await second.stop();
    }
    arrived.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(arrived).toEqual([]);
  });

  test('that never answers, and to one that is not there: the work is done and the worker stops', async () => {
    answers = false;
    await works();
    collector.closeAllConnections();
    collector.close();
    await works();
  });
});

test('a worker that has stopped is asked for nothing by the SDK of its program', async () => {
  const own = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })] });
  const meter = own.getMeter('work-ledger');
  const [added, removed] = [vi.spyOn(meter, 'addBatchObservableCallback'), vi.spyOn(meter, 'removeBatchObservableCallback')];
  vi.spyOn(own, 'getMeter').mockReturnValue(meter);
  metrics.disable();
  metrics.setGlobalMeterProvider(own);
  try {
    await (await startMetrics(database.url, 'ledger', quiet))?.stop();
    expect(added).toHaveBeenCalledOnce();
    expect(removed.mock.calls).toEqual(added.mock.calls);
  } finally {
    metrics.disable();
    metrics.setGlobalMeterProvider(provider);
    await own.shutdown();
  }
});

test('a worker without an SDK takes nothing', async () => {
  metrics.disable();
  try {
    expect(await startMetrics(database.url, 'ledger', quiet)).toBeNull();
    expect(await database.query('select from ledger.metrics_taken')).toEqual([]);
  } finally {
    metrics.setGlobalMeterProvider(provider);
  }
});
