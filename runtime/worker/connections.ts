// How many connections a worker opens.

/** For graphile-worker: one to listen and one for everything else. */
export const JOB_CONNECTIONS = 2;

/** The most that a worker opens: for its work, its heartbeat, its listener and graphile-worker, and for the export of traces. */
export const connectionsOf = (concurrency: number, isTraced = false): number => concurrency + 2 + JOB_CONNECTIONS + (isTraced ? 1 : 0);
