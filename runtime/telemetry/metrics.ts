// Metrics for OpenTelemetry. The rows are the source: work_metrics_take() returns what happened according to them since it was last called,
// and a worker counts it, so every value can be checked against work_metrics() at any time.
//
// Nothing is counted twice: observations are marked as taken in the transaction that reads them, under a row lock that others
// skip, so each is given to one worker, whichever did the work. What a worker took and had not exported when it died is lost; what
// nobody has taken yet stays in the rows for the next worker. Workers whose metrics would go nowhere take nothing.
//
// The loop is not affected: taking uses a separate connection and timer, and failures are logged and retried.

import { setTimeout as sleep } from 'node:timers/promises';

import { createNoopMeter, metrics } from '@opentelemetry/api';
import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { Logger } from 'pino';

import { version } from '../../sql/extensionSource.ts';
import type { Metric } from '../ledger/cost.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { countWith } from '../secrets/known.ts';
import { boundariesOf } from './counted.ts';
import type { Counted } from './counted.ts';
import { startOtlpMetrics } from './otlpMetrics.ts';

export const meterName = 'work-ledger';
const INTERVAL_MS = 10_000;
/** The longest that a worker waits for its first and its last observations; the rest stays in the rows. */
const SOON_MS = 2000;
const soon = (done: Promise<unknown>): Promise<unknown> => Promise.race([done, sleep(SOON_MS, undefined, { ref: false })]);

type Record = (value: number, times: number, labels: { [label: string]: string }) => void;

/**
 * Counts from now on, every few seconds, until `stop()`: into the SDK that the program registered, or else into one configured by OTEL_*,
 * and into `counted`, if metrics may be scraped. Returns null if there is neither.
 */
export async function startMetrics(
  url: string,
  schema: string,
  log: Logger,
  intervalMs = INTERVAL_MS,
  counted: Counted | null = null,
): Promise<{ stop(): Promise<void> } | null> {
  const given = metrics.getMeter(meterName, version());
  const own = given === createNoopMeter() ? await startOtlpMetrics(log) : null;
  const meter = given === createNoopMeter() ? (own?.provider.getMeter(meterName, version()) ?? null) : given;
  if (meter === null && counted === null) return null;
  const db = await openChecked(url, schema, { maximumPoolSize: 1 });
  let records: Map<string, Record> | undefined;
  let stopObserving = (): void => {};
  const take = async (): Promise<void> => {
    try {
      if (records === undefined) {
        const all = await db.metrics();
        records = recordsOf(meter, counted, all);
        if (meter) stopObserving = observe(meter, all, db, log);
      }
      for (const { metric, labels, value, times } of await db.workMetricsTake()) records.get(metric)?.(value, times, labels);
    } catch (error) {
      log.warn({ err: error }, 'metrics could not be collected; they stay in the ledger');
    }
  };
  let taking: Promise<void> | null = null;
  const takeOne = (): Promise<void> => (taking ??= take().finally(() => (taking = null)));
  await soon(takeOne()); // in a ledger whose metrics nobody has taken yet, counting begins now
  const timer = setInterval(() => void takeOne(), intervalMs);
  return {
    async stop() {
      clearInterval(timer);
      await soon(Promise.resolve(taking).then(takeOne));
      stopObserving();
      await soon(db.close());
      // A collector that is gone or does not answer must not keep the worker from stopping.
      await soon(
        own?.shutdown().catch((error: unknown) => log.warn({ err: error }, 'the last metrics were not exported')) ?? Promise.resolve(),
      );
    },
  };
}

/** The instruments for events. One event is in no row: secrets that this process removed from what never became a row, or before it did. */
function recordsOf(meter: Meter | null, counted: Counted | null, all: readonly Metric[]): Map<string, Record> {
  const happens = all.filter(({ type }) => type === 'counter' || type === 'histogram');
  const records = new Map(
    happens.map((metric): [string, Record] => {
      const told = meter && recordOf(meter, metric);
      return [
        metric.name,
        (value, times, labels) => {
          told?.(value, times, labels);
          counted?.record(metric, value, times, labels);
        },
      ];
    }),
  );
  countWith((place, secrets) => records.get('work.redactions')?.(secrets, 1, { place }));
  return records;
}

/**
 * The state of the ledger, read when the SDK collects, until the returned function is called: the SDK may be the program's, and outlive many
 * workers. Every worker reports the same values; use those of one.
 */
function observe(meter: Meter, all: readonly Metric[], db: Pick<Db, 'workGauges'>, log: Logger): () => void {
  const made = new Map<string, Observable>();
  for (const { name, type, unit, says } of all) {
    if (type === 'gauge') made.set(name, meter.createObservableGauge(name, { unit, description: says }));
    if (type === 'total') made.set(name, meter.createObservableCounter(name, { unit, description: says }));
  }
  const read = async (result: BatchObservableResult): Promise<void> => {
    try {
      for (const { metric, labels, value } of await db.workGauges()) {
        const one = made.get(metric);
        if (one) result.observe(one, value, labels);
      }
    } catch (error) {
      log.debug({ err: error }, 'the state of the ledger was not read');
    }
  };
  const observables = [...made.values()];
  meter.addBatchObservableCallback(read, observables);
  return () => meter.removeBatchObservableCallback(read, observables);
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
