// Plays the worker: one item's iterations with the functions of SQL, in the order of runtime/focus/runFocus.ts, with whatever
// befalls it between two statements. What it says of the work it also tells the world.

import type { z } from 'zod';

import * as answers from '../../runtime/ledger/answers.ts';
import { byAiSdk } from './aiSdk.ts';
import { entryRecorded, refresh, runCalls, settled } from './calls.ts';
import type { HookAnswer, Work } from './commands.ts';
import type { KeptSession } from './keptSession.ts';
import { Refused } from './ledger.ts';
import type { Fault, Ledger } from './ledger.ts';
import { answerOf, hookResult, resultOf, tokensPerChar } from './replies.ts';
import { expect } from './expect.ts';
import { chainOf, shapeOf } from './world.ts';
import type { Item, World } from './world.ts';

export type Stage = {
  world: World;
  ledger: Ledger;
  /** What of a session of another program goes on beside it. */
  session: Pick<KeptSession, 'checkClaim'>;
  /** Something that happens beside the worker. */
  happens(item: Item, what: 'interrupt' | 'message' | 'news' | 'compact' | 'sweep' | 'pause' | 'cancel' | 'policy'): Promise<void>;
  /** Checks a request and keeps it. */
  asked(item: Item, turnId: string, request: unknown, how: 'sent' | 'held' | 'summary'): Promise<void>;
};

type Step = z.output<typeof answers.step>;
type Begin = z.output<typeof answers.begin>;
type Next = NonNullable<Extract<Step, { kind: 'continued' }>['next']>;
class Crash extends Error {}
class Released extends Error {}
const leaseSeconds = 60;

export class Worker {
  readonly stage: Stage;
  readonly item: Item;
  readonly work: Work;
  #moment = 0;
  #hooks = 0;
  #isAnswered = false;

  constructor(stage: Stage, item: Item, work: Work) {
    this.stage = stage;
    this.item = item;
    this.work = work;
  }

