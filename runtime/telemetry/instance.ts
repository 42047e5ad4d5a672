// Which process telemetry is from: so several workers behind one collector are several series.

import { randomUUID } from 'node:crypto';

import { version } from '../../sql/extensionSource.ts';

const id = randomUUID();

/** The attributes of the resource, by OpenTelemetry's names; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say others. */
export const instance = (): Record<string, string> => ({
  'service.name': 'work-ledger',
  'service.version': version(),
  'service.instance.id': id,
});
