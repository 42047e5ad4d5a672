// The ledger as an MCP server, independent of the transport: the registry's abilities as tools of one work item; the digest and ledgers as
// resources that can be watched.

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, ServerContext, Tool } from '@modelcontextprotocol/server';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { builtinAbilities, version } from '../../sql/extensionSource.ts';
import type { BuiltinAbility } from '../../sql/extensionSource.ts';
import type { Db } from '../ledger/db.ts';
import { isItemOver, LedgerError, messageOf } from '../ledger/errors.ts';
import { isCaughtUp } from '../ledger/standby.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { callIdOf } from './callId.ts';
import type { Meta } from './callId.ts';
import type { Subject, Updates } from './updates.ts';
import { isWait, wait } from './wait.ts';
import type { Report } from './wait.ts';

const instructions = `Work Ledger keeps what matters about this work in Postgres, beyond this conversation: record plans, findings, decisions, completed steps and errors with ledger_append as you go. awareness_digest shows what other agents are doing; spawn_child_work hands a part to a background worker, check_child_work and await_child_work return its result, wait_for waits for other work; tell_agent and reply send messages to other agents.`;

const DIGEST = 'work-ledger://digest';
const LEDGER = 'work-ledger://ledger';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const mimeType = 'text/plain';

const resources = [
  { uri: DIGEST, name: 'digest', title: 'What else is going on', mimeType },
  { uri: LEDGER, name: 'ledger', title: 'The ledger of this work', mimeType },
];
const resourceTemplates = [{ uriTemplate: `${LEDGER}/{work_item_id}`, name: 'ledger_of', title: 'The ledger of a work item', mimeType }];

/** The most seats of one client. A session whose seat was dropped gets the same work item when it returns. */
const MAX_SEATS = 1000;

/** How long calls may continue when the server stops. */
const GRACE_MS = 5000;

/**
 * A ledger, the one from which its resources are read (the same or a standby), and the work item that represents the client. Call leave()
 * when the client is gone.
 */
export type Seat = { db: Db; reads: Db; updates: Updates; workItemId: string; leave(): Promise<void> };

/** A resource watched by a session, and the work item of that session. */
type Watch = { uri: string; session: string; onUpdated: () => void; workItemId: string; release: () => void };

export type ServiceOptions = {
  /** Whether a list of tools is returned without waiting for the database; tools registered by users are then announced as a change. */
  isPrompt: boolean;
  onToolsChanged?: () => void;
  /** Determines from a request's metadata which session it belongs to; the result is passed to `open`. */
  sessionOf?: (meta: Meta) => string | Promise<string>;
  /** Whether the session itself reads the answer of a call; not if a subagent makes it. Default: it does. */
  isHeard?: (meta: Meta) => boolean;
  /** The client leaves a session when it goes on to another one. Default: it may be in many at once. */
  isInOneSession?: boolean;
  /** The ledger from which tools are listed, even while there is no session. */
  ledger?: () => Promise<Pick<Seat, 'db'>>;
  /** Called when the work that a session's call named is over. If it was the session's own work, `sessionOf` must find other work. */
  onOver?: (session: string) => void;
};

/**
 * Serves one client. The ledger is opened with the first list of tools or the first call, and again with the next one if that failed. A
 * client that speaks for several sessions has a seat for each.
 */
export class Service {
  readonly #open: (session: string) => Promise<Seat>;
  readonly #sessionOf: (meta: Meta) => string | Promise<string>;
  readonly #ledger: () => Promise<Pick<Seat, 'db'>>;
  readonly #isHeard: (meta: Meta) => boolean;
  readonly #isInOneSession: boolean;
  readonly #isPrompt: boolean;
  readonly #onToolsChanged: () => void;
  readonly #onOver: (session: string) => void;
  readonly #connected = new Set<Server>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #watches = new Set<Watch>();
  readonly #stopping = new AbortController();
  #tools = builtinAbilities().map(toolOf);
  readonly #seats = new Map<string, Promise<Seat>>();
  #complaint = '';

  constructor(open: (session: string) => Promise<Seat>, options: ServiceOptions) {
    this.#open = open;
    this.#sessionOf = options.sessionOf ?? (() => '');
    this.#ledger = options.ledger ?? (() => this.#seat());
    this.#isHeard = options.isHeard ?? (() => true);
    this.#isInOneSession = options.isInOneSession ?? false;
    this.#isPrompt = options.isPrompt;
    this.#onToolsChanged = options.onToolsChanged ?? (() => {});
    this.#onOver = options.onOver ?? (() => {});
  }

