// What an agent says, told to a watcher that is cut off anywhere and comes back with its position.

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ActivityReader } from '../../../runtime/ledger/activity.ts';
import type { ActivityEvent } from '../../../runtime/ledger/activity.ts';
import type { Activity } from '../../../runtime/ledger/answers.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { positionOf, positionText } from '../../../runtime/ledger/position.ts';

const uuid = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ITEM = uuid(1);

/** What happens to the newest turn: words arrive, the response is sent again, a call begins or ends, the next turn begins. */
const happening = fc.oneof(
  fc.record({ what: fc.constant('said' as const), text: fc.string({ minLength: 1, unit: 'binary' }) }),
  fc.record({ what: fc.constant('thinking' as const), text: fc.string({ minLength: 1 }) }),
  fc.record({ what: fc.constant('told' as const), text: fc.string() }),
  fc.record({ what: fc.constant('again' as const), text: fc.string() }),
  fc.record({ what: fc.constant('call' as const), before: fc.boolean() }),
  fc.record({ what: fc.constant('ended' as const) }),
  fc.record({ what: fc.constant('answered' as const) }),
  fc.record({ what: fc.constant('turn' as const) }),
  fc.record({ what: fc.constant('cut' as const), at: fc.nat(5) }),
);

test('whatever is told before and after a cut is together what a watcher without one knows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happenings) => {
      const turns: (Activity & { calls: { id: string; status: string }[] })[] = [];
      let ids = 100;
      const begin = (): void =>
        void turns.push({
          turn_id: uuid(++ids),
          iteration: turns.length + 1,
          status: 'streaming',
          told: [],
          thinking: null,
          said: null,
          input_tokens: null,
          output_tokens: null,
          cost: null,
          updated_at: null,
          calls: [],
        } as never);
      begin();
      const db = {
        workActivity: async (_: string, from: string | null) => structuredClone(turns.filter((turn) => turn.turn_id >= (from ?? ''))),
      } as unknown as Db;
      let reader = new ActivityReader(db, ITEM);
      await reader.begin(true);
      const known = new Map<string, { thinking: string; said: string; answered: number; told: string[]; calls: string[] }>();
      const hear = (event: ActivityEvent): void => {
        const turn = known.get(event.turn_id) ?? { thinking: '', said: '', answered: 0, told: [], calls: [] };
        known.set(event.turn_id, turn);
        if (event.kind === 'said' || event.kind === 'thinking') turn[event.kind] += event.text;
        else if (event.kind === 'broken_off') turn.said = turn.thinking = '';
        else if (event.kind === 'answered') turn.answered += 1;
        else if (event.kind === 'told') turn.told.push(event.text);
        else if (event.kind === 'call') turn.calls.push(`${event.id} ${event.status}`);
      };
      /** Hears of the next `most` events; then it is another reader, which knows no more than the position of the last one. */
      const listen = async (most: number): Promise<void> => {
        let position = positionText(ITEM, { seq: 3, turn: reader.told, isEnd: false });
        for await (const event of reader.read()) {
          if (most-- <= 0) break;
          hear(event);
          position = positionText(ITEM, { seq: 3, turn: reader.told, isEnd: false });
        }
        reader = new ActivityReader(db, ITEM, positionOf(position, ITEM).turn);
      };
      for (const one of happenings) {
        const turn = turns.at(-1);
        if (!turn) break;
        if (one.what === 'said' || one.what === 'thinking') turn[one.what] = (turn[one.what] ?? '') + one.text;
        else if (one.what === 'told') turn.told.push({ by: 'person', name: null, text: one.text, told_at: '2026-11-27' });
        else if (one.what === 'again') [turn.said, turn.thinking] = [one.text, ''];
        else if (one.what === 'turn') begin();
        else if (one.what === 'answered') [turn.input_tokens, turn.output_tokens] = [7, 3];
        else if (one.what === 'cut') await listen(one.at);
        else if (one.what === 'ended')
          turn.calls.filter(({ status }) => status === 'running').forEach((call) => (call.status = 'completed'));
        else {
          const call = { id: uuid(++ids), parent_call_id: null, name: 'bash', input: '{}', status: 'running' };
          if (one.before) turn.calls.unshift(call); // it was stored later than those that began after it
          else turn.calls.push(call);
        }
      }
      await listen(Infinity);
      for (const { turn_id, told, thinking, said, input_tokens, calls } of turns) {
        const heard = known.get(turn_id) ?? { thinking: '', said: '', answered: 0, told: [], calls: [] };
        expect(heard.told).toEqual(told.map(({ text }) => text));
        expect([heard.thinking, heard.said, heard.answered]).toEqual([thinking ?? '', said ?? '', input_tokens === null ? 0 : 1]);
        expect(heard.calls).toEqual([...new Set(heard.calls)]);
        for (const { id, status } of calls) expect(heard.calls).toContain(`${id} ${status}`);
      }
    }),
    { numRuns: 500 },
  );
});

test('a position says nothing of what was told, and what is none is refused', () => {
  const turn = {
    turnId: uuid(7),
    messages: 12,
    thinking: { chars: 3, hash: '01234567' },
    said: { chars: 0, hash: '' },
    isAnswered: true,
    calls: new Map([['AAA_', 'r']]),
  };
  for (const position of [
    { seq: 0, turn: null, isEnd: false },
    { seq: 12, turn, isEnd: true },
    { seq: 9, turn: { ...turn, messages: 0, isAnswered: false, calls: new Map() }, isEnd: false },
  ])
    expect(positionOf(positionText(ITEM, position), ITEM)).toEqual(position);
  for (const text of [
    '',
    '1',
    `${uuid(2).slice(-6)}.1`,
    `${ITEM.slice(-6)}.-1`,
    `${ITEM.slice(-6)}.1.end.end`,
    `${ITEM.slice(-6)}.1\n`,
    'x'.repeat(100_000),
  ])
    expect(() => positionOf(text, ITEM), text.slice(0, 30)).toThrow(expect.objectContaining({ code: 'WL002' }));
});
