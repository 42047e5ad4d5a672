// For operations that stop cleanly at Ctrl-C, at a point where nothing is half done.

/** The signal fires at the first Ctrl-C or SIGTERM; the next one ends the process at once. */
export async function stoppable<T>(use: (stopped: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController();
  const stop = (): void => {
    for (const name of signals) process.removeListener(name, stop);
    stopped.abort();
  };
  for (const name of signals) process.on(name, stop);
  try {
    return await use(stopped.signal);
  } finally {
    for (const name of signals) process.removeListener(name, stop);
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const;
