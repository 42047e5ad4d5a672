// The OTLP protocol that OTEL_* request. Only http/protobuf is supported; a request for another is logged once.

import type { Logger } from 'pino';

const OURS = 'http/protobuf';
const names = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'];
const told = new WeakSet<Logger>();

/** Logs which of these variables have no effect, once per logger. */
export function warnOfProtocol(log: Logger, env: NodeJS.ProcessEnv = process.env): void {
  const others = names.filter((name) => env[name] && env[name] !== OURS);
  if (others.length === 0 || told.has(log)) return;
  told.add(log);
  log.warn(
    `${others.map((name) => `${name}=${env[name]}`).join(', ')} has no effect: OTLP is sent as ${OURS}, so the endpoint must take that (usually port 4318)`,
  );
}
