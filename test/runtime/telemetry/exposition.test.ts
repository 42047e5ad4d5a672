// The text that Prometheus reads: names, types, escaping, buckets that add up; and what the paths of a process answer.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { Counted } from '../../../runtime/telemetry/counted.ts';
import { exposition, familyName } from '../../../runtime/telemetry/exposition.ts';
import { healthOf } from '../../../runtime/telemetry/health.ts';
import { listeningAt, serveHealth } from '../../../runtime/telemetry/healthServer.ts';

const metric = (name: string, type: 'counter' | 'histogram' | 'gauge' | 'total', unit = '1', says = 'Says it') => ({
  name,
  type,
  unit,
  labels: [],
  says,
});
const waits = metric('work.queue.oldest_age', 'gauge', 's', 'Back\\slash and\nline');
const tokens = metric('work.model.tokens', 'total', '{token}');
const entries = metric('work.ledger.entries', 'counter', '{entry}');
const took = metric('work.child.await_duration', 'histogram', 's');

function text(): string {
  const counted = new Counted();
  counted.record(entries, 1, 2, { faculty: 'a' });
  counted.record(entries, 1, 1, { faculty: 'a' });
  counted.record(took, 0.003, 2, {});
  counted.record(took, 5000, 1, {});
  return exposition(
    [waits, tokens, entries, took, metric('work.not.seen', 'gauge')],
    [
      { metric: waits.name, labels: { faculty: 'say "hi"\\\n', 'gen_ai.model': 'm' }, value: 1.5 },
      { metric: tokens.name, labels: {}, value: 7 },
    ],
    counted,
    { 'service.name': 'work-ledger' },
  );
}

test('names have the suffixes of unit and type, once', () => {
  expect([waits, tokens, entries, took].map(familyName)).toEqual([
    'work_queue_oldest_age_seconds',
    'work_model_tokens_total',
    'work_ledger_entries_total',
    'work_child_await_duration_seconds',
  ]);
  expect(familyName(metric('work.seconds', 'total', 's'))).toBe('work_seconds_total');
});

test('labels and help are escaped, buckets add up, and what has no value is left out', () => {
  const lines = text().split('\n');
  expect(lines).toContain('target_info{service_name="work-ledger"} 1');
  expect(lines).toContain('# HELP work_queue_oldest_age_seconds Back\\\\slash and\\nline');
  expect(lines).toContain('# TYPE work_queue_oldest_age_seconds gauge');
  expect(lines).toContain('work_queue_oldest_age_seconds{faculty="say \\"hi\\"\\\\\\n",gen_ai_model="m"} 1.5');
  expect(lines).toContain('# TYPE work_model_tokens_total counter');
  expect(lines).toContain('work_ledger_entries_total{faculty="a"} 3');
  expect(lines).toContain('work_child_await_duration_seconds_bucket{le="0.0025"} 0');
  expect(lines).toContain('work_child_await_duration_seconds_bucket{le="0.005"} 2');
  expect(lines).toContain('work_child_await_duration_seconds_bucket{le="3600"} 2');
  expect(lines).toContain('work_child_await_duration_seconds_bucket{le="+Inf"} 3');
  expect(lines).toContain('work_child_await_duration_seconds_count 3');
  expect(text()).not.toContain('not_seen');
});

const isThere = spawnSync('promtool', ['--version']).status === 0;
test.skipIf(!isThere)('promtool reads it (skipped where it is not installed)', () => {
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text(), encoding: 'utf8' });
  expect(checked.stderr).not.toMatch(/error|no help|non-histogram|should end/i);
});

test('an address is PORT, ADDRESS:PORT or [ADDRESS]:PORT', () => {
  expect(listeningAt('9464')).toEqual({ host: '127.0.0.1', port: 9464 });
  expect(listeningAt('0.0.0.0:80')).toEqual({ host: '0.0.0.0', port: 80 });
  expect(listeningAt('[::]:0')).toEqual({ host: '::', port: 0 });
  for (const wrong of ['', 'x', '70000', 'a:b:1', '::1:80', 'host:'])
    expect(() => listeningAt(wrong), wrong).toThrow('is not [ADDRESS:]PORT');
});

const db = (serves: () => Promise<boolean>, isWritable = true) => ({
  serves,
  takesWrites: async () => isWritable,
  metrics: async () => [waits],
  workGauges: async () => [{ metric: waits.name, labels: {}, value: 1 }],
});
const status = async (health: ReturnType<typeof healthOf>, path: string) => (await health.answer(path))?.status;

test('it lives without a database, and is ready only with one that serves it, and while it does not stop', async () => {
  const away = healthOf({ db: db(() => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:5432'))) });
  expect(await status(away, '/healthz')).toBe(200);
  const said = await away.answer('/readyz');
  expect(said?.status).toBe(503);
  expect(await said?.text()).toBe('the database does not answer\n');
  expect(await status(healthOf({ db: db(async () => false) }), '/readyz')).toBe(503);
  expect(await status(healthOf({ db: db(async () => true) }), '/readyz')).toBe(200);
  expect(await status(healthOf({ db: db(async () => true), isStopping: () => true }), '/readyz')).toBe(503);
  const readOnly = db(async () => true, false);
  expect(await status(healthOf({ db: readOnly }), '/readyz')).toBe(200);
  expect(await status(healthOf({ db: readOnly, writes: true }), '/readyz')).toBe(503);
  expect(healthOf({ db: db(async () => true) }).answer('/other')).toBeNull();
});

test('who asks at the same time is answered by one look', async () => {
  let looks = 0;
  const health = healthOf({ db: db(async () => ++looks > 0) });
  expect(await Promise.all([1, 2, 3].map(() => status(health, '/readyz')))).toEqual([200, 200, 200]);
  expect(looks).toBe(1);
});

test('on an address of this machine it answers to its names only, and nothing but GET', async () => {
  const server = await serveHealth(healthOf({ db: db(async () => true) }), { host: '127.0.0.1', port: 0 });
  const { port } = new URL(server.address);
  try {
    expect((await fetch(`${server.address}/metrics`)).headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await fetch(`http://localhost:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.address}/healthz`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${server.address}/`)).status).toBe(404);
    const stranger = get({ host: '127.0.0.1', port, path: '/metrics', headers: { host: 'evil.example' } });
    const [refused] = (await once(stranger, 'response')) as [IncomingMessage];
    expect(refused.statusCode).toBe(403);
    refused.resume();
  } finally {
    await server.close();
  }
});
