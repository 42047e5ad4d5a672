// The live export of traces, which never delays the loop. An iteration that has ended only notes its focus here; one task with a separate
// connection reads the spans from the rows, exports them, and records in the ledger how far it has come. What a dead worker or an
// unreachable collector left behind is exported at a later look.

import { setTimeout as sleep } from 'node:timers/promises';

import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { Logger } from 'pino';

import { version } from '../../sql/extensionSource.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';
import type { Sink } from './otlp.ts';
import { warnOfProtocol } from './protocol.ts';
import { makeSpans, tracerName } from './spans.ts';

/** The most foci that are remembered; further ones are found in the ledger when they have ended. */
const MOST_DUE = 10_000;
const LOOK_MS = 5000;
const LAST_WORDS_MS = 3000;

type Ledger = Pick<Db, 'traceTake' | 'traceRecord' | 'traceDue'>;

/** Null if spans go nowhere: no OTEL_* is set, and the program has no SDK. Never throws. */
export async function startTraces({ url, schema, log }: { url: string; schema: string; log: Logger }): Promise<TraceExport | null> {
  try {
    const given = ownSink();
    const sink = given ?? (isWanted() ? await (await import('./otlp.ts')).openOtlp() : null);
    if (sink === null) return null;
    if (!given) warnOfProtocol(log);
    const db = await openChecked(url, schema, { maximumPoolSize: 1 });
    const traces = new TraceExport(db, sink, isContentWanted(), log, () => db.close());
    traces.start();
    log.info('traces are exported');
    return traces;
  } catch (error) {
    log.error({ err: error }, `traces are not exported: ${messageOf(error)}`);
    return null;
  }
}

/** Whether the OpenTelemetry variables ask this program to export traces. */
export function isWanted(env: NodeJS.ProcessEnv = process.env): boolean {
  const exporter = env['OTEL_TRACES_EXPORTER'];
  if (env['OTEL_SDK_DISABLED'] === 'true' || exporter === 'none') return false;
  return [exporter, env['OTEL_EXPORTER_OTLP_ENDPOINT'], env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']].some(Boolean);
}

/** Whether spans may contain what was said: prompts, responses, arguments, results. */
export const isContentWanted = (env: NodeJS.ProcessEnv = process.env): boolean =>
  ['true', 'span_only', 'span_and_event'].includes((env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] ?? '').toLowerCase());

/** The SDK of the program that started this worker, if it has one. That SDK is responsible for delivery. */
function ownSink(): Sink | null {
  const provider = trace.getTracerProvider();
  const tracer =
    provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(tracerName, version()) : provider.getTracer(tracerName, version());
  return tracer ? { send: async (spans) => makeSpans(tracer, spans), close: async () => {} } : null;
}

export class TraceExport {
  readonly #db: Ledger;
  readonly #sink: Sink;
  readonly #withContent: boolean;
  readonly #log: Logger;
  readonly #closeDb: () => Promise<void>;
  readonly #due = new Set<string>();
  readonly #stopping = new AbortController();
  #isLookDue = true;
  #wake: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #over: Promise<void> = Promise.resolve();

  constructor(db: Ledger, sink: Sink, withContent: boolean, log: Logger, closeDb: () => Promise<void>) {
    this.#db = db;
    this.#sink = sink;
    this.#withContent = withContent;
    this.#log = log;
    this.#closeDb = closeDb;
  }

  start(): void {
    this.#over = this.#run();
    this.#timer = setInterval(() => {
      this.#isLookDue = true;
      this.#wake();
    }, LOOK_MS).unref();
  }

  /** Notes that something in this focus has ended. Returns at once. */
  note(focusId: string): void {
    if (this.#due.size < MOST_DUE) this.#due.add(focusId);
    this.#wake();
  }

  /** Exports what is noted, for a short time; the rest is left to the next worker that looks. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    this.#wake();
    await Promise.race([this.#over, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    void this.#sink.close().catch(() => {});
    void this.#closeDb().catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      try {
        if (this.#isLookDue && !signal.aborted) {
          this.#isLookDue = false;
          for (const focusId of await this.#db.traceDue()) this.note(focusId);
        }
        const [focusId] = this.#due;
        if (focusId !== undefined) {
          this.#due.delete(focusId);
          await this.#export(focusId);
          this.#failures = 0;
        } else if (signal.aborted) return;
        else if (!this.#isLookDue) await new Promise<void>((resolve) => (this.#wake = resolve));
      } catch (error) {
        if (signal.aborted) return;
        if (this.#failures++ === 0)
          this.#log.warn({ err: error }, 'spans were not exported; they stay in the ledger, and it is tried again');
        await sleep(Math.min(1000 * 2 ** this.#failures, 60_000), undefined, { ref: false, signal }).catch(() => {});
      }
    }
  }

  async #export(focusId: string): Promise<void> {
    for (;;) {
      const taken = await this.#db.traceTake(focusId, this.#withContent);
      // Another worker is exporting it at the moment, and may have read it before the latest change.
      if (taken.kind === 'held') setTimeout(() => this.note(focusId), 1000).unref();
      if (taken.kind !== 'spans') return;
      try {
        await this.#sink.send(taken.spans);
      } catch (error) {
        this.note(focusId);
        await this.#db.traceRecord(focusId);
        throw error;
      }
      await this.#db.traceRecord(focusId, { iteration: taken.iteration, isDone: taken.is_done });
      if (taken.is_done) return;
    }
  }
}
