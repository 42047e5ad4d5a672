// The OpenTelemetry SDK and its OTLP exporter: optional packages, loaded only if this program itself exports spans.

import type { ReadableSpan, Sampler, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

import { version } from '../../sql/extensionSource.ts';
import type { TraceSpan } from '../ledger/answers.ts';
import { UsageError } from '../ledger/errors.ts';
import { instance } from './instance.ts';
import { makeSpans, rowIds, tracerName } from './spans.ts';

/** The destination of spans. */
export type Sink = {
  /** Resolves when the spans have arrived; rejects if they have not. */
  send(spans: readonly TraceSpan[]): Promise<void>;
  close(): Promise<void>;
};

const BATCH = 512;

/**
 * Throws UsageError if the packages are not installed. Everything is configured by the variables OTEL_*, except that `url` replaces
 * OTEL_EXPORTER_OTLP_ENDPOINT.
 */
export async function openOtlp(url?: string): Promise<Sink> {
  const {
    AlwaysOffSampler,
    AlwaysOnSampler,
    ConsoleSpanExporter,
    TraceIdRatioBasedSampler,
    TracerProvider,
    detectResources,
    envDetector,
    resourceFromAttributes,
    OTLPTraceExporter,
  } = await load();
  const exporter: SpanExporter =
    url === undefined && process.env['OTEL_TRACES_EXPORTER'] === 'console'
      ? new ConsoleSpanExporter()
      : new OTLPTraceExporter(url === undefined ? {} : { url: tracesUrl(url) });
  // Every decision depends only on the trace id, so all processes agree, whatever they know of a span's parent.
  const sampler = (): Sampler => {
    const ratio = Number(process.env['OTEL_TRACES_SAMPLER_ARG'] ?? 1);
    switch ((process.env['OTEL_TRACES_SAMPLER'] ?? '').replace('parentbased_', '')) {
      case 'always_off':
        return new AlwaysOffSampler();
      case 'traceidratio':
        return new TraceIdRatioBasedSampler(Number.isFinite(ratio) ? ratio : 1);
      default:
        return new AlwaysOnSampler();
    }
  };
  const ended = new Ended();
  const provider = new TracerProvider({
    resource: resourceFromAttributes(instance()).merge(detectResources({ detectors: [envDetector] })),
    sampler: url === undefined ? sampler() : new AlwaysOnSampler(), // whoever names an item wants all of its spans
    idGenerator: rowIds,
    spanProcessors: [ended],
  });
  const tracer = provider.getTracer(tracerName, version());
  return {
    async send(spans) {
      for (let from = 0; from < spans.length; from += BATCH) {
        makeSpans(tracer, spans.slice(from, from + BATCH));
        const batch = ended.take();
        if (batch.length === 0) continue;
        const result = await new Promise<{ code: number; error?: Error }>((resolve) => exporter.export(batch, resolve));
        if (result.code !== 0) throw result.error ?? new Error('the spans were not accepted');
      }
    },
    close: () => exporter.shutdown(),
  };
}

/** Derived from the endpoint as the specification does for OTEL_EXPORTER_OTLP_ENDPOINT. */
const tracesUrl = (url: string): string => (/\/v1\/traces\/?$/.test(url) ? url : `${url.replace(/\/+$/, '')}/v1/traces`);

/** Keeps ended spans until they are sent; the SDK's own processors do not report whether spans arrived. */
class Ended implements SpanProcessor {
  #spans: ReadableSpan[] = [];

  take(): ReadableSpan[] {
    return this.#spans.splice(0);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    this.#spans.push(span);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}

async function load() {
  try {
    const [sdk, resources, otlp] = await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
    ]);
    return { ...sdk, ...resources, ...otlp };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      'To export spans, install the packages for it: npm install @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-proto',
    );
  }
}
