// The timers of a program that a test starts: as many times later as TIMES_SLOWER says, so that no limit of its own falls on a busy machine;
// and which of them went off, by how many milliseconds they were set to, a line each in the file WENT_OFF.

/** For node --import. */
export const slowTimers = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from 'node:fs';
  const { TIMES_SLOWER = '1', WENT_OFF } = process.env;
  const set = globalThis.setTimeout;
  const later = (callback, ms = 0, ...given) =>
    set((...args) => {
      if (WENT_OFF) appendFileSync(WENT_OFF, ms + '\\n');
      callback(...args);
    }, ms * Number(TIMES_SLOWER), ...given);
  globalThis.setTimeout = Object.defineProperties(later, Object.getOwnPropertyDescriptors(set));
`)}`;
