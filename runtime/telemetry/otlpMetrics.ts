// The OpenTelemetry metrics SDK and its OTLP exporter: optional packages, loaded only if OTEL_* says that metrics are to be exported.

import type { MeterProvider, PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { Logger } from 'pino';

import { instance } from './instance.ts';
import { warnOfProtocol } from './protocol.ts';

type Otlp = { provider: MeterProvider; shutdown(): Promise<void> };

/** The SDK of all workers of this process: two would send the same series twice. It is not registered, since the program may have its own. */
let shared: { users: number; provider: Promise<MeterProvider | null> } | null = null;

/** An SDK configured by OTEL_*, which ends when the last worker has shut it down. Null: metrics are not exported. */
export async function startOtlpMetrics(log: Logger): Promise<Otlp | null> {
  const env = process.env;
  const exporterName =
    env['OTEL_METRICS_EXPORTER'] ?? (env['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] ? 'otlp' : 'none');
  if (exporterName === 'none' || env['OTEL_SDK_DISABLED'] === 'true') return null;
  const mine = (shared ??= { users: 0, provider: open(exporterName, log) });
  mine.users++;
  const leave = (): boolean => {
    if (--mine.users > 0) return false;
    if (shared === mine) shared = null;
    return true;
  };
  const provider = await mine.provider.catch((error: unknown) => {
    leave();
    throw error;
  });
  if (provider === null) {
    leave();
    return null;
  }
  return { provider, shutdown: () => (leave() ? provider.shutdown() : provider.forceFlush()) };
}

async function open(exporterName: string, log: Logger): Promise<MeterProvider | null> {
  const sdk = await load(log);
  if (sdk === null) return null;
  warnOfProtocol(log);
  const interval = Number(process.env['OTEL_METRIC_EXPORT_INTERVAL'] ?? 60_000);
  // Its address and headers come from OTEL_*.
  const exporter = exporterName === 'console' ? new sdk.ConsoleMetricExporter() : new sdk.OTLPMetricExporter();
  tellFailures(exporter, log);
  return new sdk.MeterProvider({
    resource: sdk.resourceFromAttributes(instance()).merge(sdk.detectResources({ detectors: [sdk.envDetector] })),
    readers: [
      new sdk.PeriodicExportingMetricReader({
        exporter,
        ...(interval > 0 && { exportIntervalMillis: interval, exportTimeoutMillis: Math.min(interval, 30_000) }),
      }),
    ],
  });
}

/** The SDK tells nobody that metrics did not arrive: logs it, once until they do again. */
function tellFailures(exporter: PushMetricExporter, log: Logger): void {
  const send = exporter.export.bind(exporter);
  let hasFailed = false;
  exporter.export = (batch, done) =>
    send(batch, (result) => {
      const code: number = result.code;
      if (code !== 0 && !hasFailed) log.warn({ err: result.error }, 'metrics were not exported; what they count comes with the next ones');
      hasFailed = code !== 0;
      done(result);
    });
}

/** Without the packages a worker still works, and logs what is missing. */
async function load(log: Logger) {
  try {
    const [sdk, resources, otlp] = await Promise.all([
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-metrics-otlp-proto'),
    ]);
    return { ...sdk, ...resources, ...otlp };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    log.warn(
      'OTEL_* asks for metrics, and the packages for them are not installed: npm install @opentelemetry/sdk-metrics @opentelemetry/resources @opentelemetry/exporter-metrics-otlp-proto',
    );
    return null;
  }
}
