// Metrics in Prometheus's text format, version 0.0.4. Names follow OpenTelemetry's rules for Prometheus, so that a query is the same
// whether a metric was scraped here or came through a collector.

import type { Gauge, Metric } from '../ledger/cost.ts';
import type { Counted, Series } from './counted.ts';

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The name of a metric's family, with the suffix of its unit and, for a metric that only grows, `_total`. */
export function familyName({ name, type, unit }: Pick<Metric, 'name' | 'type' | 'unit'>): string {
  const words = named(name);
  const suffix = { s: 'seconds', By: 'bytes' }[unit];
  const base = suffix === undefined || words.split('_').includes(suffix) ? words : `${words}_${suffix}`;
  return type === 'counter' || type === 'total' ? `${base}_total` : base;
}

/** `metrics`: the definitions; `gauges`: the state of the ledger; `counted`: what this process has counted, if it counts. */
export function exposition(metrics: readonly Metric[], gauges: readonly Gauge[], counted: Counted | null, info: Labels): string {
  const standing = Map.groupBy(gauges, ({ metric }) => metric);
  return [
    '# HELP target_info What this process is\n# TYPE target_info gauge\n',
    line('target_info', info, 1),
    ...metrics.map((metric) => {
      const family = familyName(metric);
      const lines =
        metric.type === 'gauge' || metric.type === 'total'
          ? (standing.get(metric.name) ?? []).map(({ labels, value }) => line(family, labels, value))
          : (counted?.of(metric.name) ?? []).flatMap((series) => linesOf(family, series));
      if (lines.length === 0) return '';
      const type = { counter: 'counter', total: 'counter', gauge: 'gauge', histogram: 'histogram' }[metric.type];
      return `# HELP ${family} ${metric.says.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${family} ${type}\n${lines.join('')}`;
    }),
  ].join('');
}

type Labels = Readonly<Record<string, string>>;

function linesOf(family: string, { labels, sum, count, bounds, buckets }: Series): string[] {
  if (bounds === null) return [line(family, labels, sum)];
  let upTo = 0;
  return [
    ...bounds.map((bound, n) => line(`${family}_bucket`, { ...labels, le: String(bound) }, (upTo += buckets[n] ?? 0))),
    line(`${family}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${family}_sum`, labels, sum),
    line(`${family}_count`, labels, count),
  ];
}

const named = (name: string): string => name.replaceAll(/[^a-zA-Z0-9]+/g, '_');

function line(series: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(
    ([name, text]) => `${named(name)}="${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return `${series}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}
