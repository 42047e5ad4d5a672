// LISTEN with reconnection. A notification is only a hint: a listener reads again after each hint and each (re)connection, since hints may
// have been missed, and every few seconds as well. A standby sends no notifications: there the connection waits until it is promoted. Nor
// does a pooler: there the listener polls, unless it knows the server's own address (listenAt). An item sends at most ten hints of appends
// a second: what is appended within 100 ms of a hint (on a busy server, within a second) gets none of its own. So each hint of appends is
// repeated twice, and the end of a burst is not delayed until the next poll.

import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { keepSecret } from '../secrets/known.ts';
import { passwordsOf } from './address.ts';
import { connect, withConnection } from './connection.ts';

const STANDBY_MS = 5000;
const POLL_MS = 2000;

export type Listener = { close(): Promise<void> };

/** Slightly longer than the intervals in which appends may get no hint of their own. */
const AGAIN_MS = [200, 1200];

/** The addresses where the notifications of a database are received, if not at its own. */
const addresses = new Map<string, string>();

/**
 * From now on the notifications of the database at `url`, a pooler, are received at `address`: the server's own, or that of a pooler in
 * session mode.
 */
export function listenAt(url: string, address: string): void {
  passwordsOf(address).forEach(keepSecret);
  addresses.set(url, address);
}

/** Whether a pooler is in front of the database, and where its notifications are received; null: nowhere, it is polled. */
export const hearing = (url: string): Promise<{ isPooled: boolean; at: string | null }> =>
  withConnection({ connectionString: url }, async ({ isPooled }) => ({ isPooled, at: addresses.get(url) ?? (isPooled ? null : url) }));

/**
 * Listens until closed. Calls `onNotification(channel, payload)` at each hint, and `onConnected()` whenever hints may have been missed
 * (while polling, every 2 s).
 */
export function listen(
  url: string,
  channels: readonly string[],
  handlers: { onNotification(channel: string, payload: string): void; onConnected?(): void },
): Listener {
  let client: pg.Client | undefined;
  const closing = new AbortController();
  const { signal } = closing;
  const again = new Map<string, NodeJS.Timeout[]>();
  const done = loop();

  async function loop(): Promise<void> {
    for (let delay = 100; ; delay = Math.min(delay * 2, 5000)) {
      try {
        const made = await connect({
          connectionString: addresses.get(url) ?? url,
          application_name: 'work-ledger listener',
          keepAlive: true,
        });
        client = made;
        if (made.isPooled && !addresses.has(url)) {
          await made.end();
          return await poll();
        }
        const ended = new Promise<void>((resolve) => {
          made.once('end', resolve);
          made.once('error', () => resolve());
        });
        made.on('notification', ({ channel, payload = '' }) => {
          handlers.onNotification(channel, payload);
          if (channel === 'work_ledger') hintAgain(payload);
        });
        while (await isStandby(made)) await sleep(STANDBY_MS, undefined, { signal });
        for (const channel of channels) await made.query(`listen ${made.escapeIdentifier(channel)}`);
        if (!signal.aborted) {
          handlers.onConnected?.();
          delay = 100;
          await ended;
        }
      } catch {
        // refused or broken: retried below
      }
      await client?.end().catch(() => {});
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  }

  async function poll(): Promise<void> {
    for (; !signal.aborted; await sleep(POLL_MS, undefined, { signal }).catch(() => {})) handlers.onConnected?.();
  }

  function hintAgain(workItemId: string): void {
    for (const timer of again.get(workItemId) ?? []) clearTimeout(timer);
    if (signal.aborted) return;
    again.set(
      workItemId,
      AGAIN_MS.map((ms) => setTimeout(() => handlers.onNotification('work_ledger', workItemId), ms).unref()),
    );
    again.get(workItemId)?.push(setTimeout(() => again.delete(workItemId), Math.max(...AGAIN_MS)).unref());
  }

  return {
    async close() {
      closing.abort();
      for (const timer of [...again.values()].flat()) clearTimeout(timer);
      await client?.end().catch(() => {});
      await done;
    },
  };
}

const isStandby = async (client: pg.Client): Promise<boolean> =>
  (await client.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')).rows[0]?.is_standby ?? false;
