// LISTEN with reconnection. A notification is only a hint: a listener reads again after each hint, after each
// (re)connection, since hints may have been missed, and every few seconds as well.

import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { connect } from './connection.ts';

export type Listener = { close(): Promise<void> };

/** Listens until closed. Calls `onNotification(channel, payload)` at each hint, `onConnected()` whenever hints may have been missed. */
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
      try {
        const made = await connect({ connectionString: url, application_name: 'work-ledger listener', keepAlive: true });
        client = made;
        const ended = new Promise<void>((resolve) => {
          made.once('end', resolve);
          made.once('error', () => resolve());
        });
        made.on('notification', (message) => handlers.onNotification(message.channel, message.payload ?? ''));
        for (const channel of channels) await made.query(`listen ${made.escapeIdentifier(channel)}`);
        if (!isClosed()) {
          handlers.onConnected?.();
          delay = 100;
          await ended;
        }
      } catch {
        // refused or broken: again below
      }
      await client?.end().catch(() => {});
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
