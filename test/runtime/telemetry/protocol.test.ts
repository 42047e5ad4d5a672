// Which protocol spans and metrics are sent in, if another is asked for.

import { pino } from 'pino';
import { expect, test } from 'vitest';

import { warnOfProtocol } from '../../../runtime/telemetry/protocol.ts';

function said(env: NodeJS.ProcessEnv, times = 1): string[] {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  for (let n = 0; n < times; n++) warnOfProtocol(log, env);
  return lines;
}

test('a protocol that is not there is named, once, with the one that is used instead', () => {
  expect(said({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' }, 2)).toEqual([
    'OTEL_EXPORTER_OTLP_PROTOCOL=grpc, OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/json has no effect: OTLP is sent as http/protobuf, so the endpoint must take that (usually port 4318)',
  ]);
});

test('without one, and with the one that is there, nothing is said', () => {
  expect(said({})).toEqual([]);
  expect(said({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: '' })).toEqual([]);
});
