// `work-ledger mcp` serves the ledger to an interactive agent, whose client also calls `work-ledger hook …` at fixed points. Both find
// their session by the conversation: the client's own id of it, else its directory.

import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';

import type { ServerType } from '@hono/node-server';

import { loadPackage } from '../../sandbox/optionalPackage.ts';
import { hideEnvironment } from '../../sandbox/ownSecrets.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { isOwnAddress, isOwnHost } from '../ownAddress.ts';
import { projectOf } from '../project.ts';
import { isSame } from '../secrets/isSame.ts';
import { keepSecret } from '../secrets/known.ts';
import type { Identity, McpHttp } from '../mcp/http.ts';
import type { Meta } from '../mcp/callId.ts';
import type { Seat } from '../mcp/server.ts';
import type { Updates } from '../mcp/updates.ts';
import { claudeSession } from './claudeSession.ts';
import { clientSession } from './clientSession.ts';
import { geminiSession } from './geminiSession.ts';
import type { ClientOptions } from './hook.ts';
import { hostnamesOf } from './hostnames.ts';
import type { Reached } from './hostnames.ts';
import { io } from './io.ts';
import { exit, note } from './output.ts';

/** How long a client may take to read the end of its answer when the server stops. */
const GRACE_MS = 2000;
/** For all HTTP clients together. */
export const HTTP_CONNECTIONS = 10;

export type McpOptions = ClientOptions & { workItem?: string };
export type McpHttpSettings = McpOptions & Reached & { port: number; tokenFile?: string };

const serving = <T>(load: () => Promise<T>): Promise<T> => loadPackage('@modelcontextprotocol/server', 'serving MCP', load);

/** Serves stdio. The client is answered at once; the code that opens a ledger is loaded and run after that. */
export async function mcp(options: McpOptions): Promise<number> {
  hideEnvironment();
  const { serveMcp } = await serving(() => import('../mcp/stdio.ts'));
  const refused = Promise.withResolvers<Error>();
  const ledger = new OneLedger(options, refused.resolve);
  const workItemId = options.workItem === undefined ? null : await itemOf(options.workItem, options, ledger);
  const isNamed = workItemId !== null || options.conversation !== undefined;
  const why = await serveMcp(
    async (session) => {
      const { db, read, updates } = await ledger.opened();
      const identity = workItemId === null ? await ownSession(options, session) : { workItemId };
      return seatAt(db, updates, identity, read);
    },
    refused.promise,
    // Before its first call, a client that says where it is later has no item.
    isNamed
      ? {}
      : {
          ledger: () => ledger.opened(),
          ...(claudeSession() === null
            ? {
                sessionOf: (meta: Meta) => sessionOfCodex(meta) || geminiSession(),
                isHeard: (meta: Meta) => sessionOfCodex(meta) === threadOf(meta, 'threadId'),
              }
            : { sessionOf: () => claudeSession() ?? '', isInOneSession: true }),
        },
  );
  await ledger.close();
  if (why !== null) throw why;
  return exit.ok;
}