  /** Works until the model was asked once and what followed is over, or there is nothing to do now. */
  async run(): Promise<void> {
    for (let lives = 0; lives < 40 && !this.#isAnswered && this.item.end === null; lives++) {
      try {
        if (!(await this.#iteration())) return;
      } catch (error) {
        if (error instanceof Crash) {
          this.stage.world.note(this.item, this.item.isOpen ? 'crash with calls open' : 'crash');
          this.stage.ledger.now += (leaseSeconds + 1) * 1000;
          this.#isAnswered = false;
        } else if (error instanceof Released) this.#isAnswered = false;
        else if (error instanceof Refused && ['WL003', 'WL004', 'WL005'].includes(error.code) && this.item.lease === null) return;
        else throw error;
      }
    }
  }

  /** Between two statements. */
  async moment(): Promise<void> {
    const { ledger } = this.stage;
    const at = this.#moment++;
    let fault: Fault | null = null;
    for (const event of this.work.events.filter((one) => one.at === at)) {
      if (event.what === 'crash') throw new Crash();
      if (event.what === 'rolled back' || event.what === 'repeated') fault = event.what;
      else if (event.what === 'release') {
        if (this.item.lease === null) continue;
        await ledger.call('iteration_release', this.item.id, this.item.lease);
        this.item.lease = null;
        this.item.isInFlight = false;
        throw new Released();
      } else await this.stage.happens(this.item, event.what);
    }
    ledger.fault = fault;
    if (fault) this.stage.world.note(this.item, fault);
  }

  /** A statement of the holder of the lease. */
  async call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    await this.moment();
    return this.stage.ledger.call(name, this.item.id, this.lease, ...args);
  }

  #lease = '';
  #number = 0;
  #claims = 0;
  /** What the claim began. */
  #begun: unknown = null;
  /** The request that this worker keeps: of the next, only what is new is sent. */
  #kept: { turnId: string; request: Record<string, unknown> } | null = null;
  get lease(): string {
    return this.#lease;
  }

  get hasHooks(): boolean {
    return this.item.policy === 'hooks';
  }

  get nextHook(): HookAnswer {
    return this.work.hooks[this.#hooks++] ?? 'nothing';
  }

  /** False where there is nothing to do, or what was to be done is done. */
  async #iteration(): Promise<boolean> {
    if (!(await this.#claim())) return false;
    let begin = await this.#begin(this.#begun);
    this.#kept = null;
    for (;;) {
      if (begin.kind === 'run_hook') {
        if (!(await this.#hook(begin))) return false;
      } else if (begin.kind === 'summarize') {
        if (!(await this.#summarize(begin.turn_id, begin.request))) return true;
      } else break;
      begin = await this.#begin();
    }
    if (begin.kind === 'call_model') {
      const step = await this.#ask(begin);
      if (step === null) return false;
      if (step.kind !== 'run_tools') return this.#finish(step);
      await runCalls(this, step.calls);
    } else if (begin.kind === 'run_tools') await runCalls(this, begin.calls);
    else {
      if (begin.kind === 'parked') await this.#parked();
      await this.#ended(begin.kind);
      return false;
    }
    return this.#finish();
  }

  async #claim(): Promise<boolean> {
    const { ledger, world } = this.stage;
    const { item } = this;
    for (let tries = 0; tries < 4; tries++) {
      await this.moment();
      // Workers begin with their claim, other programs after it.
      const inOne = this.#claims++ % 2 === 0;
      const said = await ledger.call(inOne ? 'focus_begin' : 'focus_claim', item.id, 'worker', leaseSeconds);
      const { claim: claimed, begin } = inOne ? (said as { claim: unknown; begin: unknown }) : { claim: said, begin: null };
      const claim = answers.claim.parse(claimed);
      this.#begun = begin;
      item.isInFlight = false;
      if (claim.kind === 'claimed') {
        if (claim.faculty['persona'] === 'of another project') throw new Error(`a faculty of another project took ${item.id}`);
        this.#lease = claim.lease;
        this.#number = claim.iteration;
        item.lease = claim.lease;
        if (claim.focus_id !== item.focusId) item.policy = world.policies.get(item.faculty) ?? item.policy;
        item.focusId = claim.focus_id;
        item.attempt = claim.attempt;
        if (claim.attempt > 1) world.note(item, 'retry');
        return true;
      }
      item.lease = null;
      if (claim.kind === 'finished') {
        item.end ??= claim.state;
        return false;
      }
      if (claim.kind !== 'not_due') throw new Error(`not claimed: ${claim.kind}`);
      const wait = Date.parse(claim.run_at) - ledger.now;
      if (claim.state !== 'queued' && claim.state !== 'running' && claim.state !== 'claimed') return false;
      if (!(wait > 0 && wait < 3_600_000)) return false;
      ledger.now += wait + 10;
    }
    return false;
  }

  async #begin(begun: unknown = null): Promise<Begin> {
    const begin = answers.begin.parse(begun ?? (await this.call('iteration_begin')));
    await this.#fixed(begin.kind);
    return begin;
  }

  /** The request may be fixed already, and something stands between it and the model. */
  async #fixed(kind: string): Promise<void> {
    if (kind === 'call_model' || kind === 'summarize' || kind === 'run_tools') return;
    const [held] = await this.stage.ledger.rows<{ id: string; request: Record<string, unknown> }>(
      `select id, ledger.context_at(id) as request from ledger.turns where focus_id = $1 and status = 'pending' and turn_type = 'normal'`,
      this.item.focusId,
    );
    if (held) await this.stage.asked(this.item, held.id, held.request, 'held');
  }

  async #ask({ turn_id: turnId, request, early }: Begin & { kind: 'call_model' }): Promise<Step | null> {
    const { stage, item, work } = this;
    this.#kept = { turnId, request };
    await stage.asked(item, turnId, request, 'sent');
    item.isInFlight = true;
    this.#isAnswered = true;
    if ('error' in work.answer) {
      stage.world.note(item, work.answer.error === 'context_overflow' ? 'overflow' : 'provider error');
      await this.#fail(work.answer.error, 'said [engine] so');
      return null;
    }
    const said = answerOf(stage.world, item, work.answer, request);
    const reply = { ...said, response: await byAiSdk(said, request) };
    if (work.goesOn === 'not') {
      const { calls } = (await this.call('turn_record', turnId, reply.response)) as { calls: z.output<typeof answers.call>[] };
      await this.#heard(reply.exchange);
      return { kind: 'run_tools', turn_id: turnId, calls, waiting: [] };
    }
    const begun = reply.exchange.calls.flatMap((call, ordinal) =>
      Object.hasOwn(early, call.name) && call.played.tool === 'read_file'
        ? [{ call, ordinal, id: crypto.randomUUID(), result: resultOf(stage.world, call.played) }]
        : [],
    );
    const results = begun.map(({ ordinal, id, result }) => {
      const images = result.images.length > 0 ? result.images : null;
      return { ordinal, id, content: result.text, is_error: result.isError, images };
    });
    const entries = reply.exchange.calls.flatMap((call, ordinal) =>
      early[call.name] === null && call.played.tool === 'entry'
        ? [{ call, told: { ordinal, id: crypto.randomUUID(), is_entry: true } }]
        : [],
    );
    const told = [...results, ...entries.map((entry) => entry.told)];
    const step = answers.step.parse(
      await this.call(
        'iteration_step',
        this.#number,
        1,
        turnId,
        reply.response,
        told.length > 0 ? JSON.stringify(told) : null,
        this.#kept?.turnId ?? null,
      ),
    );
    await this.#heard(reply.exchange);
    for (const { call, id, result } of begun) if (call.id === id) settled(this, call, result);
    for (const { call } of entries) if (call.result !== 'stopped') await entryRecorded(this, call);
    return step;
  }

  /** The request was answered: what it said is heard, what it showed is seen. */
  async #heard(given: ReturnType<typeof answerOf>['exchange']): Promise<void> {
    const { world } = this.stage;
    const { item } = this;
    const { pending } = item;
    if (!pending) throw new Error('an answer without a request');
    const told = item.news.get(item.focusId ?? '') ?? new Set();
    for (const mark of pending.news) told.add(mark);
    item.news.set(item.focusId ?? '', told);
    const exchange = {
      ...given,
      turnId: pending.sent.turnId,
      parent: item.head,
      item,
      attempt: item.attempt,
      sent: pending.sent,
      told: pending.told,
      carried: item.head ? [] : item.earlier,
      firstBlock: item.firstBlock,
      at: this.stage.ledger.now,
    };
    item.head = exchange;
    item.pending = null;
    item.unheard = new Set();
    item.isInFlight = false;
    item.isOpen = true;
    world.exchanges.push(exchange);
    for (const call of pending.sent.shown) call.isSeen = true;
    const made = await this.stage.ledger.rows<{ id: string }>(
      'select id from ledger.tool_calls where turn_id = $1 and parent_call_id is null order by ordinal',
      exchange.turnId,
    );
    exchange.calls.forEach((call, n) => (call.id = made[n]?.id ?? null));
    for (const call of exchange.calls) if (call.result === 'stopped') call.isOpen = false;
  }

  async #fail(kind: string, message: string): Promise<void> {
    const failure = answers.failure.parse(
      await this.call('iteration_fail', { class: kind, message, status: null, retry_after_seconds: null, request_id: null }),
    );
    this.item.isInFlight = false;
    this.item.lease = null;
    if (kind === 'context_overflow') this.stage.world.abandoned(this.item);
    await this.#ended(failure.kind);
  }

  async #summarize(turnId: string, request: Record<string, unknown>): Promise<boolean> {
    const { stage, item, work } = this;
    await stage.asked(item, turnId, request, 'summary');
    item.isInFlight = true;
    stage.world.note(item, 'summary');
    if (work.summary === 'refused') {
      await this.#fail('invalid_request', 'no');
      return false;
    }
    const text = { good: 'Much was seen.', empty: '', long: 'and so on '.repeat(2000) }[work.summary];
    const content = text === '' ? [] : [{ type: 'text', text }];
    await this.call('summary_record', turnId, {
      id: 'm',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      duration_ms: 1,
      usage: { input_tokens: Math.ceil(JSON.stringify(request).length * tokensPerChar), output_tokens: 20 },
    });
    stage.world.summaries.push(turnId);
    item.isInFlight = false;
    return true;
  }

