// Where logs go: stderr, without secrets.

import { pino } from 'pino';
import type { DestinationStream } from 'pino';

import { withoutSecrets } from '../secrets/known.ts';

/** JSON lines; `shown` makes something else of each. */
export function logDestination(shown = (line: string): string => line): DestinationStream {
  const stderr = pino.destination({ fd: 2, sync: true });
  return { write: (line) => void stderr.write(shown(withoutSecrets(line, 'log'))) };
}
