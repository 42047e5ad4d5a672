// Chance that can be played again: SEED=… gives the same numbers, and the titles of tests that use it say which it was.

export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

/** Evenly spread numbers between 0 and 1. */
export function seededRandom(): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
