// Calls that run before their response is recorded, so that both are stored at once: only where every call of a response leaves nothing
// behind or is an entry of the ledger (the database names the tools), and only for a moment. What is not there by then is recorded first, and its result comes after.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { OpenCall } from '../ledger/answers.ts';
import type { EarlyCall } from '../ledger/iteration.ts';
import type { ModelResponse } from '../model/message.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { Focus } from './focus.ts';
import { runTool } from './runTool.ts';

/** For how long the record of a response waits for the results of its calls. */
const PATIENCE_MS = 200;

export class EarlyCalls {
  readonly #begun = new Map<number, { call: EarlyCall; ends: Promise<ToolOutcome> }>();

  /** `tools`: those whose calls may run now, by their names in the request; null: others may run beside its calls. */
  constructor(response: ModelResponse, tools: Record<string, string | null>, focus: Focus) {
    const calls = response.content.filter((block) => block.type === 'tool_use');
    const { parallel_tool_execution: isParallel, max_parallel_tools: most } = focus.claim.faculty.engage;
    if (response.stopReason !== 'tool_use' || calls.length > (isParallel ? most : 1)) return;
    const names = calls.map(({ name }) => (typeof name === 'string' && Object.hasOwn(tools, name) ? tools[name] : undefined));
    if (!names.every((name) => name !== undefined)) return;
    for (const [ordinal, name] of names.entries()) {
      if (name === null) continue;
      const call: EarlyCall = { ordinal, id: randomUUID(), outcome: null };
      const ends = runTool({ id: call.id, name, input: calls[ordinal]?.['input'] }, focus);
      this.#begun.set(ordinal, { call, ends });
      ends.then(
        // What was interrupted is no result: the call can run again.
        (outcome) => (call.outcome = focus.signal.aborted ? null : outcome),
        () => {}, // whoever waits for it is told
      );
    }
  }

  /** The calls that have begun, as soon as all have ended or the moment is over. */
  async begun(): Promise<EarlyCall[]> {
    if (this.#begun.size === 0) return [];
    const over = new AbortController();
    await Promise.race([
      Promise.all([...this.#begun.values()].map(({ ends }) => ends)),
      sleep(PATIENCE_MS, null, { signal: over.signal }).catch(() => null),
    ]);
    over.abort();
    return [...this.#begun.values()].map(({ call }) => ({ ...call }));
  }

  /** The outcome of a call that has begun. */
  of(call: OpenCall): Promise<ToolOutcome> | undefined {
    return this.#begun.get(call.ordinal)?.ends;
  }
}
