// The task of graphile-worker: a job says that a work item may need an iteration. It never throws, since graphile-worker would retry a
// failed job by its own rules, while work items have their own retry rules.

import type { Task } from 'graphile-worker';
import { z } from 'zod';

import type { Runtime } from '../focus/focus.ts';
import { runFocus } from '../focus/runFocus.ts';
import { isLeaseLost } from '../ledger/errors.ts';

const payloadSchema = z.object({ work_item_id: z.uuid() });

export function engage(runtime: Runtime): Task {
  return async (payload) => {
    const parsed = payloadSchema.safeParse(payload);
    if (!parsed.success) {
      runtime.log.error({ payload }, 'an engage job without a work item');
      return;
    }
    const workItemId = parsed.data.work_item_id;
    try {
      const outcome = await runFocus(workItemId, runtime);
      if (outcome.kind === 'lost') runtime.log.info({ workItemId }, 'lease lost: the unfinished iteration is dropped');
      else runtime.log.debug({ workItemId, outcome }, 'iteration over');
    } catch (error) {
      if (isLeaseLost(error)) return;
      // The database cannot be reached. The lease will expire and the sweeper will enqueue the item.
      runtime.log.error({ workItemId, err: error }, 'the iteration could not be given back');
    }
  };
}
