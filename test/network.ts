// Hosts in one machine: network namespaces, each with a cable of its own to here, over which it reaches the servers of a test and nothing
// else.

import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { AddressInfo, NetConnectOpts, Server, Socket } from 'node:net';

const ip = (...words: string[]): void => void execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Why there can be no such hosts here; null: there can. */
export function noHosts(): string | null {
  const name = `wl-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('netns', 'del', name);
    return null;
  } catch (error) {
    try {
      ip('netns', 'del', name);
    } catch {
      // it was not made
    }
    return String((error as { stderr?: Buffer }).stderr ?? error).trim();
  }
}

export type Host = {
  name: string;
  /** The words that start a command there: they go before it. */
  within: string[];
  /** Where a server of the test is reached from there. `onChunk` is told what arrives from there. */
  reach(server: NetConnectOpts, onChunk?: (chunk: Buffer) => void): Promise<{ address: string; port: number }>;
  /** Pulls the cable: what is sent goes nowhere, and neither side is told. */
  cut(): void;
  /** Plugs it in again: what was sent meanwhile is sent again by the kernel. */
  mend(): void;
  remove(): Promise<void>;
};

export function makeHost(name: string): Host {
  const space = `wl-${name}-${randomInt(1e6)}`;
  const cable = `wl${randomInt(1e9).toString(36)}`; // at most 15 characters
  const net = `100.${64 + randomInt(64)}.${randomInt(256)}`; // the range for carriers: nobody else's here
  const [here, there] = [`${net}.1`, `${net}.2`];
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  ip('netns', 'add', space);
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
  ip('addr', 'add', `${here}/30`, 'dev', cable);
  ip('link', 'set', cable, 'up');
  for (const words of [
    ['addr', 'add', `${there}/30`, 'dev', 'eth0'],
    ['link', 'set', 'eth0', 'up'],
    ['link', 'set', 'lo', 'up'],
  ])
    ip('-n', space, ...words);
  return {
    name,
    within: ['ip', 'netns', 'exec', space],
    async reach(target, onChunk) {
      const server = createServer((client) => {
        const upstream = connect(target);
        for (const socket of [client, upstream]) {
          sockets.add(socket);
          socket.on('error', () => {}).once('close', () => sockets.delete(socket));
        }
        if (onChunk) client.on('data', onChunk);
        client.pipe(upstream).pipe(client);
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, here, resolve));
      return { address: here, port: (server.address() as AddressInfo).port };
    },
    cut: () => ip('link', 'set', cable, 'down'),
    mend: () => ip('link', 'set', cable, 'up'),
    async remove() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      ip('link', 'del', cable);
      ip('netns', 'del', space);
    },
  };
}
