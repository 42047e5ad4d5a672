// Checks a request that the database assembled, and sends it unchanged. A request that breaks a rule is not sent and results in an error
// outcome.

import type { ContentBlock, ModelClient, ModelOutcome, ModelRequest } from './message.ts';
import { untilLeft } from '../untilLeft.ts';
import { validateRequest } from './validateRequest.ts';

/** `onBroken` is called with the rules that the request breaks. */
export async function askChecked(
  model: ModelClient,
  request: Record<string, unknown>,
  {
    onBroken,
    ...how
  }: {
    signal: AbortSignal;
    onDelta?: (text: string) => void;
    onGrowth?: (soFar: () => ContentBlock[]) => void;
    onBroken?: (broken: string[]) => void;
  },
): Promise<ModelOutcome> {
  const broken = validateRequest(request as ModelRequest);
  if (broken.length === 0) return (await untilLeft(model.call(request as ModelRequest, how), how.signal)) ?? { kind: 'aborted' };
  onBroken?.(broken);
  return {
    kind: 'error',
    error: {
      class: 'invalid_request',
      message: `not sent: ${broken.slice(0, 3).join('; ')}`,
      status: null,
      retryAfterSeconds: null,
      requestId: null,
    },
  };
}
