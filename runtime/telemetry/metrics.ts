// Metrics for OpenTelemetry. The rows are the truth: work_metrics_take() gives out what they say of the time since it was last
// called, and a worker counts it, so every value can be checked against work_metrics() at any time.
//
// Nothing is counted twice: what is taken is marked as taken in the transaction that reads it, under a row lock that others
// skip, so each observation is given to one worker, whichever did the work. What a worker took and had not exported when
// it died is lost; what nobody has taken yet waits in the rows for the next worker. Workers whose metrics would go nowhere take
// nothing.
//
// The loop notices nothing of it: taking has a connection and a timer of its own, and what fails is logged and tried again.

import { setTimeout as sleep } from 'node:timers/promises';

import { createNoopMeter, metrics } from '@opentelemetry/api';
import type { Meter } from '@opentelemetry/api';
import type { Logger } from 'pino';

import type { Metric } from '../ledger/cost.ts';
import { openChecked } from '../ledger/db.ts';
import { countWith } from '../secrets/known.ts';
import { startOtlpMetrics } from './otlpMetrics.ts';

const INTERVAL_MS = 10_000;
/** The most that a worker waits for its first and its last observations; what is left waits in the rows. */
const SOON_MS = 2000;
const soon = (done: Promise<unknown>): Promise<unknown> => Promise.race([done, sleep(SOON_MS, undefined, { ref: false })]);

type Record = (value: number, times: number, labels: { [label: string]: string }) => void;

/**
 * Counts from now on, every few seconds, until `stop()`: into the SDK that the program registered, else into one as OTEL_* say. Null: into
 * none.
 */
export async function startMetrics(
  url: string,
  schema: string,
  log: Logger,
  intervalMs = INTERVAL_MS,
): Promise<{ stop(): Promise<void> } | null> {
  const own = metrics.getMeter('work-ledger') === createNoopMeter() ? await startOtlpMetrics(log) : null;
  const meter = metrics.getMeter('work-ledger');
  if (meter === createNoopMeter()) return null;
  const db = await openChecked(url, schema, { maximumPoolSize: 1 });
  let records: Map<string, Record> | undefined;
  const take = async (): Promise<void> => {
    try {
      records ??= recordsOf(meter, await db.metrics());
      for (const { metric, labels, value, times } of await db.workMetricsTake()) records.get(metric)?.(value, times, labels);
    } catch (error) {
      log.warn({ err: error }, 'metrics could not be taken; they stay in the ledger');
    }
  };
  let taking: Promise<void> | null = null;
  const takeOne = (): Promise<void> => (taking ??= take().finally(() => (taking = null)));
  await soon(takeOne()); // in a ledger whose metrics nobody has taken yet, counting begins with it
  const timer = setInterval(() => void takeOne(), intervalMs);
  return {
    async stop() {
      clearInterval(timer);
      await soon(Promise.resolve(taking).then(takeOne));
      await soon(db.close());
      // A collector that is gone or does not answer keeps no worker from stopping.
      await soon(
        own?.shutdown().catch((error: unknown) => log.warn({ err: error }, 'the last metrics were not exported')) ?? Promise.resolve(),
      );
    },
  };
}

/** What no row tells: secrets that this process took out of what never became one, or knew before it did. */
function recordsOf(meter: Meter, all: readonly Metric[]): Map<string, Record> {
  const records = new Map(all.map((metric) => [metric.name, recordOf(meter, metric)]));
  countWith((place, secrets) => records.get('work.redactions')?.(secrets, 1, { place }));
  return records;
}

function recordOf(meter: Meter, { name, type, unit, says }: Metric): Record {
  if (type === 'counter') {
    const counter = meter.createCounter(name, { unit, description: says });
    return (value, times, labels) => counter.add(value * times, labels);
  }
  const histogram = meter.createHistogram(name, {
    unit,
    description: says,
    advice: { explicitBucketBoundaries: boundariesOf(name, unit) },
  });
  return (value, times, labels) => {
    for (let n = 0; n < times; n++) histogram.record(value, labels);
  };
}

/** OpenTelemetry's own boundaries are made for milliseconds. */
function boundariesOf(name: string, unit: string): number[] {
  if (name === 'work.context.cache_read_ratio') return [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
  if (unit === 's') return [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];
  if (unit === 'By') return [0, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
  if (unit === '{token}') return [0, 50, 100, 250, 500, 750, 1000, 1500, 2500, 5000, 10_000];
  return [0, 1, 2, 3, 5, 8, 13, 20, 30, 50, 100, 200, 500, 1000, 5000];
}
