// How many connections a worker opens.

/** Of graphile-worker: one to listen and one for everything else. */
export const JOB_CONNECTIONS = 2;

/** What a worker opens at most: for its work, its heartbeat, its hints and graphile-worker. */
export const connectionsOf = (concurrency: number): number => concurrency + 2 + JOB_CONNECTIONS;
