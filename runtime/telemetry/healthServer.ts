// The worker's small HTTP server: it serves health.ts and nothing else.

import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isIPv6 } from 'node:net';

import type { Logger } from 'pino';

import { openChecked } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { isOwnAddress, isOwnHost } from '../ownAddress.ts';
import type { Counted } from './counted.ts';
import { healthOf } from './health.ts';
import type { Health } from './health.ts';

/** Where to listen; port 0: any unused port. */
export type Listening = { host: string; port: number };

/** Parses "9464", "0.0.0.0:9464", "[::]:9464". Without an address, only programs on this machine can reach it. */
export function listeningAt(text: string): Listening {
  const [, bracketed, plain, digits] = /^(?:(?:\[([\da-f:.]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits ?? Number.NaN);
  if (!(port <= 65_535)) throw new UsageError(`"${text}" is not [ADDRESS:]PORT, such as 9464 or 0.0.0.0:9464`);
  return { host: bracketed ?? plain ?? '127.0.0.1', port };
}

/** Uses a separate connection, so that requests do not wait for work, nor work for requests. */
export async function startHealth(
  at: Listening,
  { url, schema, log, ...about }: { url: string; schema: string; log: Logger; counted: Counted | null; isStopping: () => boolean },
): Promise<HealthServer> {
  const db = await openChecked(url, schema, { maximumPoolSize: 1, patienceMs: 0 });
  try {
    const server = await serveHealth(healthOf({ db, writes: true, ...about }), at);
    log.info({ address: server.address }, 'answers /metrics, /healthz and /readyz');
    return { ...server, close: () => server.close().then(() => db.close()) };
  } catch (error) {
    await db.close();
    throw error;
  }
}

export type HealthServer = { address: string; close(): Promise<void> };

export async function serveHealth(health: Health, { host, port }: Listening): Promise<HealthServer> {
  const isOwn = isOwnAddress(host);
  const server = createServer((request, response) => void answer(health, isOwn, request, response));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve)).catch((error: unknown) => {
    throw new UsageError(`--http: ${error instanceof Error ? error.message : String(error)}`);
  });
  const at = server.address() as AddressInfo;
  return {
    address: `http://${isIPv6(at.address) ? `[${at.address}]` : at.address}:${at.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(health: Health, isOwn: boolean, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').replace(/\?.*$/, '');
  // Rejects a web page whose domain resolves to this machine.
  if (isOwn && !isOwnHost(request.headers.host ?? '')) return end(response, 403, 'not by this name\n');
  if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, 'GET only\n', { allow: 'GET, HEAD' });
  const found = await health.answer(path);
  if (found === null) return end(response, 404, 'here are /metrics, /healthz, /readyz\n');
  end(response, found.status, request.method === 'HEAD' ? '' : await found.text(), Object.fromEntries(found.headers));
}

function end(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
}
