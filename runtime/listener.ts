// LISTEN with reconnection. A notification is a hint only: whoever listens reads again at each hint, after each
// (re)connection, when what was missed is unknown, and every few seconds besides.

import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

export type Listener = { close(): Promise<void> };

/** Listens until closed. `onNotification(channel, payload)` at each hint, `onConnected()` whenever hints may have been missed. */
export function listen(
  url: string,
  channels: readonly string[],
  handlers: { onNotification(channel: string, payload: string): void; onConnected?(): void },
): Listener {
  let client: pg.Client | undefined;
  let closed = false;
  const isClosed = (): boolean => closed;
  const done = loop();

  async function loop(): Promise<void> {
    for (let delay = 100; ; delay = Math.min(delay * 2, 5000)) {
      client = new pg.Client({ connectionString: url, application_name: 'work-ledger listener', keepAlive: true });
      const ended = new Promise<void>((resolve) => {
        client?.once('end', resolve);
        client?.once('error', () => resolve());
      });
      client.on('error', () => {}); // a broken connection ends the wait below
      client.on('notification', (message) => handlers.onNotification(message.channel, message.payload ?? ''));
      try {
        await client.connect();
        for (const channel of channels) await client.query(`listen ${client.escapeIdentifier(channel)}`);
        handlers.onConnected?.();
        delay = 100;
        await ended;
      } catch {
        await client.end().catch(() => {});
      }
      if (isClosed()) return;
      await sleep(delay);
      if (isClosed()) return;
    }
  }

  return {
    async close() {
      closed = true;
      await client?.end().catch(() => {});
      await done;
    },
  };
}
