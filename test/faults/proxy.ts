// A TCP proxy on 127.0.0.1 that breaks connections where it is told to: to Postgres, to the model's server, to the Docker socket.

import { connect, createServer } from 'node:net';
import type { AddressInfo, NetConnectOpts, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What becomes of a chunk that a client sends. cut_before: it does not arrive, and the connection breaks. cut_after: it arrives, is
 * acted on, and the connection breaks when the reply begins. black_hole: from here on nothing passes in either direction, and neither side
 * is told. drip: the reply passes a few bytes at a time.
 */
export type Cut = 'cut_before' | 'cut_after' | 'black_hole' | 'drip';

export type Proxy = {
  port: number;
  /** Does this to the next chunk of any connection that holds the text, or to the next at all; resolves when it has happened. */
  cutNext(cut: Cut, text?: string): Promise<void>;
  /** Every connection is a black hole, those that are opened later too, until cutAll(). */
  silence(): void;
  /** Breaks every connection, those in a black hole too. */
  cutAll(): void;
  close(): Promise<void>;
};

type Order = { cut: Cut; text: string; done: () => void };

export async function startProxy(target: NetConnectOpts): Promise<Proxy> {
  const orders: Order[] = [];
  const sockets = new Set<Socket>();
  const silences = new Set<() => void>();
  let isSilent = false;
  const take = (chunk: Buffer): Cut | null => {
    const n = orders.findIndex(({ text }) => chunk.includes(text));
    if (n < 0) return null;
    const [order] = orders.splice(n, 1);
    order?.done();
    return order?.cut ?? null;
  };
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    }
    const silence = pass(client, upstream, take);
    if (isSilent) silence();
    silences.add(silence);
    client.once('close', () => silences.delete(silence));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    isSilent = false;
    sockets.forEach((socket) => socket.destroy());
  };
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (cut, text = '') => new Promise((done) => orders.push({ cut, text, done })),
    silence() {
      isSilent = true;
      silences.forEach((silence) => silence());
    },
    cutAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  };
}

/** Returns what makes it a black hole. */
function pass(client: Socket, upstream: Socket, take: (chunk: Buffer) => Cut | null): () => void {
  let state: Cut | null = null;
  const breakOff = (): void => {
    client.destroy();
    upstream.destroy();
  };
  client.on('data', (chunk) => {
    if (state === 'black_hole') return;
    state = take(chunk) ?? (state === 'drip' ? null : state);
    if (state === 'cut_before') breakOff();
    else if (state !== 'black_hole') upstream.write(chunk);
  });
  let replies = Promise.resolve();
  upstream.on('data', (chunk) => {
    if (state === 'black_hole') return;
    if (state === 'cut_after') return breakOff();
    const slowly = state === 'drip';
    replies = replies.then(() => (slowly ? drip(client, chunk) : void client.write(chunk)));
  });
  client.once('end', () => state !== 'black_hole' && upstream.end());
  upstream.once('end', () => state !== 'black_hole' && void replies.then(() => client.end()));
  client.once('close', () => state !== 'black_hole' && upstream.destroy());
  upstream.once('close', () => state !== 'black_hole' && void replies.then(() => client.destroy()));
  return () => (state = 'black_hole');
}

const DRIPS = 20;

async function drip(client: Socket, chunk: Buffer): Promise<void> {
  const size = Math.max(1, Math.ceil(chunk.length / DRIPS));
  for (let at = 0; at < chunk.length && !client.destroyed; at += size) {
    client.write(chunk.subarray(at, at + size));
    await sleep(5);
  }
}
