// Where logs go: to stderr, without secrets.

import { pino } from 'pino';
import type { DestinationStream } from 'pino';

import { withoutSecrets } from '../secrets/known.ts';

/** Writes JSON lines; `shown` may convert each line. */
export function logDestination(shown = (line: string): string => line): DestinationStream {
  const stderr = pino.destination({ fd: 2, sync: true });
  return { write: (line) => void stderr.write(shown(withoutSecrets(line, 'log'))) };
}
