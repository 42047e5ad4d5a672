// The number of connections that a worker opens.

/** Connections of graphile-worker: one to listen and one for everything else. */
export const JOB_CONNECTIONS = 2;

/**
 * The most connections that a worker opens: for its work, its heartbeat, its listener and graphile-worker, and one for each kind of
 * telemetry that it exports or serves.
 */
export const connectionsOf = (concurrency: number, exports = 0): number => concurrency + 2 + JOB_CONNECTIONS + exports;
