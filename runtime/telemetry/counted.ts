// Keeps what this process has counted in memory, for scrapers: counters and histograms, by their labels.

import type { Metric } from '../ledger/cost.ts';

export type Series = {
  labels: Record<string, string>;
  sum: number;
  count: number;
  /** Null for a counter. */
  bounds: readonly number[] | null;
  /** The number of values at or below the bound at the same index and above the previous one. */
  buckets: number[];
};

export class Counted {
  readonly #metrics = new Map<string, Map<string, Series>>();

  record({ name, type, unit }: Metric, value: number, times: number, labels: Record<string, string>): void {
    const series = this.#seriesOf(name, labels, type === 'histogram' ? boundariesOf(name, unit) : null);
    series.sum += value * times;
    series.count += times;
    const n = series.bounds?.findIndex((bound) => value <= bound) ?? -1;
    if (n >= 0) series.buckets[n] = (series.buckets[n] ?? 0) + times;
  }

  of(name: string): Series[] {
    return [...(this.#metrics.get(name)?.values() ?? [])];
  }

  #seriesOf(name: string, labels: Record<string, string>, bounds: Series['bounds']): Series {
    const all = this.#metrics.get(name) ?? new Map<string, Series>();
    this.#metrics.set(name, all);
    const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const series = all.get(key) ?? { labels, sum: 0, count: 0, bounds, buckets: [] };
    all.set(key, series);
    return series;
  }
}

/** OpenTelemetry's default boundaries are meant for milliseconds; its GenAI conventions define those of their metrics. */
export function boundariesOf(name: string, unit: string): number[] {
  if (name === 'work.context.cache_read_ratio') return [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
  if (name === 'gen_ai.client.token.usage') return Array.from({ length: 14 }, (_, n) => 4 ** n);
  if (name.startsWith('gen_ai.client.operation')) return Array.from({ length: 14 }, (_, n) => 2 ** n / 100);
  if (unit === 's') return [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];
  if (unit === 'By') return [0, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
  if (unit === '{token}') return [0, 50, 100, 250, 500, 750, 1000, 1500, 2500, 5000, 10_000];
  return [0, 1, 2, 3, 5, 8, 13, 20, 30, 50, 100, 200, 500, 1000, 5000];
}
