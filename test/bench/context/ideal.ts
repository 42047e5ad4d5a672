// The least that a policy of eliding can cost, as plain arithmetic: the cheapest of all choices of boundaries at which it
// may cut, found with the whole run known beforehand. No engine decides here; only the sizes come from one.

export type Exchange = {
  said: number;
  response: number;
  /** The response without its thinking, as it stands behind a cut. */
  bare: number;
  results: number;
  /** Response and results, as elide_budget counts them. */
  chars: number;
  /** Where the exchange closes a block: before itself, or after. */
  boundary: 'before' | 'after' | null;
  closed_blocks: number;
  step_output: number;
};
export type Sizes = { prefix: number; per_char: number; stubs: number[] | null; exchanges: Exchange[] };
export type Cost = { input_tokens: number; cost: number };

/** Tokens of input: read from the cache, written to it; of output. */
export const prices = { read: 0.1, write: 1.25, output: 5 };

type Cut = { at: number; from: number; base: number; stubsEnd: number; chars: number };

export function ideal(sizes: Sizes, budget: number): Cost {
  const { exchanges } = sizes;
  const verbatim = running(exchanges.map((one, n) => (n === 0 ? 0 : one.said) + one.response + one.results));
  const chars = running(exchanges.map((one) => one.chars));
  const stubs = running(sizes.stubs ?? []);
  const head = sizes.prefix + (exchanges[0]?.said ?? 0);
  const sizeAt = (n: number, cut: Cut): number => cut.base + at(verbatim, n) - at(verbatim, cut.at) + (n === 0 ? 0 : at(exchanges, n).said);
  const request = (cached: number, size: number): number => prices.read * cached + prices.write * (size - cached);
  const whole: Cut = { at: 0, from: 0, base: head, stubsEnd: head, chars: 0 };
  const cuts = exchanges.slice(0, -1).flatMap(({ boundary, said, bare, results, closed_blocks: closed }, n): Cut[] => {
    const from = boundary === 'before' ? n : n + 1;
    if (boundary === null || from === 0) return [];
    const stubsEnd = head + at(stubs, closed);
    return [{ at: n + 1, from, base: stubsEnd + (boundary === 'before' ? said + bare + results : 0), stubsEnd, chars: at(chars, from) }];
  });

  /** The requests that follow a cut, until the next one. */
  const follow = (cut: Cut, to: number): Cost => {
    const sum = { input_tokens: 0, cost: 0 };
    for (let n = cut.at + 1; n < to; n++) {
      sum.cost += request(sizeAt(n - 1, cut), sizeAt(n, cut));
      sum.input_tokens += sizeAt(n, cut);
    }
    return sum;
  };
  const first = sizeAt(0, whole);
  const best: { cut: Cut; cost: number; input_tokens: number }[] = [{ cut: whole, cost: request(0, first), input_tokens: first }];
  const ends = (before: (typeof best)[number], to: number): Cost => {
    const followed = follow(before.cut, to);
    return { cost: before.cost + followed.cost, input_tokens: before.input_tokens + followed.input_tokens };
  };
  const cheapest = (all: Cost[]): Cost | undefined => all.toSorted((a, b) => a.cost - b.cost)[0];
  for (const cut of cuts) {
    const found = cheapest(
      best
        .filter((before) => Math.ceil((cut.chars - before.cut.chars) * sizes.per_char) > budget)
        .map((before) => {
          const until = ends(before, cut.at);
          const size = sizeAt(cut.at, cut);
          return { cost: until.cost + request(before.cut.stubsEnd, size), input_tokens: until.input_tokens + size };
        }),
    );
    if (found) best.push({ cut, ...found });
  }
  const end = cheapest(best.map((before) => ends(before, exchanges.length))) ?? { cost: 0, input_tokens: 0 };
  return { input_tokens: end.input_tokens, cost: end.cost + prices.output * exchanges.reduce((sum, one) => sum + one.step_output, 0) };
}

/** Sums of the first n. */
function running(numbers: readonly number[]): number[] {
  let sum = 0;
  return [0, ...numbers.map((one) => (sum += one))];
}

function at<T>(list: readonly T[], n: number): T {
  const found = list[n];
  if (found === undefined) throw new Error(`there is no ${n} of ${list.length}`);
  return found;
}
