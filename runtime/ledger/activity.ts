// What the agent of a work item does, as events: messages to it, text as it arrives, calls as they begin and end. Each read derives them
// from what work_activity() returns, so that nothing is lost or repeated, however rarely it is read.

import type { Activity } from './answers.ts';
import type { Db } from './db.ts';
import { callTag, NOTHING_TOLD, toldOf } from './position.ts';
import type { TurnTold } from './position.ts';

/** `at`: when, by the database's clock. */
type Where = { turn_id: string; iteration: number | null; at: string | null };
export type ActivityEvent = Where &
  /** A person or another agent sends it a message. name: the person, or the other agent's work item; null: unknown. */
  (
    | { kind: 'told'; by: 'person' | 'agent'; name: string | null; text: string }
    /** The next piece of the model's thinking or text. */
    | { kind: 'thinking' | 'said'; text: string }
    /** The response broke off; what follows in this turn is a new response. */
    | { kind: 'broken_off' }
    /** The response is complete. cost: null if there are no prices. */
    | { kind: 'answered'; input_tokens: number; output_tokens: number; cost: number | null }
    /**
     * status: running, waiting (for approval or children), then completed, failed or uncertain. seconds: how long it ran. error: what a
     * failed call returned, on one line.
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

/** Smaller than any turn id. */
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

  /** `told`: continue where another reader stopped, as given by its `told`. */
  constructor(db: Db, workItemId: string, told: TurnTold | null = null) {
    this.#db = db;
    this.#workItemId = workItemId;
    this.#told = told;
  }

  /** What has been delivered, up to and including the newest event; null before begin() and the first read. */
  get told(): TurnTold | null {
    return this.#told;
  }

  /**
   * From now on no turn is missed, however many there are until the first read; with `isWhole`, no earlier turn either. Does nothing if
   * called again or if the reader continues from another's `told`.
   */
  async begin(isWhole = false): Promise<void> {
    this.#told ??= nothingOf((isWhole ? null : (await this.#db.workActivity(this.#workItemId, null)).at(-1)?.turn_id) ?? BEFORE_ALL);
  }

  /**
   * Yields what is new since the last read. The first read starts with the beginning of the turn that was the newest at begin() or, without
   * begin(), is the newest now.
   */
  async *read(): AsyncGenerator<ActivityEvent> {
    for (;;) {
      const before = this.#told?.turnId ?? null;
      const turns = await this.#db.workActivity(this.#workItemId, before);
      for (const turn of turns) yield* this.#newOf(turn);
      if (turns.length < 2 || this.#told?.turnId === before) return;
    }
  }

  /** Notes each event before yielding it, so that `told` includes it. */
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
