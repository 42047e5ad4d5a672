// What the context bench counts by itself, without the engine: the ideal against trying every choice, and lost edits.

import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { RecordedRun } from '../../../plv8/readers/recordedRun.ts';
import { editsOf, Lines, losses, readTexts } from './edits.ts';
import type { Request, Text } from './edits.ts';
import { ideal } from './ideal.ts';
import type { Exchange, Sizes } from './ideal.ts';

const tokens = fc.integer({ min: 1, max: 500 });
const exchange = fc.record({
  said: tokens,
  response: tokens,
  bare: fc.constant(1),
  results: tokens,
  boundary: fc.constantFrom('before' as const, 'after' as const, null),
});

/** Every set of boundaries at which something leaves, one by one. */
function cheapest(sizes: Sizes): number {
  const marks = sizes.exchanges.slice(0, -1).flatMap(({ boundary }, n) => (boundary === null ? [] : [n]));
  const sets = Array.from({ length: 2 ** marks.length }, (_, set) => new Set(marks.filter((_mark, i) => (set >> i) % 2 === 1)));
  return Math.min(...sets.map((cuts) => costOf(sizes, cuts)));
}

function costOf({ prefix, stubs, exchanges }: Sizes, cuts: Set<number>): number {
  const head = prefix + (exchanges[0]?.said ?? 0);
  let [cost, before, gone, cutAt, stubsEnd] = [0, 0, 0, -1, head];
  for (const [n, one] of exchanges.entries()) {
    const last = exchanges[n - 1];
    let cached = before;
    if (last && cuts.has(n - 1)) {
      const from = last.boundary === 'before' ? n - 1 : n;
      if (from === gone) return Infinity;
      cached = stubsEnd;
      [gone, cutAt] = [from, n];
      stubsEnd = head + (stubs ?? []).slice(0, last.closed_blocks).reduce((sum, stub) => sum + stub, 0);
    }
    let size = stubsEnd + (n === 0 ? 0 : one.said);
    for (let i = gone; i < n; i++)
      size += (i === 0 ? 0 : exchanges[i]!.said) + (i < cutAt ? exchanges[i]!.bare : exchanges[i]!.response) + exchanges[i]!.results;
    cost += 0.1 * cached + 1.25 * (size - cached);
    before = size;
  }
  return cost;
}

test('the ideal is the cheapest of all choices of cuts', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 9 }), tokens, (list, prefix) => {
      let closed = 0;
      const exchanges: Exchange[] = list.map((one) => ({
        ...one,
        chars: one.response + one.results,
        closed_blocks: one.boundary === null ? closed : ++closed,
        step_output: 0,
      }));
      const sizes = { prefix, per_char: 1, stubs: exchanges.map(() => 20), exchanges };
      expect(ideal(sizes, 0).cost).toBeCloseTo(cheapest(sizes), 6);
      expect(ideal(sizes, 100).cost).toBeGreaterThanOrEqual(ideal(sizes, 0).cost - 1e-6);
    }),
  );
});

test('an edit is lost when its old text stood in the context and is gone; a file read again is there for the next one', () => {
  const call = (name: string, input: unknown, result: string) => ({ name, input, result, isError: false });
  const old = 'const first = compute(1);\nconst second = compute(2);';
  const run = {
    exchanges: [
      { calls: [call('Read', { file_path: '/a.ts' }, `1→${old}\n2→${'x'.repeat(4000)}`)] },
      { calls: [call('Bash', { command: 'ls' }, 'a.ts')] },
      { calls: [call('Edit', { file_path: '/a.ts', old_string: old, new_string: 'one' }, 'ok')] },
      { calls: [call('Edit', { file_path: '/a.ts', old_string: old, new_string: 'two' }, 'ok')] },
      { calls: [call('Edit', { file_path: '/b.ts', old_string: 'a line that nobody has seen', new_string: '' }, 'ok')] },
      {
        calls: [
          call(
            'apply_patch',
            '*** Begin Patch\n*** Update File: /a.ts\n@@\n-const first = compute(1);\n+const first = 1;\n*** End Patch',
            'ok',
          ),
        ],
      },
    ],
  } as unknown as RecordedRun;
  const edits = editsOf(run, 0.25);
  expect(edits.map(({ exchange: n, file, lines }) => [n, file, lines.length])).toEqual([
    [2, '/a.ts', 2],
    [3, '/a.ts', 2],
    [4, '/b.ts', 1],
    [5, '/a.ts', 1],
  ]);
  expect(edits[0]?.fileTokens).toBe(Math.ceil((old.length + 4000 + 5) * 0.25));

  const known = new Map<string, Text>();
  const task = readTexts(known, '{"type":"text","text":"Fix it"}');
  const read = readTexts(known, JSON.stringify({ type: 'tool_result', tool_use_id: 'a', content: run.exchanges[0]?.calls[0]?.result }));
  const other = readTexts(known, '{"type":"tool_result","tool_use_id":"b","content":"a.ts"}');
  const said = readTexts(known, '{"type":"text","text":"I change it."}');
  const request = (texts: Text[], depths: (number | null)[]): Request => ({ inputTokens: 1000, cachedParts: texts.length, depths, texts });
  const whole = run.exchanges.map((_, n) => request([task, read, other].slice(0, n + 1), [null, 0, 1].slice(0, n + 1)));
  expect(losses(edits, whole, whole, new Lines())).toMatchObject({ edits: 4, visible: 3, lost: 0, never_seen: 1, extra_cost: 0 });
  // The result leaves with the third request; at the last one everything has left.
  const cut = whole.map((one, n) =>
    n < 2
      ? one
      : n === 2
        ? request([task, other], [null, 1])
        : n < 5
          ? request([task, other, said], [null, 1, 2])
          : request([task], [null]),
  );
  const lost = losses(edits, cut, whole, new Lines());
  expect(lost).toMatchObject({ visible: 1, lost: 2, never_seen: 1 });
  const file = edits[0]!.fileTokens + 100;
  expect(lost.extra_cost).toBeCloseTo(
    0.1 * 1000 + 1.25 * file + 500 + 2 * 0.1 * file + (0.1 * 1000 + 1.25 * (edits[3]!.fileTokens + 100) + 500),
    6,
  );
});
