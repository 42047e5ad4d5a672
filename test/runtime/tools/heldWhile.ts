// Whether this process could do anything else while it worked: a worker renews its leases meanwhile.

/** Runs it beside a timer. Held: the thread worked on it for longer than it may go without a heartbeat at the shortest lease. */
export async function heldWhile<T>(work: () => Promise<T>): Promise<{ result: T; wasHeld: boolean }> {
  let longest = 0;
  let before = process.threadCpuUsage();
  const beat = (): void => {
    // The thread's own time, not the clock's: on a busy machine it waits, but works no longer.
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(beat, 1);
  try {
    const result = await work();
    beat();
    return { result, wasHeld: longest > MAX_MICROSECONDS };
  } finally {
    clearInterval(timer);
  }
}

const MAX_MICROSECONDS = 1_000_000;
