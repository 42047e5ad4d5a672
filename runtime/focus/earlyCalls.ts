// Calls that run before their response is recorded, so that both are stored at once. This happens only if every call of the response has no
// effects or is a ledger entry (the database says which tools qualify), and only for a moment: if results are not there by then, the
// response is recorded first and they follow. Ledger entries are reported to the database whatever else the response calls: it records them
// with the response.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { isObject } from '../../plv8/isObject.ts';
import { schemaErrors } from '../../plv8/jsonSchema.ts';
import type { Begin, OpenCall } from '../ledger/answers.ts';
import type { EarlyCall } from '../ledger/iteration.ts';
import type { ContentBlock, ModelResponse } from '../model/message.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { Focus } from './focus.ts';
import { runTool } from './runTool.ts';

/** How long the recording of a response waits for the results of its calls. */
export const PATIENCE_MS = 200;

export class EarlyCalls {
  readonly #begun = new Map<number, { call: EarlyCall; ends: Promise<ToolOutcome | null> }>();
  readonly #entries: EarlyCall[] = [];

  constructor(response: ModelResponse, asked: Begin & { kind: 'call_model' }, focus: Focus) {
    const calls = response.content.filter((block) => block.type === 'tool_use');
    const { parallel_tool_execution: isParallel, max_parallel_tools: most } = focus.claim.faculty.engage;
    if (response.stopReason !== 'tool_use' || calls.length > (isParallel ? most : 1)) return;
    const names = calls.map(({ name }) => (typeof name === 'string' && Object.hasOwn(asked.early, name) ? asked.early[name] : undefined));
    // If any call of the response has effects, they all begin only once the response is recorded.
    const mayBegin = !names.includes(undefined);
    for (const [ordinal, name] of names.entries()) {
      if (name === null && fits(calls[ordinal], asked.request))
        this.#entries.push({ ordinal, id: randomUUID(), outcome: null, is_entry: true });
      if (typeof name !== 'string' || !mayBegin) continue;
      const call: EarlyCall = { ordinal, id: randomUUID(), outcome: null };
      const ends = runTool({ id: call.id, name, input: calls[ordinal]?.['input'] }, focus);
      this.#begun.set(ordinal, { call, ends });
      ends.then(
        // A call that was interrupted has no result: it can run again.
        (outcome) => (call.outcome = focus.signal.aborted ? null : outcome),
        () => {}, // whoever awaits `ends` gets the error
      );
    }
  }

  /** The calls that have begun, once all have ended or PATIENCE_MS is over, and the entries that the database records. */
  async begun(): Promise<EarlyCall[]> {
    if (this.#begun.size === 0) return this.#entries;
    const over = new AbortController();
    await Promise.race([
      Promise.all([...this.#begun.values()].map(({ ends }) => ends)),
      sleep(PATIENCE_MS, null, { signal: over.signal }).catch(() => null),
    ]);
    over.abort();
    return [...this.#begun.values()].map(({ call }): EarlyCall => ({ ...call })).concat(this.#entries);
  }

  /** The outcome of a call if it has begun. */
  of(call: OpenCall): Promise<ToolOutcome | null> | undefined {
    return this.#begun.get(call.ordinal)?.ends;
  }
}

/** Whether the input of a call fits the schema with which the request offered its tool. */
function fits(call: ContentBlock | undefined, { tools }: Record<string, unknown>): boolean {
  const tool: unknown = Array.isArray(tools) && tools.find((one) => isObject(one) && one['name'] === call?.['name']);
  return isObject(tool) && schemaErrors(tool['input_schema'], call?.['input']).length === 0;
}
