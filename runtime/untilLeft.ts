// Waiting for what a program brought along (a tool, a client of a model), which may not heed its signal.

/** How long it may take to end by itself once the signal has fired: enough to stop a container. */
const LEAVE_MS = 10_000;

/** What `work` comes to; null: its signal has fired, it did not end, and nobody waits for it any more. */
export async function untilLeft<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise: left, resolve } = Promise.withResolvers<null>();
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => void (timer = setTimeout(resolve, LEAVE_MS, null));
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
