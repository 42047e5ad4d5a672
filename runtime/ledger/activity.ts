// What the agent of a work item does, as events: what it is told, words as they arrive, calls as they begin and end. Derived from what
// work_activity() shows each time it is read, so that nothing is lost or doubled however rarely it is read.

import type { Activity } from './answers.ts';
import type { Db } from './db.ts';
import { callTag, NOTHING_TOLD, toldOf } from './position.ts';
import type { TurnTold } from './position.ts';

/** `at`: when, as the database says it. */
type Where = { turn_id: string; iteration: number | null; at: string | null };
export type ActivityEvent = Where &
  /** A person or another agent says something to it. name: the person, or that one's work item; null: not known. */
  (
    | { kind: 'told'; by: 'person' | 'agent'; name: string | null; text: string }
    /** The next piece of what the model thinks or says. */
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

/** Ids of turns are larger. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const nothingOf = (turnId: string): TurnTold => ({
  turnId,
  messages: 0,
  thinking: NOTHING_TOLD,
  said: NOTHING_TOLD,
  isAnswered: false,
  calls: new Map(),
});

export class ActivityReader {
  readonly #db: Db;
  readonly #workItemId: string;
  #told: TurnTold | null;

  /** `told`: goes on behind what was told of that turn, as another reader's `told` says. */
  constructor(db: Db, workItemId: string, told: TurnTold | null = null) {
    this.#db = db;
    this.#workItemId = workItemId;
    this.#told = told;
  }

  /** What was told as of the newest event; null before begin() and the first read. */
  get told(): TurnTold | null {
    return this.#told;
  }

  /**
   * From now on no turn is missed, however many there are until the first read; with `isWhole` none of those before either. Does nothing
   * when called again, or where the reader goes on from what was told.
   */
  async begin(isWhole = false): Promise<void> {
    this.#told ??= nothingOf((isWhole ? null : (await this.#db.workActivity(this.#workItemId, null)).at(-1)?.turn_id) ?? BEFORE_ALL);
  }

  /** What is new since the last read; at first the turn that was the newest one at begin() or, without that, is now, from its beginning. */
  async *read(): AsyncGenerator<ActivityEvent> {
    for (;;) {
      const before = this.#told?.turnId ?? null;
      const turns = await this.#db.workActivity(this.#workItemId, before);
      for (const turn of turns) yield* this.#newOf(turn);
      if (turns.length < 2 || this.#told?.turnId === before) return;
    }
  }

  /** What was told is noted before it is yielded: `told` is then that of the event. */
  *#newOf(turn: Activity): Generator<ActivityEvent> {
    const { turn_id, iteration, updated_at: at } = turn;
    let told = this.#told?.turnId === turn_id ? this.#told : nothingOf(turn_id);
    const note = (change: Partial<TurnTold>): void => void (this.#told = told = { ...told, ...change });
    note({});
    for (const { by, name, text, told_at } of turn.told.slice(told.messages)) {
      note({ messages: told.messages + 1 });
      yield { turn_id, iteration, at: told_at, kind: 'told', by, name, text };
    }
    const kinds = ['thinking', 'said'] as const;
    if (kinds.some((kind) => toldOf(turn[kind] ?? '', told[kind].chars).hash !== told[kind].hash)) {
      note({ thinking: NOTHING_TOLD, said: NOTHING_TOLD });
      yield { turn_id, iteration, at, kind: 'broken_off' };
    }
    for (const kind of kinds) {
      const whole = turn[kind] ?? '';
      const text = whole.slice(told[kind].chars);
      if (text === '') continue;
      note({ [kind]: toldOf(whole) });
      yield { turn_id, iteration, at, kind, text };
    }
    if (!told.isAnswered && turn.input_tokens !== null && turn.output_tokens !== null) {
      note({ isAnswered: true });
      yield {
        turn_id,
        iteration,
        at,
        kind: 'answered',
        input_tokens: turn.input_tokens,
        output_tokens: turn.output_tokens,
        cost: turn.cost,
      };
    }
    for (const { id, parent_call_id, name, input, status, error, started_at: began, completed_at: ended } of turn.calls) {
      const [tag, letter] = [callTag(id), status.slice(0, 1)];
      if (status === 'pending' || told.calls.get(tag) === letter) continue;
      note({ calls: new Map(told.calls).set(tag, letter) });
      const seconds = began === null || ended === null ? null : (Date.parse(ended) - Date.parse(began)) / 1000;
      yield {
        turn_id,
        iteration,
        at: ended ?? began,
        kind: 'call',
        id,
        parent_call_id,
        name,
        input,
        status,
        seconds,
        error: error ?? null,
      };
    }
  }
}
