// Who exports while the work goes on: two processes take the spans of attempts and the metrics of the ledger at any moment,
// keep others waiting, die before they sent what they took, or report late. In the end everything was sent.

import type { Play } from './conversation.ts';
import { expect } from './expect.ts';

export type Span = {
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  name: string;
  started_at: string;
  ended_at: string;
  status: string;
  attributes: Record<string, unknown>;
  events: { name: string; at: string }[];
  links: { trace_id: string; span_id: string; attributes: Record<string, string> }[];
};
export type Metric = { metric: string; labels: Record<string, string>; value: number; times: number };

type Taken = { kind: 'spans'; iteration: number; is_done: boolean; spans: Span[] };
/** What a process took, and when. */
type Held = Taken & { at: number };

/** For so long who took spans keeps others waiting. */
const claimMs = 60_000;

export class Exports {
  readonly #play: Play;
  /** By focus and span: what was sent. */
  readonly sent = new Map<string, Map<string, string>>();
  readonly metrics: Metric[] = [];
  /** The time from which metrics count. */
  since = 0;
  readonly #held = new Map<string, Held>();
  #moments = 0;

  constructor(play: Play) {
    this.#play = play;
  }

  async begin(): Promise<void> {
    const { ledger } = this.#play;
    await ledger.rows('delete from ledger.metrics_taken');
    const first = await ledger.all('work_metrics_take');
    expect(first.length === 0, 'the first call of work_metrics_take() returns something');
    this.since = ledger.now;
  }

  /** Between two things that happen. */
  async moment(): Promise<void> {
    const chance = (this.#moments++ * 7919 + this.#play.world.exchanges.length * 31) % 12;
    if (chance % 3 === 0) await this.#takeMetrics();
    const foci = await this.#foci();
    const focusId = foci[(this.#moments * 13) % (foci.length || 1)];
    if (focusId === undefined) return;
    const held = this.#held.get(focusId);
    const isClaimed = held !== undefined && this.#play.ledger.now + 10 < held.at + claimMs;
    const taken = await this.#take(focusId);
    if (isClaimed) expect(taken.kind === 'held', `spans that another process holds are given out: ${taken.kind}`);
    if (taken.kind === 'held') {
      expect(isClaimed, 'spans are held by nobody');
      if (held && chance < 6) await this.#send(focusId, held);
      return;
    }
    if (held) await this.#send(focusId, held, true); // late: another had to take them, too
    if (taken.kind !== 'spans') return;
    if (chance < 7) await this.#send(focusId, taken, held !== undefined);
    else if (chance < 9) await this.#play.ledger.call('trace_record', focusId); // not sent, and says so
    // Whoever reported late let others take them at once.
    else this.#held.set(focusId, { ...taken, at: held === undefined ? this.#play.ledger.now : Number.NEGATIVE_INFINITY });
  }

  /** Whoever took something and did not send it is dead; the rest is taken. */
  async end(): Promise<void> {
    const { ledger } = this.#play;
    this.#held.clear();
    ledger.now += claimMs + 1000;
    const due = new Set<string>(await ledger.all<string>('trace_due', '30 days'));
    for (const focusId of await this.#foci()) {
      for (;;) {
        const taken = await this.#take(focusId);
        expect(taken.kind !== 'held', 'spans of a dead process are held for longer than a minute');
        expect(
          taken.kind === 'nothing' || due.has(focusId) || due.size === 100,
          `trace_due() does not name attempt ${focusId}, of which spans are left`,
        );
        if (taken.kind !== 'spans') break;
        await this.#send(focusId, taken);
      }
    }
    for (;;) {
      await this.#takeMetrics();
      const [row] = await ledger.rows<{ is_all: boolean }>('select until_at >= ledger._now() as is_all from ledger.metrics_taken');
      if (row?.is_all) return;
    }
  }

  async #foci(): Promise<string[]> {
    const rows = await this.#play.ledger.rows<{ id: string }>(
      'select id from ledger.foci where work_item_id = any ($1::uuid[]) order by created_at, id',
      [this.#play.world.items.map((item) => item.id)],
    );
    return rows.map((row) => row.id);
  }

  async #take(focusId: string): Promise<Taken | { kind: 'held' } | { kind: 'nothing' }> {
    return (await this.#play.ledger.call('trace_take', focusId)) as Taken | { kind: 'held' } | { kind: 'nothing' };
  }

  async #send(focusId: string, { iteration, is_done: isDone, spans }: Taken, isAgain = false): Promise<void> {
    const sent = this.sent.get(focusId) ?? new Map<string, string>();
    this.sent.set(focusId, sent);
    for (const span of spans) {
      const before = sent.get(span.span_id);
      expect(before === undefined || isAgain, () => `a span is given out twice: ${JSON.stringify(span)}`);
      expect(before === undefined || before === JSON.stringify(span), () => `a span changed: ${JSON.stringify(span)} was ${before}`);
      sent.set(span.span_id, JSON.stringify(span));
    }
    this.#held.delete(focusId);
    await this.#play.ledger.call('trace_record', focusId, iteration, isDone);
  }

  async #takeMetrics(): Promise<void> {
    this.metrics.push(...(await this.#play.ledger.all<Metric>('work_metrics_take')));
  }
}
