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

/** How long what only looks may take to end after a signal. */
const LEAVE_MS = 3000;

/**
 * Waits for work that leaves nothing half done. If it has not ended soon after `signal` fired, the process ends with `code()`: a frozen
 * database never answers.
 */
export async function soonOver<T>(work: Promise<T>, signal: AbortSignal, code: () => number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    timer = setTimeout(() => process.exit(code()), LEAVE_MS); // oxlint-disable-line unicorn/no-process-exit -- its connections would keep it
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const;
