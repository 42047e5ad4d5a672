// What `work-ledger top` takes for a decision, and that its lines fit.

import { stripVTControlCharacters } from 'node:util';

import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';

import type { UnderWayOfTree } from '../../../runtime/ledger/consoleNow.ts';
import { ending, fitting } from '../../../runtime/commands/cells.ts';
import { Decision } from '../../../runtime/commands/top/decision.ts';
import { Desk } from '../../../runtime/commands/top/desk.ts';
import { approvalScreen, listScreen } from '../../../runtime/commands/top/view.ts';
import type { Seen } from '../../../runtime/commands/top/view.ts';
import { until } from '../../workerProcess.ts';

let now: number;
let decision: Decision;
const call = { id: 'one', hash: 'a', risk: 'moderate', width: 80, lines: 30 };
beforeEach(() => {
  now = 10_000;
  decision = new Decision(() => now);
});
/** It is on screen, whole, and has been for a second. */
function settled(shown = call): void {
  decision.show(shown, 0, shown.lines);
  now += 1000;
}

test('an answer is sent after five seconds, once, with the hash of what was on screen, and not when it was undone', () => {
  settled();
  decision.approve();
  expect(decision.left).toBe(5);
  now += 4999;
  expect(decision.due()).toBeNull();
  now += 1;
  expect(decision.due()).toEqual({ id: 'one', hash: 'a', decision: 'approve', reason: null });
  expect(decision.due()).toBeNull();
  decision.reject('not on a Friday');
  expect(decision.undo()).toBe(true);
  now += 6000;
  expect(decision.due()).toBeNull();
  expect(decision.undo()).toBe(false);
});

test('to approve, every line of it was on screen; to refuse, none needs to', () => {
  decision.show(call, 0, 10);
  decision.show(call, 20, 30); // leapt over ten
  now += 1000;
  decision.approve();
  expect(decision).toMatchObject({ left: null, says: 'Approve works once the end of the arguments was on screen.' });
  decision.show(call, 10, 20);
  decision.approve();
  expect(decision.left).toBeNull();
  decision.show(call, 20, 30);
  decision.approve();
  expect(decision.left).toBe(5);
  decision.drop('');
  decision.show({ ...call, width: 100, lines: 25 }, 0, 10); // laid out anew, it is read anew
  now += 1000;
  decision.approve();
  expect(decision.left).toBeNull();
  decision.reject(null);
  expect(decision.answer?.decision).toBe('reject');
});

test('nothing is decided on what has not stood still for a second', () => {
  decision.show(call, 0, 30);
  now += 999;
  decision.approve();
  decision.reject(null);
  expect(decision).toMatchObject({ left: null, says: 'It changed or moved a moment ago: look again.' });
  now += 1;
  decision.approve();
  expect(decision.left).toBe(5);
});

test('arguments that change take back what was answered about others', () => {
  settled();
  decision.approve();
  decision.show({ ...call, hash: 'b' }, 0, 30);
  expect(decision).toMatchObject({ left: null, says: 'It changed: nothing was sent.' });
  now += 6000;
  expect(decision.due()).toBeNull();
});

test('what is dangerous is confirmed by another key, within five seconds', () => {
  settled({ ...call, risk: 'dangerous' });
  decision.confirm();
  expect(decision.left).toBeNull();
  decision.approve();
  expect(decision).toMatchObject({ left: null, isArmed: true });
  now += 5000;
  decision.confirm();
  expect(decision.left).toBeNull();
  decision.approve();
  decision.confirm();
  expect(decision.left).toBe(5);
});

test('a key that is held down decides nothing', () => {
  expect(decision.isPressed('a')).toBe(true);
  for (let i = 0; i < 100; i++) {
    now += i === 0 ? 600 : 30;
    expect(decision.isPressed('a')).toBe(false);
  }
  expect(decision.isPressed('x')).toBe(true);
  now += 1000;
  expect(decision.isPressed('x')).toBe(true);
});

