// Inputs of calls as the model stated them. Rows hold them without the secrets in them, and a call that ran with [redacted] in place of a
// secret would do something else. So the process that received the response keeps such inputs until their calls have run; if it is
// gone, they cannot run any more, and the model is told.

import type { OpenCall } from '../ledger/answers.ts';
import type { ModelResponse } from '../model/message.ts';
import { mark } from '../secrets/forms.ts';
import { failed } from '../tools/tool.ts';
import type { ToolOutcome } from '../tools/tool.ts';

/** The most that are kept; calls wait for approval for as long as a day. */
const MOST = 1000;

type StoredCall = Pick<OpenCall, 'id' | 'ordinal' | 'input'>;

export class StatedInputs {
  readonly #kept = new Map<string, { stored: string; stated: unknown }>();

  /** Of the calls of a response as they came back from its row. */
  keep(calls: readonly StoredCall[], response: ModelResponse): void {
    const stated = response.content.filter((block) => block.type === 'tool_use');
    for (const call of calls) this.keepOne(call, stated[call.ordinal]?.['input']);
  }

  keepOne(call: StoredCall, stated: unknown): void {
    const stored = JSON.stringify(call.input);
    if (!stored.includes(mark) || stated === undefined) return;
    const [oldest] = this.#kept.size >= MOST ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(call.id, { stored, stated });
  }

  /** The call with the input that it is to run with; or why it cannot run. */
  of(call: OpenCall): { call: OpenCall } | { refusal: ToolOutcome } {
    const stored = JSON.stringify(call.input);
    if (!stored.includes(mark)) return { call };
    const kept = this.#kept.get(call.id);
    if (kept?.stored !== stored)
      return {
        refusal: failed(
          `[engine] Not run: its input held a secret, which is not stored (it reads ${mark}), and the worker that knew it is gone. Make the call again.`,
        ),
      };
    // The engine's own tools write into rows, where the secret would not be; a user's function would act on another value.
    if (call.implementation === 'engine' || JSON.stringify(kept.stated) === stored) return { call };
    if (call.implementation === 'sql')
      return {
        refusal: failed(
          '[engine] Not run: its input holds a secret, which is not stored, and this tool runs in the database. Do it without the secret.',
        ),
      };
    return { call: { ...call, input: kept.stated } };
  }

  forget(callId: string): void {
    this.#kept.delete(callId);
  }
}
