// The limits of a worker's options. In a separate file so that the command line can name them without loading a worker.

/** The same limit as in lease_renew(). */
export const MOST_AT_ONCE = 10_000;
/** The longest lease, and the longest wait for iterations at shutdown: one day. */
export const LONGEST_SECONDS = 86_400;
