// The dashboard in docs/: it asks for metrics that workers emit, under the names and with the labels that Prometheus has, and leaves none
// out.

import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';
import { z } from 'zod';

import { openDb } from '../../../runtime/ledger/db.ts';
import { createDatabase } from '../../database.ts';

const source = z.object({ type: z.string(), uid: z.string() });
const panel = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  datasource: source.optional(),
  targets: z
    .array(z.looseObject({ refId: z.string(), datasource: source, expr: z.string().optional(), query: z.string().optional() }))
    .optional(),
});
const dashboard = z
  .object({
    title: z.string(),
    uid: z.string(),
    panels: z.array(panel),
    templating: z.object({ list: z.array(z.looseObject({ name: z.string(), type: z.string(), query: z.unknown() })) }),
  })
  .parse(JSON.parse(readFileSync(new URL('../../../docs/grafana/work-ledger.json', import.meta.url), 'utf8')));
const isOfMetric = (title: string): boolean => /^(?:work|gen_ai)\./.test(title);
const drawn = dashboard.panels.filter(({ type }) => type !== 'row');

/**
 * What Prometheus and the OpenTelemetry Collector make of a name, by OpenTelemetry's rules for Prometheus: its series, with the suffixes of
 * unit and type.
 */
function seriesOf({ name, type, unit }: { name: string; type: string; unit: string }): string[] {
  const words = name.replaceAll(/[^a-zA-Z0-9:]+/g, '_');
  const suffix = { s: 'seconds', By: 'bytes' }[unit];
  const base = suffix === undefined || words.split('_').includes(suffix) ? words : `${words}_${suffix}`;
  if (type === 'gauge') return [base];
  return type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${base}_${part}`) : [`${base}_total`];
}

test('every query asks for a metric that is emitted, by labels that it has; every metric has a panel of its name', async () => {
  const database = await createDatabase();
  const db = await openDb(database.url, 'ledger');
  try {
    const metrics = await db.metrics();
    const emitted = new Map(metrics.flatMap((metric) => seriesOf(metric).map((series) => [series, metric] as const)));
    for (const { title, targets } of drawn) {
      for (const expr of (targets ?? []).flatMap((target) => target.expr ?? [])) {
        const asked = [...expr.replaceAll(/by \([^)]*\)/g, '').matchAll(/\b(?:work|gen_ai)_\w+/g)].map(([series]) => series);
        expect(asked.length, expr).toBeGreaterThan(0);
        // The first row answers questions, the others show a metric each.
        for (const series of asked) expect(emitted.get(series)?.name, `${title}: ${series}`).toMatch(isOfMetric(title) ? title : /./);
        const labels = [...expr.matchAll(/by \(([^)]*)\)/g)]
          .flatMap(([, by = '']) => by.split(', '))
          .concat([...expr.matchAll(/(\w+)=~/g)].map(([, name = '']) => name))
          .filter((name) => name !== 'le');
        const known = asked.flatMap((series) => emitted.get(series)?.labels ?? []).map((label) => label.replaceAll('.', '_'));
        for (const name of labels) expect(known, expr).toContain(name);
      }
    }
    expect(
      drawn
        .map(({ title }) => title)
        .filter(isOfMetric)
        .toSorted((a, b) => (a < b ? -1 : 1)),
    ).toEqual(metrics.map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1)));
    const faculties = JSON.stringify(dashboard.templating.list.find(({ name }) => name === 'faculty')?.query);
    expect(emitted.has(/label_values\((\w+), faculty\)/.exec(faculties)?.[1] ?? '')).toBe(true);
  } finally {
    await db.close();
    await database.drop();
  }
});

test('data sources are chosen in the dashboard, the tree comes from Tempo, and no panel covers another', () => {
  expect(dashboard.templating.list.filter(({ type }) => type === 'datasource').map(({ name, query }) => [name, query])).toEqual([
    ['prometheus', 'prometheus'],
    ['tempo', 'tempo'],
  ]);
  for (const { datasource, targets, title } of drawn) {
    for (const used of [datasource, ...(targets ?? []).map((target) => target.datasource)])
      expect(`$\{${used?.type}}`, title).toBe(used?.uid);
  }
  expect(drawn.filter(({ type, datasource }) => type === 'traces' && datasource?.type === 'tempo')).toHaveLength(1);
  expect(drawn.flatMap(({ targets }) => targets ?? []).map(({ query }) => query)).toContain('{ span.work.span = "work.execute" }');
  const [row, ...first] = dashboard.panels.slice(0, 9);
  expect(row?.title).toBe('Slow, expensive or stuck?');
  expect(new Set(first.map(({ gridPos, type }) => `${type} ${gridPos.y}`))).toEqual(new Set(['stat 1']));
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});
