// The model call of an iteration: the request as the database assembled it is checked, sent as it is, and answered.

import type { Begin, Claimed } from '../ledger/db.ts';
import type { ContentBlock, ModelClient, ModelOutcome, ModelRequest } from '../model/callModel.ts';
import type { Runtime } from './runFocus.ts';
import { validateRequest } from '../model/validateRequest.ts';

type Asked = Extract<Begin, { kind: 'call_model' | 'summarize' }>;

/** An invalid request is an error outcome that was never sent. */
export async function askModel(asked: Asked, claim: Claimed, signal: AbortSignal, runtime: Runtime): Promise<ModelOutcome> {
  const { onDelta } = runtime;
  const showing = runtime.watchers.show(claim, asked.turn_id, asked.is_watched);
  try {
    return await askChecked(runtime.model, asked.request, {
      signal,
      onGrowth: showing.grew,
      ...(onDelta && { onDelta: (text: string) => onDelta(claim.work_item_id, text) }),
      onBroken: (broken) => runtime.log.error({ workItemId: claim.work_item_id, broken }, 'the assembled request breaks the rules of the API and was not sent'),
    });
  } finally {
    showing.end();
  }
}

/** The same outside of a focus. */
export async function askChecked(
  model: ModelClient,
  request: Record<string, unknown>,
  { onBroken, ...how }: { signal: AbortSignal; onDelta?: (text: string) => void; onGrowth?: (soFar: () => ContentBlock[]) => void; onBroken?: (broken: string[]) => void },
): Promise<ModelOutcome> {
  const broken = validateRequest(request as ModelRequest);
  if (broken.length === 0) return model.call(request as ModelRequest, how);
  onBroken?.(broken);
  return {
    kind: 'error',
    error: { class: 'invalid_request', message: `not sent: ${broken.slice(0, 3).join('; ')}`, status: null, retryAfterSeconds: null, requestId: null },
  };
}