  async #hook(order: Begin & { kind: 'run_hook' }): Promise<boolean> {
    const { stage, item } = this;
    const said = await hookResult(stage.world, String(order.input['hook']), this.nextHook);
    stage.world.note(item, `hook ${String(order.input['hook'])}`);
    const recorded = answers.hookRecorded.parse(await this.call('hook_record', order.hook_run_id, said));
    if (recorded.kind === 'recorded') return true;
    await this.#ended(recorded.kind);
    return false;
  }

  async #parked(): Promise<void> {
    const [row] = await this.stage.ledger.rows<{ state_reason: string | null }>(
      'select state_reason from ledger.work_items where id = $1',
      this.item.id,
    );
    if (/ a day of .*midnight UTC$/.test(row?.state_reason ?? '')) this.stage.world.note(this.item, 'parked for the day');
  }

  /** `told`: what the engine said of it already. */
  async #finish(told?: Step): Promise<boolean> {
    for (let first = told; ; first = undefined) {
      const finish =
        first ??
        answers.step.parse(
          await this.call(
            'iteration_step',
            this.#number,
            this.work.goesOn === 'not' ? null : 1,
            null,
            null,
            null,
            this.#kept?.turnId ?? null,
          ),
        );
      if (finish.kind === 'run_tools') throw new Error('an iteration that is over has calls to run');
      if (finish.kind === 'run_hook') {
        if (!(await this.#hook(finish))) return false;
        continue;
      }
      if (finish.kind === 'continued' && finish.next !== undefined) return this.#goOn(finish.next);
      this.item.lease = null;
      await refresh(this.stage, this.item.head);
      if (finish.kind === 'parked') {
        await this.#parked();
        return false;
      }
      // An approved call may still have to run: then the same iteration comes once more.
      if ((finish.kind === 'continued' || finish.kind === 'paused') && (this.item.head?.calls.every((call) => !call.isOpen) ?? true))
        this.item.isOpen = false;
      if (finish.kind === 'continued') return !this.#isAnswered;
      await this.#ended(finish.kind);
      return false;
    }
  }

  /** The next iteration has begun with the end of this one: its worker gives it back, or dies. */
  async #goOn(next: Next): Promise<boolean> {
    const { stage, item } = this;
    stage.world.note(item, 'goes on');
    await refresh(stage, item.head);
    item.isOpen = false;
    await this.#fixed(next.kind);
    if (next.kind === 'call_model') await stage.asked(item, next.turn_id, this.#whole(next), 'held');
    else if (next.kind !== 'run_hook' && next.kind !== 'summarize' && next.kind !== 'run_tools') {
      await this.#ended(next.kind);
      return false;
    }
    if (this.work.goesOn === 'crash') {
      stage.ledger.now += (leaseSeconds + 1) * 1000;
      // it holds what is reserved for it until somebody takes over
      item.isInFlight = next.kind === 'call_model' || next.kind === 'summarize';
    }
    if (this.work.goesOn === 'release') await stage.ledger.call('iteration_release', item.id, this.lease);
    item.lease = null;
    return !this.#isAnswered;
  }

  #whole({ request, since }: Next & { kind: 'call_model' }): Record<string, unknown> {
    if (request !== null) return request;
    if (!this.#kept || !since) throw new Error('a part of a request that is not kept');
    this.stage.world.note(this.item, 'request by its end');
    return { ...this.#kept.request, messages: [...(this.#kept.request['messages'] as unknown[]), ...since] };
  }

  /** Work whose result has a schema is done with one that fits; one that was wrong four times is what it fails with. */
  async #answered(kind: string, shape: string): Promise<void> {
    const { world, ledger } = this.stage;
    const { item } = this;
    const [row] = await ledger.rows<{ outcome: { result?: { mark?: string }; result_errors?: string[] } | null }>(
      'select outcome_data as outcome from ledger.work_items where id = $1',
      item.id,
    );
    const tries = chainOf(item.head).filter(
      (one) => one.item === item && (one.calls.length === 0 || one.calls.some((call) => call.name === 'work_complete')),
    ).length;
    if (kind === 'completed') {
      expect(
        new RegExp(String.raw`^${shape}\d+z$`).test(row?.outcome?.result?.mark ?? ''),
        () => `${item.name} is done with ${JSON.stringify(row?.outcome)}`,
      );
      world.note(item, 'shaped answer');
    }
    if (!row?.outcome?.result_errors) return;
    expect(tries > 3, () => `${item.name} failed at the ${tries}. answer: ${JSON.stringify(row.outcome)}`);
    world.note(item, 'no answer fits');
  }

  /** The stage said that the iteration, the attempt or the item is over. */
  async #ended(kind: string): Promise<void> {
    const { world, ledger } = this.stage;
    const { item } = this;
    item.lease = null;
    item.isInFlight = false;
    const shape = shapeOf(item);
    if (shape !== null) await this.#answered(kind, shape);
    // An attempt that ends while a pause is asked for leaves its item paused instead of queued.
    const isOver =
      kind === 'queued' ||
      (kind === 'paused' && (await ledger.rows('select from ledger.work_items where id = $1 and focus_id is null', item.id)).length > 0);
    if (isOver) world.attemptEnded(item);
    else if (kind !== 'retry' && kind !== 'parked' && kind !== 'paused') world.ended(item, kind);
  }
}
