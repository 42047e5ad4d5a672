// Inputs of calls as the model stated them. The rows hold them with secrets removed, but a call that ran with [redacted] in place of a
// secret would do something else. So the process that received the response keeps such inputs until their calls have run. If that process
// is gone, the calls can no longer run, and the model is told so.

import type { OpenCall } from '../ledger/answers.ts';
import type { ModelResponse } from '../model/message.ts';
import { mark } from '../secrets/forms.ts';
import { failed } from '../tools/tool.ts';
import type { ToolOutcome } from '../tools/tool.ts';

/** The most inputs that are kept. A call may wait as long as a day for approval. */
const MOST = 1000;

type StoredCall = Pick<OpenCall, 'id' | 'ordinal' | 'input'>;

export class StatedInputs {
  readonly #kept = new Map<string, { stored: string; stated: unknown }>();

  /** Keeps the inputs of a response's calls. `calls` are as read back from their rows. */
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

  /** The call with the input to run it with, or the reason why it cannot run. */
  of(call: OpenCall): { call: OpenCall } | { refusal: ToolOutcome } {
    const stored = JSON.stringify(call.input);
    if (!stored.includes(mark)) return { call };
    const kept = this.#kept.get(call.id);
    if (kept?.stored !== stored)
      return {
        refusal: failed(
          `[engine] Not run: its input contained a secret, which is not stored (the input now reads ${mark}), and the worker that knew it is gone. Make the call again.`,
        ),
      };
    // The engine's own tools write to rows, from which the secret is removed anyway; a user's SQL function would act on a different value.
    if (call.implementation === 'engine' || JSON.stringify(kept.stated) === stored) return { call };
    if (call.implementation === 'sql')
      return {
        refusal: failed(
          '[engine] Not run: its input contains a secret, which is not stored, and this tool runs in the database. Call it without the secret.',
        ),
      };
    return { call: { ...call, input: kept.stated } };
  }

  forget(callId: string): void {
    this.#kept.delete(callId);
  }
}
