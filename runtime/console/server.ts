// The console's server: where it listens, and what it opens and closes. routes.ts has its addresses, safety.ts and visitors.ts say who may
// do what.

import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';

import { openChecked } from '../ledger/db.ts';
import type { Person } from '../ledger/pool.ts';
import { UsageError } from '../ledger/errors.ts';
import { untilRefused } from '../ledger/refused.ts';
import { isOwnAddress } from '../ownAddress.ts';
import { Hints } from './events.ts';
import { Primary } from './primary.ts';
import { routes } from './routes.ts';
import { isRefusedName, nameOfUser, Visitors } from './visitors.ts';
import type { Proxy } from './visitors.ts';

export type ConsoleOptions = {
  url: string;
  /** Changes are made there; `url` is read, and is a standby of it. Default: the same. */
  primaryUrl?: string;
  schema: string;
  /** 0: any free port. */
  port: number;
  /** The address to listen on (default: 127.0.0.1). On any but a loopback address, reading requires the token, too. */
  host?: string;
  /** Other host names under which it is reached, as written in a URL; then reading requires the token, too. */
  hostnames?: readonly string[];
  /** Nothing can be changed from this console, whatever the database would allow. */
  isReadOnly?: boolean;
  /** There is no shared token: each person logs in with their own. */
  hasPeople?: boolean;
  /** A proxy says who is logged in, and nobody else is let in. */
  proxy?: Proxy;
  /** Answers at /mcp; it checks callers itself. */
  mcp?: (request: Request) => Response | Promise<Response>;
};

export type Console = {
  port: number;
  /** Without the token. */
  address: string;
  /** The shared token; empty: there is none. */
  token: string;
  /** In whose name the holder of that token acts; null: in nobody's. */
  osUser: string | null;
  /** Others can reach it: reading requires the token. */
  isOpen: boolean;
  /** Resolves with the reason when the ledger was upgraded and no longer serves this program. */
  refused: Promise<Error>;
  close(): Promise<void>;
};

/** Connections for pages to warm up: a new one needs a tenth of a second to compile what assembles a request. */
const WARM_CONNECTIONS = 2;

/** Serves the console until it is closed. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const db = await openChecked(options.url, options.schema, { maximumPoolSize: 4 });
  const streamed = await openChecked(options.url, options.schema, { maximumPoolSize: 2 }); // loading a page does not wait for open streams
  const primary = options.primaryUrl === undefined ? null : new Primary(options.primaryUrl, db);
  const hints = new Hints(options.url);
  const over = new AbortController();
  const hostnames = (options.hostnames ?? []).filter((name) => !isOwnAddress(name));
  const isNamed = options.hasPeople === true || options.proxy !== undefined;
  const isOpen = isNamed || !isOwnAddress(options.host) || hostnames.length > 0;
  const token = isNamed ? null : randomBytes(24).toString('base64url');
  const nameOf = (person: Person): Promise<string | null> =>
    db
      .as(person)
      .personCurrent()
      .catch((error: unknown) => {
        if (isRefusedName(error)) return null;
        throw error;
      });
  let app = new Hono();
  let osUser: string | null = null;
  const server = createAdaptorServer({ fetch: (request, env) => app.fetch(request, env) });
  try {
    if (!isOpen) osUser = await nameOf({ name: nameOfUser() });
    if (options.proxy && (await nameOf({ name: 'proxy' })) === null)
      throw new UsageError(
        'the role that is logged in may not vouch for people, whom the proxy names: grant it the role console, see work_roles_create()',
      );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host ?? '127.0.0.1', resolve);
    });
  } catch (error) {
    await hints.close();
    await streamed.close();
    await db.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const visitors = new Visitors({ token, osUser, port, hostnames, proxy: options.proxy ?? null, nameOf });
  void db.warm(WARM_CONNECTIONS, 'look').catch(() => {}); // without a request, or a database, the first look compiles it
  const { schema, isReadOnly = false, mcp } = options;
  app = routes({ db, streamed, primary, hints, visitors, schema, isReadOnly, isOpen, hostnames, mcp, over: over.signal });
  return {
    port,
    token: token ?? '',
    osUser,
    isOpen,
    refused: untilRefused(db, over.signal),
    address: addressOf(server.address() as AddressInfo),
    async close() {
      over.abort();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
      await hints.close();
      await primary?.close();
      await streamed.close();
      await db.close();
    },
  };
}

/** The address for a browser on this machine; a server that listens everywhere is reached on 127.0.0.1, too. */
const addressOf = ({ address, family, port }: AddressInfo): string =>
  `http://${/^(0\.0\.0\.0|::)$/.test(address) ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address}:${port}/`;
