// Returns memory to the system while a command waits. V8 collects garbage as a process allocates, so one that waits keeps what its start
// or its last work took: a fifth of an idle worker.

import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (how: { type: 'major'; flavor: 'last-resort' }) => void;

/** The share of the time in which a process that waits does something: heartbeats, sweeps. */
const WAITING = 0.05;
/** A collection blocks for about 0.1 s. The heap must have grown by this much since the last one. */
const WORTH_BYTES = 8_000_000;

/** From now on, for as long as the process lives. */
export function trimMemory(everyMs = 15_000): void {
  let before = performance.eventLoopUtilization();
  let left = 0;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > WAITING || getHeapStatistics().total_heap_size < left + WORTH_BYTES) return;
    const collect = exposed();
    if (!collect) return clearInterval(timer);
    collect({ type: 'major', flavor: 'last-resort' });
    left = getHeapStatistics().total_heap_size;
  }, everyMs).unref();
}

/** V8's own function; Node has none for this. Undefined: this version of V8 does not show it. */
function exposed(): Collect | undefined {
  setFlagsFromString('--expose-gc');
  return runInNewContext('globalThis.gc') as Collect | undefined;
}