/** As terminals draw it: East Asian Width, emoji, marks that take no room. */
const drawn = (line: string): number =>
  Array.from(line, (one) =>
    /\p{M}|\p{Cf}/u.test(one) ? 0 : /\p{Emoji_Presentation}|\p{sc=Han}|\p{sc=Hangul}/u.test(one) ? 2 : 1,
  ).reduce<number>((sum, n) => sum + n, 0);
const words = fc
  .array(
    fc.constantFrom('word', '⚡', '✅', '漢字', '한국', '👩‍🚀', 'é', 'a\u0301', '\u001b[31m', '\u202e', '\n', 'x'.repeat(90), '␛', ' '),
    { maxLength: 40 },
  )
  .map((all) => all.join(' '));

test('no line is wider than the terminal, whatever agents write', () => {
  fc.assert(
    fc.property(words, words, fc.integer({ min: 60, max: 210 }), (description, said, width) => {
      const row = {
        work_item_id: '1',
        root_id: '1',
        depth: 1,
        description,
        state: 'running',
        doing: 'model',
        waits_for: null,
        why: said,
        faculty: said,
        tokens: 1_234_567,
        cost: 1234.5,
        iteration: 3,
        model: said,
        claims: 0,
        started_at: '2026-01-01T00:00:00Z',
        attempt_started_at: null,
        last_words: said,
        tree_under_way: 3,
        trees: 1,
      } as unknown as UnderWayOfTree;
      const seen: Seen = {
        project: description,
        isReadOnly: false,
        rows: [row, { ...row, doing: 'waits', waits_for: 'work' }],
        queue: [],
        sums: { trees: 1, under_way: 2, model: 1, waits: 1 },
        approvals: 3,
        used: [
          { tokens: 1e9, cost: 12_345.67 },
          { tokens: 1e9, cost: 12_345.67 },
        ],
        words: new Map(),
        skipped: 0,
        problem: said,
      };
      const shown = { selected: '1', from: 0, says: said, typing: null };
      const input = JSON.stringify({ [description || 'name']: said, text: said });
      const asked = {
        tool_call_id: '1',
        work_item_id: '2',
        description,
        tool_name: said,
        risk: 'safe',
        input: {},
        input_json: input,
        input_hash: 'f'.repeat(64),
        requested_at: 'now',
        expires_at: 'now',
        said: null,
      };
      const lines = [
        ...listScreen(seen, shown, width, 24).lines,
        ...listScreen(seen, { ...shown, typing: { label: 'Say:', text: said } }, width, 24).lines,
        ...approvalScreen({ call: asked, nth: 1, of: 1, from: 0 }, shown, width, 200).lines,
      ].map(stripVTControlCharacters);
      for (const line of lines) expect(drawn(line), line).toBeLessThanOrEqual(width);
    }),
    { numRuns: 200, endOnFailure: true },
  );
});

test('text that is cut says so, at its end or, with whole words, at its beginning', () => {
  expect(fitting('one two three', 8)).toBe('one two…');
  expect(fitting('漢字漢字', 6)).toBe('漢字…');
  expect(ending('one two three', 11)).toBe('… two three');
  expect(ending('one\ntwo', 20)).toBe('one two');
});

test('keys with Control do nothing, and a database that is away is said, not a crash', async () => {
  const away = { approvals: () => Promise.reject(new Error('it is away')), console: { approvals: () => Promise.resolve([]) } };
  const seen: Seen = {
    project: null,
    isReadOnly: false,
    rows: [],
    queue: [],
    sums: { trees: 0, under_way: 0, model: 0, waits: 0 },
    approvals: 1,
    used: [],
    words: new Map(),
    skipped: 0,
    problem: null,
  };
  let frames = 0;
  const desk = new Desk(
    { read: away, write: null } as unknown as ConstructorParameters<typeof Desk>[0],
    seen,
    async () => {},
    () => void frames++,
  );
  const press = (isControl: boolean): unknown =>
    desk.press({ name: 'a', text: isControl ? null : 'a', isControl }, { width: 80, height: 24 });
  press(true);
  await new Promise(setImmediate);
  expect(desk.frame(80, 24).join('\n')).toContain('● live');
  press(false);
  await until(() => desk.frame(80, 24).join('\n').includes('it is away'));
  expect(frames).toBeGreaterThan(0);
});
