// A model's server that remembers: which entries it asked to record, and of which it was told that they are recorded. What it was told is
// acknowledged: the ledger must hold it, and hold nothing twice. It also breaks: a few requests in a hundred.

import { createHash } from 'node:crypto';

import type { ContentBlock, ModelRequest } from '../../runtime/model/message.ts';
import type { Position, Script, ScriptedReply } from '../../runtime/model/script.ts';

export class Witness {
  /** By content: the calls that asked to record it, and those that were answered that it is. */
  readonly #asked = new Map<string, Set<string>>();
  readonly #acknowledged = new Map<string, Set<string>>();
  readonly #contents = new Map<string, string>();
  faults = 0;

  /** The script as it is played: calls have ids of ours, so that a repeated reply is the same one. */
  watch(script: Script, seed: number): Script {
    return (request, position) => {
      this.#read(request);
      const reply = faultOf(seed, position) ?? script(request, position);
      if (!('content' in reply) || 'midStreamError' in reply || reply.content === undefined) {
        this.faults++;
        return reply;
      }
      return {
        ...reply,
        content: reply.content.map((block, n) => this.#ask(block, `toolu_${position.conversation}_${position.exchange}_${n}`)),
      };
    };
  }

  /** An entry that is not the model's, told by whoever appended it. */
  asked(content: string, id: string): void {
    of(this.#asked, content).add(id);
  }

  acknowledged(content: string, id: string): void {
    of(this.#acknowledged, content).add(id);
  }

  get acknowledgedCount(): number {
    return [...this.#acknowledged.values()].reduce((sum, ids) => sum + ids.size, 0);
  }

  /** Held against what the ledger holds, each content as often as there are entries. */
  compare(entries: readonly string[]): { lost: string[]; doubled: string[] } {
    const held = new Map<string, number>();
    for (const content of entries) held.set(content, (held.get(content) ?? 0) + 1);
    return {
      lost: [...this.#acknowledged].filter(([content, ids]) => (held.get(content) ?? 0) < ids.size).map(([content]) => content),
      doubled: [...this.#asked].filter(([content, ids]) => (held.get(content) ?? 0) > ids.size).map(([content]) => content),
    };
  }

  #ask(block: ContentBlock, id: string): ContentBlock {
    if (block.type !== 'tool_use') return block;
    const content = (block['input'] as { content?: unknown } | undefined)?.content;
    if (block['name'] === 'ledger_append' && typeof content === 'string') {
      this.asked(content, id);
      this.#contents.set(id, content);
    }
    return { ...block, id };
  }

  #read(request: ModelRequest): void {
    for (const { content } of request.messages) {
      if (typeof content === 'string') continue;
      for (const block of content) {
        if (block.type !== 'tool_result' || block['is_error'] === true) continue;
        const said = this.#contents.get(String(block['tool_use_id']));
        if (said !== undefined) this.acknowledged(said, String(block['tool_use_id']));
      }
    }
  }
}

function of(map: Map<string, Set<string>>, key: string): Set<string> {
  const found = map.get(key) ?? new Set<string>();
  map.set(key, found);
  return found;
}

/** Of a hundred requests two find the server overloaded, one is cut off, one breaks off in the middle; never the same one thrice. */
function faultOf(seed: number, { conversation, exchange, attempt }: Position): ScriptedReply | null {
  if (attempt > 1) return null;
  const hash = createHash('sha256').update(`${seed} ${conversation} ${exchange} ${attempt}`).digest();
  const roll = hash.readUInt32BE() / 2 ** 32;
  if (roll < 0.02) return { error: { status: 529, type: 'overloaded_error', headers: { 'retry-after': '1' } } };
  if (roll < 0.03) return { drop: true };
  if (roll < 0.04) return { midStreamError: { type: 'overloaded_error' } };
  return null;
}
