// deploy/alerts.yaml, by Prometheus's own rules: each alert fires on what it is for, none on a ledger that is well, and each is explained.

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { noPrometheus, rules } from '../prometheus.ts';

type Series = Record<string, string>;

/** A ledger that is well, a sample a minute: what stands stays, what is counted grows. Two processes say the same of it. */
const well: Series = Object.fromEntries(
  ['a', 'b'].flatMap((instance) =>
    Object.entries({
      'work_workers_alive{}': '2x200',
      'work_queue_due{faculty="engineer"}': '1x200',
      'work_queue_due{faculty="none"}': '0x200',
      'work_queue_oldest_age_seconds{faculty="engineer"}': '20x200',
      'work_slots_free{faculty="engineer"}': '1x200',
      'work_leases_expired_total{faculty="engineer"}': '3x200',
      'work_model_requests_total{faculty="engineer",model="m"}': '0+100x200',
      'work_model_failures_total{class="overloaded",faculty="engineer",model="m"}': '0+1x200',
      'work_items_ended_total{state="completed",faculty="engineer"}': '0+9x200',
      'work_items_ended_total{state="failed",faculty="engineer"}': '0+1x200',
      'work_approvals_oldest_age_seconds{}': '60x200',
      'work_model_cost_total{faculty="engineer",model="m"}': '0+0.1x200',
      'work_retention_lag_seconds{}': '0x200',
      'work_standby_lag_seconds{standby="one"}': '1x200',
    }).map(([series, values]) => [series.replace('{', `{instance="${instance}",`).replace(',}', '}'), values]),
  ),
);

/** What makes each alert fire: series that are otherwise than when the ledger is well; null: that are not there. */
const ill: Record<string, Record<string, string | null>> = {
  WorkLedgerSilent: { work_workers_alive: null },
  WorkLedgerNoWorker: { work_workers_alive: '0x200' },
  WorkLedgerQueueIsOld: { work_queue_oldest_age_seconds: '1000x200' },
  WorkLedgerUnroutable: { 'faculty="none"': '2x200' },
  WorkLedgerSlotsFull: { work_slots_free: '0x200' },
  WorkLedgerLeasesExpire: { work_leases_expired_total: '3+1x200' },
  WorkLedgerModelFails: { work_model_failures_total: '0+50x200' },
  WorkLedgerWorkFails: { 'state="failed"': '0+9x200' },
  WorkLedgerApprovalWaits: { work_approvals_oldest_age_seconds: '4000x200' },
  WorkLedgerSpendsMuch: { work_model_cost_total: '0+1x200' },
  WorkLedgerRetentionIsBehind: { work_retention_lag_seconds: '90000x200' },
  WorkLedgerStandbyIsBehind: { work_standby_lag_seconds: '90x200' },
};

const text = await readFile(rules, 'utf8');
const alerts = [...text.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

test('there are twelve, each is made to fire here, and each has a line in docs/troubleshooting.md', async () => {
  expect(alerts).toEqual(Object.keys(ill));
  expect(alerts).toHaveLength(12);
  const page = await readFile(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8');
  expect(alerts.filter((name) => !new RegExp(`^\\| \`${name}\` \\| .{40,} \\|$`, 'm').test(page))).toEqual([]);
});

type Case = { changed: Record<string, string | null>; more?: Series; fires: string | null };

const promtool = async (cases: Case[]): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'alerts-'));
  const tests = cases.map(({ changed, more = {}, fires }) => ({
    interval: '1m',
    input_series: [
      ...Object.entries(well).flatMap(([series, values]) => {
        const key = Object.keys(changed).find((part) => series.includes(part));
        const now = key === undefined ? values : changed[key];
        return now === null ? [] : [{ series, values: now }];
      }),
      ...Object.entries(more).map(([series, values]) => ({ series, values })),
    ],
    promql_expr_test: alerts.map((name) => ({
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`,
      eval_time: '150m',
      exp_samples: [{ labels: '{}', value: name === fires ? 1 : 0 }],
    })),
  }));
  try {
    await writeFile(join(directory, 'test.yaml'), JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(directory, 'test.yaml')], { encoding: 'utf8' });
    return stdout + stderr;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

test.skipIf(noPrometheus !== null)('none fires of a ledger that is well', async () => {
  expect(await promtool([{ changed: {}, fires: null }])).toContain('SUCCESS');
});

test.skipIf(noPrometheus !== null).each(Object.entries(ill))(
  '%s fires, once however many processes say so, and no other does',
  async (name, changed) => {
    expect(await promtool([{ changed, fires: name }])).toContain('SUCCESS');
  },
);

// A project's own faculty is called name@project where work waits for it, and by two labels where its slots are counted.
test.skipIf(noPrometheus !== null).each([
  ['fires of them', 'engineer@shop', 'WorkLedgerSlotsFull'],
  ['does not fire of another one of its name', 'engineer', null],
])("the slots of a project's own faculty are full: it %s", async (_, waits, fires) => {
  const more = {
    [`work_queue_due{faculty="${waits}",project="shop"}`]: '1x200',
    'work_slots_free{faculty="engineer",faculty_project="shop"}': '0x200',
  };
  expect(await promtool([{ changed: { work_queue_due: '0x200' }, more, fires }])).toContain('SUCCESS');
});

// A series begins when something happens for the first time, and increase() does not count what it begins with.
const failures = 'work_model_failures_total{class="authentication",faculty="engineer",model="m"}';
const failed = 'work_items_ended_total{state="dead",faculty="engineer"}';
test.skipIf(noPrometheus !== null).each<[string, Record<string, string | null>, Series, string | null]>([
  [
    'leases expire',
    { work_leases_expired_total: null },
    { 'work_leases_expired_total{faculty="engineer"}': '_x139 8x60' },
    'WorkLedgerLeasesExpire',
  ],
  ['work fails', { work_items_ended_total: null }, { [failed]: '_x120 10x79' }, 'WorkLedgerWorkFails'],
  ['requests fail, and none was ever answered', { work_model_: null }, { [failures]: '_x137 10x62' }, 'WorkLedgerModelFails'],
  [
    'they were there when Prometheus came',
    { work_: null },
    { 'work_workers_alive{}': '_x137 2x62', [failures]: '_x137 10x62', [failed]: '_x137 10x62' },
    null,
  ],
])('of what happens for the first time, many at once: %s', async (_, changed, more, fires) => {
  expect(await promtool([{ changed, more, fires }])).toContain('SUCCESS');
});
