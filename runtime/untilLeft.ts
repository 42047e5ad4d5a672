// Waits for code that a program supplied (a tool, a model client), which may ignore its abort signal.

/** How long the work may take to end after the signal has fired: enough to stop a container. */
const LEAVE_MS = 10_000;

/** The result of `work`; null if the signal has fired and the work did not end in time: it is no longer awaited. */
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
