// The ledger as an MCP server, whatever carries the protocol: the registry's abilities as tools of one work item, digest and
// ledgers as resources that can be watched.

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, ServerContext, Tool } from '@modelcontextprotocol/server';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { builtinAbilities, version } from '../../sql/extensionSource.ts';
import type { BuiltinAbility } from '../../sql/extensionSource.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError, messageOf } from '../ledger/errors.ts';
import { isCaughtUp } from '../ledger/standby.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { awaitChildWork } from './awaitChildWork.ts';
import type { Report } from './awaitChildWork.ts';
import type { Subject, Updates } from './updates.ts';

const instructions = `Work Ledger keeps what matters of this work in Postgres, beyond this conversation: record plans, findings, decisions, completed steps and errors with ledger_append as you go. awareness_digest tells what other agents do; spawn_child_work hands a part to a background worker, check_child_work and await_child_work ask for its result.`;

const DIGEST = 'work-ledger://digest';
const LEDGER = 'work-ledger://ledger';
const mimeType = 'text/plain';

const resources = [
  { uri: DIGEST, name: 'digest', title: 'What else is going on', mimeType },
  { uri: LEDGER, name: 'ledger', title: 'The ledger of this work', mimeType },
];
const resourceTemplates = [{ uriTemplate: `${LEDGER}/{work_item_id}`, name: 'ledger_of', title: 'The ledger of a work item', mimeType }];

/** How long calls may go on when the server stops. */
const GRACE_MS = 5000;

/**
 * A ledger, where its resources are read (the same or a standby), and the work item that stands for the client; call leave() when the
 * client is gone.
 */
export type Seat = { db: Db; reads: Db; updates: Updates; workItemId: string; leave(): Promise<void> };

/** What one client is served. The ledger is opened with the first list of tools or the first call; if that failed, again with the next. */
export class Service {
  readonly #open: () => Promise<Seat>;
  readonly #isPrompt: boolean;
  readonly #onToolsChanged: () => void;
  readonly #connected = new Set<Server>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #tools = builtinAbilities().map(toolOf);
  #opening: Promise<Seat> | null = null;
  #complaint = '';

  /** `isPrompt`: a list of tools does not wait for the database; what users registered follows as a change. */
  constructor(open: () => Promise<Seat>, options: { isPrompt: boolean; onToolsChanged?: () => void }) {
    this.#open = open;
    this.#isPrompt = options.isPrompt;
    this.#onToolsChanged = options.onToolsChanged ?? (() => {});
  }

  /** A protocol server, for a connection (it notifies of changes until it is closed) or for a single request. */
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
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
      contents: [{ uri, mimeType, text: await this.#read(uri) }],
    }));
    if (isConnected) this.#notify(server);
    return server;
  }

  /** Calls `onUpdated` after each change of the resource, until the returned function is called. */
  async watch(uri: string, onUpdated: () => void): Promise<() => void> {
    const { updates, workItemId } = await this.#seat();
    return updates.watch(subjectOf(uri, workItemId), onUpdated).catch((error: unknown) => {
      throw error instanceof LedgerError && error.code === 'WL001' ? new ResourceNotFoundError(uri) : error;
    });
  }

  /** Ends what waits, lets calls be answered, and leaves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const isOver = Promise.allSettled(this.#calls);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([isOver, new Promise((resolve) => (timer = setTimeout(resolve, GRACE_MS)))]);
    clearTimeout(timer);
    await new Promise(setImmediate); // answers are on their way
    await Promise.allSettled([...this.#connected].map((server) => server.close()));
    await this.#opening?.then(
      (taken) => taken.leave(),
      () => {},
    );
  }

  #seat(): Promise<Seat> {
    return (this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    }));
  }

  /** What users registered, too; a ledger that cannot be reached is said with each call. */
  async #refresh(): Promise<void> {
    try {
      const { db } = await this.#seat();
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
    const call = answered(async () => {
      const { db, workItemId } = await this.#seat();
      this.#check(name, input);
      if (name !== 'await_child_work') return db.abilityInvoke(name, input, workItemId);
      return awaitChildWork(db, workItemId, input, AbortSignal.any([request.signal, this.#stopping.signal]), reportOf(request));
    });
    this.#calls.add(call);
    return call.finally(() => this.#calls.delete(call));
  }

  /** Checks against the whole schema, which the database can only do with a JavaScript engine. */
  #check(name: string, input: Record<string, unknown>): void {
    const schema = this.#tools.find((tool) => tool.name === name)?.inputSchema;
    if (!schema) return; // the database will report that there is no such ability
    const errors = schemaErrors(schema, input);
    if (errors.length > 0) throw new LedgerError('WL002', `the input of ${name} does not fit its schema`, '', errors.join('\n'));
  }

  async #read(uri: string): Promise<string> {
    const { db, reads, workItemId } = await this.#seat();
    const subject = subjectOf(uri, workItemId);
    const age = (await isCaughtUp(reads, db)) ? '' : '\n\n(Read on a standby that is behind: what was written just now may be missing.)';
    if (subject.kind === 'digest') return `${String(await reads.abilityInvoke('awareness_digest', {}, workItemId))}${age}`;
    if ((await reads.workItem(subject.workItemId)) === null) throw new ResourceNotFoundError(uri);
    return `${await reads.ledgerReadFormatted(subject.workItemId)}${age}`;
  }

  /** A client that stays connected is told of changes: of the tools, and of the resources that it subscribes to. */
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
        else release(); // it changed its mind meanwhile
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

/** What one client may watch at once. */
export const MAX_WATCHED = 64;

function subjectOf(uri: string, workItemId: string): Subject {
  if (uri === DIGEST) return { kind: 'digest', workItemId };
  if (uri === LEDGER) return { kind: 'ledger', workItemId };
  const other = new RegExp(`^${LEDGER}/(${uuid.source})$`).exec(uri)?.[1];
  if (other === undefined) throw new ResourceNotFoundError(uri);
  return { kind: 'ledger', workItemId: other };
}

export const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

const toolOf = ({ name, description, input_schema }: BuiltinAbility): Tool => ({
  name,
  description,
  inputSchema: input_schema as Tool['inputSchema'],
});

/** Progress for a client that gave a token for it. */
function reportOf({ _meta, notify }: ServerContext['mcpReq']): Report {
  const progressToken = _meta?.progressToken;
  return async (progress, total, message) => {
    if (progressToken !== undefined)
      await notify({ method: 'notifications/progress', params: { progressToken, progress, total, message } }).catch(() => {});
  };
}

/** The result of an ability, or its error as a result that the model reads. */
async function answered(act: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const value = await act();
    return { content: [{ type: 'text', text: withoutSecrets(typeof value === 'string' ? value : JSON.stringify(value), 'answer') }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: errorText(error) }] };
  }
}

function errorText(error: unknown): string {
  const hint = error instanceof LedgerError && error.hint !== '' ? `\n${error.hint}` : '';
  return withoutSecrets(`${messageOf(error)}${hint}`, 'answer');
}
