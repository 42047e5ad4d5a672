// A subagent that was erased while the record of its session still contains its lines: it stays erased, and the rest of the session is
// read.

import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { sqlState } from '../ledger/errors.ts';

export const isErasedSubagent = (run: RecordedRun, error: unknown): boolean =>
  run.parentSessionId !== undefined && sqlState(error) === 'WL003';