/** The work item that was named. Queries the ledger before answering the client only if the id is not complete. */
async function itemOf(typed: string, { project }: McpOptions, ledger: OneLedger): Promise<string> {
  const { isWhole, itemIdOf } = await import('./ids.ts');
  if (isWhole(typed)) return typed;
  try {
    return await itemIdOf((await ledger.opened()).db, typed, { ...(project !== undefined && { project }) });
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** Codex passes with each call the id of its thread, and that of the session, which its hooks get too: a subagent is a thread of its own. */
const sessionOfCodex = (meta: Meta): string => {
  const thread = threadOf(meta, 'threadId');
  return (thread && threadOf(meta, 'sessionId')) || thread;
};

/** Empty: the client passes no such id. */
function threadOf(meta: Meta, name: 'threadId' | 'sessionId'): string {
  const id = meta?.[name];
  return typeof id === 'string' && /^[\w-]{1,200}$/.test(id) ? id : '';
}

/** The ledger that all sessions of one client read and write. Opened when first needed; retried if that failed. */
class OneLedger {
  readonly #options: McpOptions;
  readonly #refused: (why: Error) => void;
  readonly #over = new AbortController();
  #opening: Promise<{ db: Db; read: Db; updates: Updates }> | null = null;

  constructor(options: McpOptions, refused: (why: Error) => void) {
    this.#options = options;
    this.#refused = refused;
  }

  opened(): Promise<{ db: Db; read: Db; updates: Updates }> {
    if (this.#opening) return this.#opening;
    const opening = this.#open();
    opening.catch(() => (this.#opening = null));
    return (this.#opening = opening);
  }

  async close(): Promise<void> {
    this.#over.abort();
    const open = await this.#opening?.catch(() => null);
    if (!open) return;
    await open.updates.close();
    if (open.read !== open.db) await open.read.close();
    await open.db.close();
  }

  async #open(): Promise<{ db: Db; read: Db; updates: Updates }> {
    const [{ openLedger, openReader }, { Updates: LedgerUpdates }, { untilRefused }] = await Promise.all([
      import('./withLedger.ts'),
      import('../mcp/updates.ts'),
      import('../ledger/refused.ts'),
    ]);
    const written = await openLedger(this.#options);
    const { db } = written;
    const read = await openReader(this.#options, written).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    void untilRefused(db, this.#over.signal).then(this.#refused);
    return { db, read: read.db, updates: new LedgerUpdates(read.db, read.url) };
  }
}

/** Serves HTTP clients on other machines until a signal stops it. */
export async function mcpHttp(options: McpHttpSettings): Promise<number> {
  if (options.conversation !== undefined || options.workItem !== undefined)
    throw new UsageError('over HTTP the address identifies each client: …/mcp?conversation=NAME or …/mcp?work_item=ID');
  const token = mcpToken(options.tokenFile);
  const hostnames = hostnamesOf(options);
  hideEnvironment();
  const [{ createAdaptorServer }, { openLedger, openReader }, { untilRefused }, { healthOf }] = await Promise.all([
    import('@hono/node-server'),
    import('./withLedger.ts'),
    import('../ledger/refused.ts'),
    import('../telemetry/health.ts'),
  ]);
  const ledger = await openLedger(options, HTTP_CONNECTIONS);
  const over = new AbortController();
  const read = await openReader(options, ledger, HTTP_CONNECTIONS).catch(async (error: unknown) => {
    await ledger.db.close();
    throw error;
  });
  const handler = await mcpHandler(ledger, read, token, hostnames);
  const health = healthOf({ db: ledger.db, isStopping: () => over.signal.aborted });
  const isOpen = !isOwnAddress(options.host) || (options.allowHost ?? []).length > 0;
  const server = createAdaptorServer({
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/mcp') return handler.fetch(request);
      if (pathname === '/metrics' && !mayRead(request, isOpen, token)) return new Response('it takes the token\n', { status: 401 });
      return (await health.answer(pathname)) ?? new Response('not found', { status: 404 });
    },
  });
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port, options.host, resolve));
    const { address, family, port } = server.address() as AddressInfo;
    io().stdout.write(`http://${family === 'IPv6' ? `[${address}]` : address}:${port}/mcp\n`);
    if (!isLoopback(address))
      note('Other machines can reach this address, and the traffic is not encrypted: put a reverse proxy with TLS in front of it.');
    const signalled = new Promise<null>((resolve) => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(null));
    });
    const why = await Promise.race([signalled, untilRefused(ledger.db, over.signal)]);
    over.abort();
    await handler.close();
    await closed(server);
    if (why !== null) throw why;
  } finally {
    over.abort();
    await handler.close();
  }
  return exit.ok;
}

/**
 * The handler that a web server mounts at /mcp. `read`: where resources come from, the same ledger or a standby. Closes both when it
 * closes.
 */
export async function mcpHandler(
  { db }: { db: Db },
  read: { db: Db; url: string },
  token: string,
  hostnames: readonly string[] = [],
): Promise<Pick<McpHttp, 'fetch' | 'close'>> {
  const [{ McpHttp: Handler }, { Updates: LedgerUpdates }] = await Promise.all([
    serving(() => import('../mcp/http.ts')),
    import('../mcp/updates.ts'),
  ]);
  const updates = new LedgerUpdates(read.db, read.url);
  const handler = new Handler({
    token,
    hostnames,
    seatFor: (identity) => seatAt(db, updates, identity, read.db),
    ledger: async () => ({ db }),
  });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await handler.close();
    await updates.close();
    if (read.db !== db) await read.db.close();
    await db.close();
  };
  return { fetch: handler.fetch, close: () => (closing ??= close()) };
}

/** Connections end as soon as their answers have been sent. */
async function closed(server: ServerType): Promise<void> {
  const sweep = setInterval(() => 'closeIdleConnections' in server && server.closeIdleConnections(), 50);
  const fuse = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), GRACE_MS);
  await new Promise<unknown>((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(fuse);
}

/** The token from WORK_LEDGER_MCP_TOKEN or a file. It is never an argument, which every user of the machine could read. */
export function mcpToken(file?: string): string {
  if (file && !existsSync(file)) throw new UsageError(`there is no file ${file} with the token for MCP`);
  const token = file ? readFileSync(file, 'utf8').trim() : (process.env['WORK_LEDGER_MCP_TOKEN'] ?? '');
  if (token === '')
    throw new UsageError(
      'MCP over HTTP needs a token: set WORK_LEDGER_MCP_TOKEN, or --token-file FILE. Make one with: openssl rand -hex 32',
    );
  if (!/^[\x21-\x7e]{16,}$/.test(token))
    throw new UsageError('the token for MCP must have at least 16 characters and no spaces. Generate one with: openssl rand -hex 32');
  keepSecret(token);
  return token;
}

/** The session of the client that started this server, or the session that was named; the client's hooks find the same one. */
async function ownSession({ conversation, project }: McpOptions, session: string): Promise<Identity> {
  const directory = process.cwd();
  return {
    ...clientSession(conversation, { id: session, directory }),
    project: project ?? (await projectOf(directory)),
  };
}

/**
 * The work item of a client, by its conversation if it named none; a new conversation gets a new item. `reads`: where resources come from.
 */
export async function seatAt(db: Db, updates: Updates, identity: Identity, reads = db): Promise<Seat> {
  if ('workItemId' in identity) {
    const workItemId = await db.workId(identity.workItemId, null);
    return { db, reads, updates, workItemId, leave: async () => {} };
  }
  const { keepAlive } = await import('../ledger/journal.ts');
  // Safe to call twice at once: a client starts its server and its first hook at the same moment.
  const workItemId = await db.journal.sessionOpen(identity.conversation, identity.directory ?? null, identity.project ?? null);
  const stopKeepAlive = keepAlive(db, workItemId); // as long as the client keeps its server
  return { db, reads, updates, workItemId, leave: async () => stopKeepAlive() };
}

/**
 * The same rule as for the console's pages: if others can reach the server, reading requires the token; otherwise the request must use this
 * machine's own name.
 */
const mayRead = (request: Request, isOpen: boolean, token: string): boolean =>
  isOpen ? isSame(request.headers.get('authorization') ?? '', `Bearer ${token}`) : isOwnHost(request.headers.get('host') ?? '');

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');