  /** A protocol server, for a connection (it sends change notifications until it is closed) or for a single request. */
  server({ isConnected }: { isConnected: boolean }): Server {
    const server = new Server(
      { name: 'work-ledger', version: version() },
      { instructions, capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } },
    );
    server.setRequestHandler('tools/list', async () => {
      if (this.#isPrompt) setImmediate(() => void this.#refresh());
      else await this.#refresh();
      return { tools: this.#tools };
    });
    server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }, { mcpReq }) => this.#call(name, input, mcpReq));
    server.setRequestHandler('resources/list', () => ({ resources }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { _meta: meta } }) => ({
      contents: [{ uri, mimeType, text: await this.#read(uri, meta) }],
    }));
    if (isConnected) this.#notify(server);
    return server;
  }

  /**
   * Calls `onUpdated` after each change of the resource, until the returned function is called. If the resource belongs to the session's
   * own work, it follows the session to later work.
   */
  async watch(uri: string, onUpdated: () => void): Promise<() => void> {
    const session = await this.#sessionOf(undefined);
    const seat = await this.#seatOf(session);
    const watch: Watch = { uri, session, onUpdated, workItemId: seat.workItemId, release: await watchAt(seat, uri, onUpdated) };
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      watch.release();
    };
  }

  /** Renews a session's watches after it moved to other work. */
  async #watchAnew(session: string, seat: Seat): Promise<void> {
    for (const watch of this.#watches) {
      const { uri, onUpdated, release } = watch;
      if (watch.session !== session || watch.workItemId === seat.workItemId || !(uri === DIGEST || uri === LEDGER)) continue;
      watch.workItemId = seat.workItemId;
      watch.release = await watchAt(seat, uri, onUpdated);
      release();
      if (this.#watches.has(watch)) onUpdated();
      else watch.release(); // it was released in the meantime
    }
  }

  /** Ends waiting calls, lets running ones be answered, and leaves the ledger. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const isOver = Promise.allSettled(this.#calls);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([isOver, new Promise((resolve) => (timer = setTimeout(resolve, GRACE_MS)))]);
    clearTimeout(timer);
    await new Promise(setImmediate); // lets answers be sent
    await Promise.allSettled([...this.#connected].map((server) => server.close()));
    await Promise.allSettled([...this.#seats.values()].map(async (seat) => (await seat).leave()));
  }

  /** Opens the session that the client is in, if that is not open yet. */
  async attend(): Promise<void> {
    await this.#seat();
  }

  async #seat(meta?: Meta): Promise<Seat> {
    return this.#seatOf(await this.#sessionOf(meta));
  }

  #seatOf(session: string): Promise<Seat> {
    const there = this.#seats.get(session);
    if (there) return there;
    if (this.#isInOneSession) for (const left of this.#seats.keys()) this.#rise(left);
    const opening = this.#open(session);
    this.#seats.set(session, opening);
    const [oldest] = this.#seats.keys();
    if (this.#seats.size > MAX_SEATS && oldest !== undefined) this.#rise(oldest);
    opening.then((seat) => this.#watchAnew(session, seat)).catch(() => {}); // each caller gets the error
    opening.catch(() => this.#seats.delete(session));
    return opening;
  }

  /** The session's work may be over: drops its seat, so that its next call works at whatever its work is then. */
  #over(session: string): void {
    this.#rise(session);
    this.#onOver(session);
  }

  /** Drops a session's seat; its next call opens another, for its work at that time. */
  #rise(session: string): void {
    void this.#seats.get(session)?.then(
      (seat) => seat.leave(),
      () => {},
    );
    this.#seats.delete(session);
  }

  /** Loads the tools, including those that users registered. If the ledger cannot be reached, each call reports that. */
  async #refresh(): Promise<void> {
    try {
      const { db } = await this.#ledger();
      const all = (await db.abilitiesForClients()).map(toolOf);
      const isNews = JSON.stringify(all) !== JSON.stringify(this.#tools);
      this.#tools = all;
      if (!isNews) return;
      this.#onToolsChanged();
      await Promise.allSettled([...this.#connected].map((server) => server.sendToolListChanged()));
    } catch (error) {
      if (errorText(error) !== this.#complaint) process.stderr.write(`work-ledger: ${errorText(error)}\n`);
      this.#complaint = errorText(error);
    }
  }

  #call(name: string, input: Record<string, unknown>, request: ServerContext['mcpReq']): Promise<CallToolResult> {
    const { _meta: meta } = request;
    const isHeard = this.#isHeard(meta); // asked now: it may be forgotten when the call is over
    const call = answered(
      async () => {
        const session = await this.#sessionOf(meta);
        const { db, workItemId } = await this.#seatOf(session);
        this.#check(name, input);
        try {
          if (!isWait(name)) return await db.abilityInvoke(name, input, workItemId, null, callIdOf(workItemId, name, input, meta));
          return await wait(db, name, workItemId, input, AbortSignal.any([request.signal, this.#stopping.signal]), reportOf(request));
        } catch (error) {
          if (isItemOver(error)) this.#over(session);
          throw error;
        }
      },
      async () => {
        if (!isHeard || request.signal.aborted) return null; // nobody reads the answer of a call that was cancelled
        const { db, workItemId } = await this.#seat(meta);
        return db.inboxTake(workItemId);
      },
    );
    this.#calls.add(call);
    return call.finally(() => this.#calls.delete(call));
  }

  /** Validates against the whole schema, which the database can do only if it has a JavaScript engine. */
  #check(name: string, input: Record<string, unknown>): void {
    const schema = this.#tools.find((tool) => tool.name === name)?.inputSchema;
    if (!schema) return; // the database will report that there is no such ability
    const errors = schemaErrors(schema, input);
    if (errors.length > 0) throw new LedgerError('WL002', `the input of ${name} does not fit its schema`, '', errors.join('\n'));
  }

  async #read(uri: string, meta: Meta): Promise<string> {
    const { db, reads, workItemId } = await this.#seat(meta);
    const subject = subjectOf(uri, workItemId);
    const age = (await isCaughtUp(reads, db)) ? '' : '\n\n(Read on a standby that is behind: what was written just now may be missing.)';
    if (subject.kind === 'digest') return `${String(await reads.abilityInvoke('awareness_digest', {}, workItemId))}${age}`;
    if ((await reads.workItem(subject.workItemId)) === null) throw new ResourceNotFoundError(uri);
    return `${await reads.ledgerReadFormatted(subject.workItemId)}${age}`;
  }

  /** Notifies a client that stays connected of changes to the tools and to the resources that it subscribes to. */
  #notify(server: Server): void {
    const watched = new Map<string, () => void>();
    this.#connected.add(server);
    const onclose = (): void => {
      this.#connected.delete(server);
      for (const release of watched.values()) release();
    };
    Object.assign(server, { onclose });
    server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
      if (watched.size >= MAX_WATCHED)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `at most ${MAX_WATCHED} resources can be subscribed to`);
      if (watched.has(uri)) return {};
      watched.set(uri, () => {});
      try {
        const release = await this.watch(uri, () => void server.sendResourceUpdated({ uri }).catch(() => {}));
        if (watched.has(uri) && this.#connected.has(server)) watched.set(uri, release);
        else release(); // it unsubscribed in the meantime
      } catch (error) {
        watched.delete(uri);
        throw error;
      }
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
      watched.get(uri)?.();
      watched.delete(uri);
      return {};
    });
  }
}

