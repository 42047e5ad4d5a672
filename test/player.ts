// Plays a model and its tools against the SQL engine, without a worker: response by response, so that a test can say
// what happens between any two statements. What the engine asks to be sent is kept, with the turn it belongs to.

import type { Begin, Claimed, OpenCall } from '../runtime/ledger/answers.ts';
import type { Db } from '../runtime/ledger/db.ts';
import type { ContentBlock, ModelError, ModelRequest, ModelResponse } from '../runtime/model/message.ts';

export type PlayedCall =
  | { kind: 'look'; result: string; isError?: boolean; images?: { media_type: 'image/png'; data: string }[] }
  | { kind: 'plan' | 'finding' | 'decision' | 'step' | 'error' | 'note' | 'bad entry'; content: string };
/**
 * How a provider numbers its calls: each by itself; those of every response anew, or all alike; by what the API does not take, or not at
 * all.
 */
export type Numbering = 'apart' | 'anew' | 'alike' | 'illegal' | 'long' | 'none';
export type Said = {
  thinking?: string;
  text?: string;
  calls: PlayedCall[];
  lastThought?: 'open' | 'redacted';
  stopReason?: string;
  numbering?: Numbering;
  /** What the provider counts of the request, if it counts what it likes. */
  tokens?: number;
};
export type Sent = { turnId: string; body: string; isSummary: boolean };

/** Tokens for each character, as a provider would count them. */
const tokensPerChar = 0.4;

export class Player {
  readonly sent: Sent[] = [];
  readonly #db: Db;
  readonly workItemId: string;
  /** What a summarizing model answers. */
  summarize: (request: ModelRequest) => ModelResponse | ModelError = () =>
    response([{ type: 'text', text: 'What was done is done.' }], 'end_turn', 100);
  /** Called between any two statements; another lease than the given one means that the worker died and another took over. */
  between: (claim: Claimed) => Promise<Claimed> = async (claim) => claim;
  #n = 0;
  #claim: Claimed | null = null;

  constructor(db: Db, workItemId: string) {
    this.#db = db;
    this.workItemId = workItemId;
  }

