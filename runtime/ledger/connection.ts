// Single connections to the server. A connection without a listener for its errors ends the process when the server goes
// away, so connections are made in this file only.

import pg from 'pg';

/** Opens a connection; the caller ends it. A connection that breaks rejects its open queries, and does nothing else. */
export async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionTimeoutMillis: 10_000, ...options });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** Opens a connection for the duration of `use`. */
export async function withConnection<T>(options: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(options);
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
