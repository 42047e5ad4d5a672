// Converts rows to spans of the OpenTelemetry API. A span is created when it is over, with the ids derived from its row.

import { randomBytes } from 'node:crypto';

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Attributes, HrTime, SpanContext, Tracer } from '@opentelemetry/api';
import { z } from 'zod';

import type { TraceSpan } from '../ledger/answers.ts';

export const tracerName = 'work-ledger';

const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** Gives spans created from rows the ids of their rows, and all others random ids. */
class RowIds {
  #next: { trace_id: string; span_id: string } | null = null;

  /** Spans that `make` creates get the ids of `row`. */
  during(row: { trace_id: string; span_id: string }, make: () => void): void {
    this.#next = row;
    try {
      make();
    } finally {
      this.#next = null;
    }
  }

  generateTraceId(): string {
    return this.#next?.trace_id ?? randomBytes(16).toString('hex');
  }

  generateSpanId(): string {
    return this.#next?.span_id ?? randomBytes(8).toString('hex');
  }
}

/** The IdGenerator for a program that brings its own SDK; without it, the parents of spans are not found. */
export const rowIds = new RowIds();

/** Creates and ends the spans; the tracer decides which are recorded. */
export function makeSpans(tracer: Tracer, rows: readonly TraceSpan[]): void {
  for (const row of rows) rowIds.during(row, () => makeSpan(tracer, row));
}

function makeSpan(tracer: Tracer, row: TraceSpan): void {
  const parent =
    row.parent_span_id === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(row.trace_id, row.parent_span_id));
  const span = tracer.startSpan(
    row.name,
    {
      kind: row.kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: hrTime(row.started_at),
      attributes: attributesOf(row.attributes),
      links: row.links.map((link) => ({ context: contextOf(link.trace_id, link.span_id), attributes: attributesOf(link.attributes) })),
    },
    parent,
  );
  for (const event of row.events) span.addEvent(event.name, attributesOf(event.attributes), hrTime(event.at));
  if (row.status === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(hrTime(row.ended_at));
}

const contextOf = (traceId: string, spanId: string): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });

const attributesOf = (given: Record<string, unknown>): Attributes => attributes.parse(given);

/** Keeps microseconds, which a Date would lose. */
export function hrTime(instant: string): HrTime {
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? '';
  return [Math.floor(Date.parse(instant.replace(/\.\d+/, '')) / 1000), Number(fraction.padEnd(9, '0').slice(0, 9))];
}
