// The trace of past work: exported from its rows, or printed as a tree.

import { z } from 'zod';

import type { Settings } from '../config.ts';
import type { TraceSpan } from '../ledger/answers.ts';
import { hrTime } from '../telemetry/spans.ts';
import { isContentWanted } from '../telemetry/traces.ts';
import { itemIdOf } from './ids.ts';
import { exit, note, print, visible } from './output.ts';
import { withReader } from './withLedger.ts';

export type TraceOptions = Settings & { otlp?: string };

export function trace(id: string, options: TraceOptions): Promise<number> {
  return withReader(options, async (db) => {
    const spans = await db.workTrace(await itemIdOf(db, id), isContentWanted());
    if (options.otlp === undefined) {
      print(spans, traceTree(spans).join('\n') || 'nothing has ended yet', options.json ?? false);
      return exit.ok;
    }
    const sink = await (await import('../telemetry/otlp.ts')).openOtlp(options.otlp);
    await sink.send(spans);
    await sink.close();
    const traces = new Set(spans.map((span) => span.trace_id));
    print({ spans: spans.length, trace_ids: [...traces] }, [...traces].join('\n'), options.json ?? false);
    note(`${spans.length} spans exported`);
    return exit.ok;
  });
}

/** A line for each span, below its parent. */
export function traceTree(spans: readonly TraceSpan[]): string[] {
  const known = new Set(spans.map((span) => span.span_id));
  const below = Map.groupBy(spans, (span) => (span.parent_span_id !== null && known.has(span.parent_span_id) ? span.parent_span_id : null));
  const lines = (parent: string | null, depth: number): string[] =>
    (below.get(parent) ?? []).flatMap((span) => ['  '.repeat(depth) + line(span), ...lines(span.span_id, depth + 1)]);
  return lines(null, 0);
}

/** What stands behind a span's name, as in work.engage.iteration[3]. */
const subject: Record<string, string> = {
  'work.engage.iteration': 'work.iteration',
  'work.context.compaction': 'trigger',
};

function line({ name, attributes, started_at, ended_at, status }: TraceSpan): string {
  const [[seconds, nanos], [endSeconds, endNanos]] = [hrTime(started_at), hrTime(ended_at)];
  const of = z.union([z.string(), z.number()]).safeParse(attributes[subject[name] ?? '']).data;
  const took = (endSeconds - seconds + (endNanos - nanos) / 1e9).toFixed(3);
  return visible(
    `${name}${of === undefined ? '' : `[${of}]`} ${took} s${status === 'error' ? ` ${z.string().catch('error').parse(attributes['error.type'])}` : ''}`,
  );
}
