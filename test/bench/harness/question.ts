// How a question is asked: variants take turns within one run, so that a slow minute of the machine hits all of them alike, and
// what counts is their ratio, round by round. A file of test/bench is a question and exports it under the file's name.

export type Options = {
  /** Seconds instead of minutes: smaller sizes, fewer rounds. */
  quick: boolean;
  /** Where recorded runs are. */
  runs: string;
  /** A clone of absurd, whose SQL is not on npm; null: left out. */
  absurd: string | null;
  /** Recorded runs get a step after so many calls. */
  closeEvery: number;
  /** For people, while it runs. */
  say: (text: string) => void;
};

export type Question = {
  asks: string;
  /** What `at` counts, where lines grow. */
  axis?: string;
  /** `files`: of each file that was read, for scripts. */
  measure: (options: Options) => Promise<Line[] | { lines: Line[]; files: object[] }>;
};

/** One figure: a median with the middle half of its values. */
export type Line = {
  name: string;
  /** Which of several figures of the same variant: steps/s, bytes, ms. */
  unit: string;
  at?: number;
  count: number;
  median: number;
  low: number;
  high: number;
  /** CPU of the server for each, in microseconds. */
  cpu?: number;
  /** Against lines of the same unit and at. */
  against?: Ratio[];
};

/** `cpu`: of what both took of it. */
export type Ratio = { of: string; median: number; low: number; high: number; cpu?: number };

export type Result = {
  question: string;
  asks: string;
  axis?: string;
  /** The day, UTC. */
  date: string;
  machine: string;
  isQuick: boolean;
  lines: Line[];
  files?: object[];
};

/** One value of a round, and the CPU of the server for it in microseconds where it can be told. */
export type Sample = { value: number; cpu?: number | null };

/** Every variant once a round; a round begins with another one than the round before. */
export async function takeTurns<T>(rounds: number, variants: Readonly<Record<string, () => Promise<T>>>): Promise<Map<string, T[]>> {
  const names = Object.keys(variants);
  const samples = new Map<string, T[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const n of names.keys()) {
      const name = names[(round + n) % names.length] ?? '';
      samples.get(name)?.push(await variants[name]!());
    }
  }
  return samples;
}

/** One of the figures that each turn gave. */
export function pick<T, Value>(samples: ReadonlyMap<string, readonly T[]>, of: (turn: T) => Value): Map<string, Value[]> {
  return new Map([...samples].map(([name, turns]) => [name, turns.map(of)]));
}

/** The lines of variants that took turns; `of`: the variant that the others are compared with, or those that each is. */
export function linesOf(
  samples: ReadonlyMap<string, readonly (number | Sample)[]>,
  told: { unit: string; of?: string | Readonly<Record<string, string | readonly string[]>>; at?: number },
): Line[] {
  const valuesOf = (name: string): number[] =>
    (samples.get(name) ?? []).map((sample) => (typeof sample === 'number' ? sample : sample.value));
  const cpusOf = (name: string): (number | null)[] =>
    (samples.get(name) ?? []).map((sample) => (typeof sample === 'number' ? null : (sample.cpu ?? null)));
  return [...samples].map(([name]) => {
    const of = [(typeof told.of === 'string' ? told.of : told.of?.[name]) ?? []].flat();
    const against = of
      .filter((other) => other !== name && samples.has(other))
      .map((other) => {
        const [base, baseCpus] = [valuesOf(other), cpusOf(other)];
        const ratios = cpusOf(name).flatMap((cpu, round) => (cpu === null || baseCpus[round] == null ? [] : [cpu / baseCpus[round]]));
        return {
          of: other,
          ...spread(valuesOf(name).map((value, round) => value / (base[round] ?? Number.NaN))),
          ...(ratios.length > 0 && { cpu: median(ratios) }),
        };
      });
    const cpus = cpusOf(name).filter((cpu) => cpu !== null);
    return {
      ...lineOf(name, told.unit, valuesOf(name), told.at),
      ...(cpus.length > 0 && { cpu: spread(cpus).median }),
      ...(against.length > 0 && { against }),
    };
  });
}

export const lineOf = (name: string, unit: string, values: readonly number[], at?: number): Line => ({
  name,
  unit,
  ...(at !== undefined && { at }),
  count: values.length,
  ...spread(values),
});

/** A figure against another one, both measured once or too unlike to take turns. */
export const against = (line: Line, base: Line): Line => ({
  ...line,
  against: [
    ...(line.against ?? []),
    { of: base.name, median: line.median / base.median, low: line.low / base.high, high: line.high / base.low },
  ],
});

export function spread(values: readonly number[]): { median: number; low: number; high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)] ?? Number.NaN;
    return below + ((sorted[Math.ceil(place)] ?? below) - below) * (place % 1);
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}

export const median = (values: readonly number[]): number => spread(values).median;

/** Milliseconds that it takes. */
export async function timed(use: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await use();
  return performance.now() - startedAt;
}

/** Three digits that count, and no more than thousands need. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3);
}
