// The spans of what was done, from its rows.

import { sql } from 'slonik';
import { z } from 'zod';

import { traceSpan, traceTaken } from './answers.ts';
import type { Calls } from './pool.ts';

export const traces = ({ call, values, run, invoked }: Calls) => ({
  workTrace: async (workItemId: string, withContent: boolean) =>
    (
      await run(
        () => sql.type(z.object({ span: traceSpan }))`select to_json(s) as span from ${invoked('work_trace', [workItemId, withContent])} s`,
      )
    ).map(({ span }) => span),

  traceTake: (focusId: string, withContent: boolean) => call('trace_take', [focusId, withContent], traceTaken),

  /** Without `exported`: nothing was. */
  traceRecord: (focusId: string, exported?: { iteration: number; isDone: boolean }) =>
    call('trace_record', [focusId, exported?.iteration ?? 0, exported?.isDone ?? false], z.unknown()),

  traceDue: () => values('trace_due', [], z.string()),
});
