// Identifies the process that telemetry comes from, so that several workers behind one collector are several series.

import { randomUUID } from 'node:crypto';

import { version } from '../../sql/extensionSource.ts';

const id = randomUUID();

/** The resource attributes, with OpenTelemetry's names; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override them. */
export const instance = (): Record<string, string> => ({
  'service.name': 'work-ledger',
  'service.version': version(),
  'service.instance.id': id,
});
