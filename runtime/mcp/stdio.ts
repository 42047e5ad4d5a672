// MCP over stdio, for the one client that started this process. Only the protocol goes to stdout. A client that starts many servers waits
// for none of them, so the tools that every ledger offers are listed before the database is queried or even reached.

import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import { singleMessages } from './messages.ts';
import { Service } from './server.ts';
import type { Seat, ServiceOptions } from './server.ts';

/** How soon a session that the client went on to counts as alive, if no call says so before. */
const ATTEND_MS = 60_000;

/**
 * Serves until the client leaves (returns null), cannot be served any longer (answers go nowhere, a message does not end) or the ledger
 * refuses this program (returns the reason).
 */
export async function serveMcp(
  open: (session: string) => Promise<Seat>,
  refused: Promise<Error>,
  sessions: Pick<ServiceOptions, 'sessionOf' | 'isInOneSession' | 'ledger'> = {},
): Promise<Error | null> {
  const gone = Promise.withResolvers<Error | null>();
  const service = new Service(open, { isPrompt: true, ...sessions });
  let server: Server | null = null as Server | null; // type inference does not see the assignment in the factory
  const { stdin, stdout } = process;
  const messages = singleMessages((refusal) => stdout.write(`${JSON.stringify(refusal)}\n`));
  stdin.on('error', (error) => messages.destroy(error)).pipe(messages);
  const transport = withListens(
    new StdioServerTransport(messages),
    (uri) => service.watch(uri, () => void server?.sendResourceUpdated({ uri }).catch(() => {})),
    gone.resolve,
  );
  // As long as the client keeps its server, its session is alive, even if the client calls nothing.
  const attending = sessions.isInOneSession ? setInterval(() => void service.attend().catch(() => {}), ATTEND_MS).unref() : undefined;
  const handle = serveStdio(() => (server = service.server({ isConnected: true })), { transport });
  const why = await Promise.race([gone.promise, refused]);
  clearInterval(attending);
  await handle.close();
  stdin.unpipe(messages).pause(); // otherwise it keeps this process alive
  await service.stop();
  return why;
}

const acknowledged = z.object({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()) }),
    _meta: z.object({ [SUBSCRIPTION_ID_META_KEY]: z.union([z.string(), z.number()]) }),
  }),
});
const cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/**
 * Watches what a client listens to. The SDK answers `subscriptions/listen` itself and calls no handler, but its acknowledgements and the
 * client's cancellations pass through here. `onOver` is called when nothing more will pass: with null if the client left, else the reason.
 */
function withListens(wire: Transport, watch: (uri: string) => Promise<() => void>, onOver: (why: Error | null) => void): Transport {
  let last: Error | null = null;
  const listens = new Map<string | number, Promise<() => void>[]>();
  async function release(id: string | number): Promise<void> {
    const watching = listens.get(id) ?? [];
    listens.delete(id);
    for (const done of await Promise.all(watching)) done();
  }
  function sent(message: JSONRPCMessage): void {
    const { data } = acknowledged.safeParse(message);
    if (!data) return;
    const {
      _meta: { [SUBSCRIPTION_ID_META_KEY]: id },
      notifications,
    } = data.params;
    listens.set(
      id,
      [...new Set(notifications.resourceSubscriptions)].map((uri) => watch(uri).catch(() => () => {})),
    );
  }
  const transport: Transport = {
    start() {
      const onmessage: Transport['onmessage'] = (message, extra) => {
        const { data } = cancelled.safeParse(message);
        if (data) void release(data.params.requestId);
        transport.onmessage?.(message, extra);
      };
      const onerror = (error: Error): void => {
        last = error;
        transport.onerror?.(error);
      };
      const onclose = (): void => {
        for (const id of listens.keys()) void release(id);
        transport.onclose?.();
        onOver(process.stdin.readableEnded || process.stdin.destroyed ? null : last);
      };
      Object.assign(wire, { onmessage, onerror, onclose });
      return wire.start();
    },
    send(message, options) {
      sent(message);
      return wire.send(message, options);
    },
    close: () => wire.close(),
  };
  return transport;
}
