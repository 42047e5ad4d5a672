// The model call of an iteration: the request as the database assembled it is checked, sent as it is, and answered.

import type { Claimed } from '../db.ts';
import type { ModelOutcome, ModelRequest } from './callModel.ts';
import type { Runtime } from './runFocus.ts';
import { validateRequest } from './validateRequest.ts';

/** An invalid request is an error outcome that was never sent. */
export async function askModel(request: Record<string, unknown>, claim: Claimed, signal: AbortSignal, runtime: Runtime): Promise<ModelOutcome> {
  const broken = validateRequest(request as ModelRequest);
  if (broken.length > 0) {
    runtime.log.error({ workItemId: claim.work_item_id, broken }, 'the assembled request breaks the rules of the API and was not sent');
    return {
      kind: 'error',
      error: { class: 'invalid_request', message: `not sent: ${broken.slice(0, 3).join('; ')}`, status: null, retryAfterSeconds: null, requestId: null },
    };
  }
  const onDelta = runtime.onDelta;
  return runtime.model.call(request as ModelRequest, {
    signal,
    ...(onDelta && { onDelta: (text: string) => onDelta(claim.work_item_id, text) }),
  });
}
