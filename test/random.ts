// Chance that can be played again: the same seed gives the same numbers.

/** SEED=… of the environment, or one by chance; titles and scorecards say which it was. */
export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

/** Evenly spread numbers between 0 and 1. `stream`: another row of them from the same seed, for whoever draws at times of its own. */
export function seededRandom(from = seed, stream = 0): () => number {
  let state = (from ^ Math.imul(stream, 0x9e3779b1)) >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