async function watchAt({ updates, workItemId }: Seat, uri: string, onUpdated: () => void): Promise<() => void> {
  return updates.watch(subjectOf(uri, workItemId), onUpdated).catch((error: unknown) => {
    throw error instanceof LedgerError && error.code === 'WL001' ? new ResourceNotFoundError(uri) : error;
  });
}

/** How many resources one client may watch at a time. */
export const MAX_WATCHED = 64;

function subjectOf(uri: string, workItemId: string): Subject {
  if (uri === DIGEST) return { kind: 'digest', workItemId };
  if (uri === LEDGER) return { kind: 'ledger', workItemId };
  const other = uri.startsWith(`${LEDGER}/`) ? uri.slice(LEDGER.length + 1) : '';
  if (!uuid.test(other)) throw new ResourceNotFoundError(uri);
  return { kind: 'ledger', workItemId: other.toLowerCase() }; // lower case, as in notifications
}

const toolOf = ({ name, description, input_schema }: BuiltinAbility): Tool => ({
  name,
  description,
  inputSchema: input_schema as Tool['inputSchema'],
});

/** Reports progress, if the client gave a token for it. */
function reportOf({ _meta, notify }: ServerContext['mcpReq']): Report {
  const progressToken = _meta?.progressToken;
  return async (progress, total, message) => {
    if (progressToken !== undefined)
      await notify({
        method: 'notifications/progress',
        params: { progressToken, progress, ...(total !== null && { total }), message },
      }).catch(() => {});
  };
}

/** The result of an ability, or its error as a result for the model; after a result, what others told the session in the meantime. */
async function answered(act: () => Promise<unknown>, told: () => Promise<string | null>): Promise<CallToolResult> {
  try {
    const value = await act();
    const texts = [typeof value === 'string' ? value : JSON.stringify(value), await told().catch(() => null)];
    return { content: texts.filter((text) => text !== null).map((text) => ({ type: 'text', text: withoutSecrets(text, 'answer') })) };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: errorText(error) }] };
  }
}

function errorText(error: unknown): string {
  const hint = error instanceof LedgerError && error.hint !== '' ? `\n${error.hint}` : '';
  return withoutSecrets(`${messageOf(error)}${hint}`, 'answer');
}
