// The model call of an iteration: checks the request that the database assembled, and sends it unchanged.

import { atFailpoints } from '../failpoint.ts';
import type { Begin } from '../ledger/answers.ts';
import { askChecked } from '../model/askChecked.ts';
import type { ModelOutcome } from '../model/message.ts';
import type { Focus } from './focus.ts';

type Asked = Extract<Begin, { kind: 'call_model' | 'summarize' }>;

/** An invalid request is not sent; it results in an error outcome. */
export async function askModel(asked: Asked, { claim, signal, runtime }: Focus): Promise<ModelOutcome> {
  const { onDelta } = runtime;
  const showing = runtime.watchers.show(claim, asked.turn_id, asked.is_watched);
  try {
    return await atFailpoints('model', () =>
      askChecked(runtime.modelFor(claim.faculty.engage), asked.request, {
        signal,
        onGrowth: showing.grew,
        ...(onDelta && { onDelta: (text: string) => onDelta(claim.work_item_id, text) }),
        onBroken: (broken) =>
          runtime.log.error(
            { workItemId: claim.work_item_id, broken },
            'the assembled request breaks the rules of the API and was not sent',
          ),
      }),
    );
  } finally {
    showing.end();
  }
}
