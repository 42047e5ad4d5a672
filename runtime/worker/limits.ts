// What a worker may be told; the command line says it, too, and loads no worker for it.

/** As lease_renew() has it. */
export const MOST_AT_ONCE = 10_000;
/** Of a lease, or of what is waited for at the end: a day. */
export const LONGEST_SECONDS = 86_400;
