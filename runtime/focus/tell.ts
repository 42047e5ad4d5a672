// Reports what a worker has to the database in one call, whose answer says what follows. If the database cannot store a result, the call
// that produced it fails rather than the iteration.

import type { Step } from '../ledger/answers.ts';
import { isUnstorable, messageOf } from '../ledger/errors.ts';
import type { CallResult, EarlyCall } from '../ledger/iteration.ts';
import type { ModelResponse } from '../model/message.ts';
import { failed } from '../tools/tool.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { Focus } from './focus.ts';

type Answer = { turnId: string; response: ModelResponse };

/** Reports what an iteration has produced; called without arguments, that everything has been reported. */
export type Tell = (done?: { answer?: Answer; results?: readonly (CallResult | EarlyCall)[] }) => Promise<Step>;

/** Reports a response, together with those of its calls that have begun. */
export async function tellAnswer(answer: Answer, begun: readonly EarlyCall[], tell: Tell): Promise<Step> {
  try {
    return await tell({ answer, results: begun });
  } catch (error) {
    if (!isUnstorable(error) || begun.every(({ outcome }) => outcome === null)) throw error;
    // The database returns the calls, and each is settled separately.
    return tell({ answer, results: begun.map((call) => ({ ...call, outcome: null })) });
  }
}

/** Reports the last call's result, if it is not stored yet. */
export async function tellResult(last: CallResult | null, { claim, runtime: { db } }: Focus, tell: Tell): Promise<Step> {
  if (last === null) return tell();
  try {
    return await tell({ results: [last] });
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await db.toolCallSettle(claim, last.id, unstorable(error));
    return tell();
  }
}

/** The outcome of a call of which the database cannot store some part, usually its result. */
export const unstorable = (error: unknown): ToolOutcome =>
  failed(`[engine] The call or its result cannot be stored: ${messageOf(error)}. It may have taken effect; check before you continue.`);
