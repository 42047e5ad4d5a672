// Limits of time that a process sets itself, for an answer that it cannot wait for: what of them a test can say without a clock. For
// node --import.

/** Limits of so many milliseconds are never over, however slow the machine is. */
export const patient = (...limits: number[]): string =>
  preload(`
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (act, ms, ...more) => setTimeout(act, ${JSON.stringify(limits)}.includes(ms) ? 2 ** 31 - 1 : ms, ...more);
`);

/** Writes each limit that is over into the file OVER, a line each: for how long a process has waited, by itself. */
export const noting = preload(`
  import { appendFileSync } from 'node:fs';
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (act, ms, ...more) => setTimeout(() => (appendFileSync(process.env.OVER, ms + '\\n'), act(...more)), ms);
`);

function preload(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
