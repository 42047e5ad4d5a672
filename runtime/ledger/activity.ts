// What the agent of a work item does, as events: words as they arrive, calls as they begin and end. Derived from what
// work_activity() shows each time it is read, so that nothing is lost or doubled however rarely it is read.

import type { Activity } from './answers.ts';
import type { Db } from './db.ts';

/** `at`: when, as the database says it. */
type Where = { turn_id: string; iteration: number | null; at: string | null };
export type ActivityEvent = Where &
  /** The next piece of what the model thinks or says. */
  (
    | { kind: 'thinking' | 'said'; text: string }
    /** The response broke off; what follows in this turn is a new response. */
    | { kind: 'broken_off' }
    /** The response is complete; cost: null without prices. */
    | { kind: 'answered'; input_tokens: number; output_tokens: number; cost: number | null }
    /**
     * status: running, waiting (for approval, for children), then completed, failed or uncertain. seconds: how long it ran; error: what a
     * failed one returned, on one line.
     */
    | {
        kind: 'call';
        id: string;
        parent_call_id: string | null;
        name: string;
        input: string;
        status: string;
        seconds: number | null;
        error: string | null;
      }
  );

type Shown = { thinking: string; said: string; isAnswered: boolean; calls: Map<string, string> };
const nothing = (): Shown => ({ thinking: '', said: '', isAnswered: false, calls: new Map() });

/** Ids of turns are larger. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

export class ActivityReader {
  readonly #db: Db;
  readonly #workItemId: string;
  #fromTurnId: string | null = null;
  #shown = nothing();

  constructor(db: Db, workItemId: string) {
    this.#db = db;
    this.#workItemId = workItemId;
  }

  /**
   * From now on no turn is missed, however many there are until the first read; with `isWhole` none of those before either. Does nothing
   * when called again.
   */
  async begin(isWhole = false): Promise<void> {
    this.#fromTurnId ??= (isWhole ? null : (await this.#db.workActivity(this.#workItemId, null)).at(-1)?.turn_id) ?? BEFORE_ALL;
  }

  /** What is new since the last read; at first the turn that was the newest one at begin() or, without that, is now, from its beginning. */
  async *read(): AsyncGenerator<ActivityEvent> {
    for (;;) {
      const before = this.#fromTurnId;
      const turns = await this.#db.workActivity(this.#workItemId, before);
      for (const turn of turns) yield* this.#newOf(turn);
      if (turns.length < 2 || this.#fromTurnId === before) return;
    }
  }

  *#newOf(turn: Activity): Generator<ActivityEvent> {
    const where = { turn_id: turn.turn_id, iteration: turn.iteration, at: turn.updated_at };
    if (turn.turn_id !== this.#fromTurnId) this.#shown = nothing();
    this.#fromTurnId = turn.turn_id;
    const shown = this.#shown;
    const isAnew = (['thinking', 'said'] as const).some((kind) => !(turn[kind] ?? '').startsWith(shown[kind]));
    if (isAnew) {
      yield { ...where, kind: 'broken_off' };
      shown.thinking = shown.said = '';
    }
    for (const kind of ['thinking', 'said'] as const) {
      const text = (turn[kind] ?? '').slice(shown[kind].length);
      shown[kind] += text;
      if (text !== '') yield { ...where, kind, text };
    }
    if (!shown.isAnswered && turn.input_tokens !== null && turn.output_tokens !== null) {
      shown.isAnswered = true;
      yield { ...where, kind: 'answered', input_tokens: turn.input_tokens, output_tokens: turn.output_tokens, cost: turn.cost };
    }
    for (const { id, parent_call_id, name, input, status, error, started_at: began, completed_at: ended } of turn.calls) {
      if (status === 'pending' || shown.calls.get(id) === status) continue;
      shown.calls.set(id, status);
      const seconds = began === null || ended === null ? null : (Date.parse(ended) - Date.parse(began)) / 1000;
      yield { ...where, at: ended ?? began, kind: 'call', id, parent_call_id, name, input, status, seconds, error: error ?? null };
    }
  }
}
