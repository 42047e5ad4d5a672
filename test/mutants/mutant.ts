/** One guard of the house, taken away: `from`, which occurs once in `file`, is replaced by `to`, and then `test` must fail. */
export type Mutant = {
  /** What is broken, as a sentence. */
  name: string;
  file: string;
  from: string;
  to: string;
  /** A pgTAP file, or a vitest file. */
  test: string;
  /** Of a vitest file: which of its tests, by a part of their titles. */
  title?: string;
};
