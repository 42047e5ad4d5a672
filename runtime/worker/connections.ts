// How many connections a worker opens.

/** For graphile-worker: one to listen and one for everything else. */
export const JOB_CONNECTIONS = 2;

/**
 * The most that a worker opens: for its work, its heartbeat, its listener and graphile-worker, and one for each kind of telemetry that it
 * exports or answers.
 */
export const connectionsOf = (concurrency: number, exports = 0): number => concurrency + 2 + JOB_CONNECTIONS + exports;