  /** The claim under which the last request was taken. */
  get claim(): Claimed {
    if (!this.#claim) throw new Error('nothing was claimed');
    return this.#claim;
  }

  /** One iteration: the request is taken, answered with `said`, its calls are run. Returns what the engine said last. */
  async say(said: Said): Promise<string> {
    const begin = await this.begin();
    if (begin.kind !== 'call_model') return begin.kind;
    const n = this.#n++;
    const content: ContentBlock[] = [
      ...(said.thinking === undefined ? [] : [{ type: 'thinking', thinking: said.thinking, signature: `s${n}` }]),
      ...(said.text === undefined || said.text === '' ? [] : [{ type: 'text', text: said.text }]),
      ...said.calls.map((call, ordinal) => ({
        type: 'tool_use',
        ...numbered(said.numbering ?? 'apart', n, ordinal),
        ...used(call, n, ordinal),
      })),
      ...(said.lastThought === 'open' ? [{ type: 'thinking', thinking: 'and so', signature: `t${n}` }] : []),
      ...(said.lastThought === 'redacted' ? [{ type: 'redacted_thinking', data: `d${n}` }] : []),
    ];
    const tokens = said.tokens ?? Math.ceil(JSON.stringify(begin.request).length * tokensPerChar);
    const answer = response(content, said.stopReason ?? (said.calls.length > 0 ? 'tool_use' : 'end_turn'), tokens);
    let step = await this.#step({ answer: { turnId: begin.turn_id, response: answer } });
    while (step.kind === 'run_tools') {
      let { calls } = step;
      for (let call = calls.shift(); call; call = calls.shift()) {
        const open = (await this.#survive()) ?? (await this.#run(call, said));
        if (open) calls = open;
      }
      await this.#survive();
      step = await this.#step();
    }
    return step.kind;
  }

  /** Tells what the iteration brought, and gives the item back at its end. */
  #step(done: Parameters<Db['iterationStep']>[2] = {}): ReturnType<Db['iterationStep']> {
    return this.#db.iterationStep(this.claim, { iteration: this.claim.iteration, seconds: null }, done);
  }

  /** Runs a call; where the worker dies in between, what is open then. */
  async #run(call: OpenCall, said: Said): Promise<OpenCall[] | null> {
    if (call.implementation !== 'runtime') {
      await this.#db.toolCallExecute(this.claim, call.id);
      return null;
    }
    const played = said.calls[(call.input as { ordinal: number }).ordinal];
    if (played?.kind !== 'look') throw new Error('a call that was not made');
    await this.#db.toolCallBegin(this.claim, call.id);
    const open = await this.#survive();
    if (open) return open;
    await this.#db.toolCallSettle(this.claim, call.id, {
      content: played.result,
      isError: played.isError ?? false,
      ...(played.images && { images: played.images }),
    });
    return null;
  }

  /** Between two statements: when the worker died, another one takes over and is told which calls are open. */
  async #survive(): Promise<OpenCall[] | null> {
    const next = await this.between(this.claim);
    if (next.lease === this.claim.lease) return null;
    this.#claim = next;
    const again = await this.#db.iterationBegin(next);
    if (again.kind !== 'run_tools') throw new Error(`open calls were forgotten: ${again.kind}`);
    return again.calls;
  }

  /** Claims the item and takes the next request; summaries that it needs are written first. */
  async begin(): Promise<Begin> {
    this.#claim = await this.between(await this.#claimDue());
    for (;;) {
      let begin = await this.#db.iterationBegin(this.claim);
      const next = await this.between(this.claim);
      if (next.lease !== this.claim.lease) {
        this.#claim = next;
        const again = await this.#db.iterationBegin(next);
        if (JSON.stringify(again) !== JSON.stringify(begin)) throw new Error('the next worker was told something else');
        begin = again;
      }
      if (begin.kind !== 'call_model' && begin.kind !== 'summarize') return begin;
      this.sent.push({ turnId: begin.turn_id, body: JSON.stringify(begin.request), isSummary: begin.kind === 'summarize' });
      if (begin.kind === 'call_model') return begin;
      const answer = this.summarize(begin.request as ModelRequest);
      if ('class' in answer) {
        await this.#db.iterationFail(this.claim, answer);
        this.#claim = await this.#claimDue();
      } else await this.#db.summaryRecord(this.claim, begin.turn_id, answer);
    }
  }

  /** Claims once the backoff is over. */
  async #claimDue(): Promise<Claimed> {
    for (;;) {
      const claim = await this.#db.focusClaim(this.workItemId, 'player', 60);
      if (claim.kind === 'claimed') return claim;
      if (claim.kind !== 'not_due') throw new Error(`not claimed: ${claim.kind}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function numbered(numbering: Numbering, n: number, ordinal: number): { id?: string } {
  if (numbering === 'none') return {};
  return {
    id: {
      apart: `toolu_${n}_${ordinal}`,
      anew: `call_${ordinal}`,
      alike: 'call',
      illegal: `call|${n} ${ordinal}:é`,
      long: `${n}_${ordinal}_`.padEnd(65, 'x'),
    }[numbering],
  };
}

function used(call: PlayedCall, n: number, ordinal: number): { name: string; input: Record<string, unknown> } {
  if (call.kind === 'look') return { name: 'look', input: { n, ordinal } };
  return { name: 'ledger_append', input: { entry_type: call.kind === 'bad entry' ? 'thought' : call.kind, content: call.content } };
}

export const response = (content: ContentBlock[], stopReason: string, inputTokens: number): ModelResponse => ({
  id: 'm',
  model: 'claude-sonnet-5-5',
  content,
  stopReason,
  stopDetails: null,
  requestId: null,
  durationMs: 1,
  usage: {
    inputTokens,
    outputTokens: Math.ceil(JSON.stringify(content).length * tokensPerChar),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  },
});
