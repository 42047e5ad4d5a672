// The ledger's tools for the Claude Agent SDK, in this process:
// `query({ prompt, options: { mcpServers: { 'work-ledger': ledgerTools() } } })`. They act as the session that calls them, which the hooks
// of ledgerHooks() see.

import { randomUUID } from 'node:crypto';

import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server';

import { loadPackage } from '../../sandbox/optionalPackage.ts';
import { CALL } from '../mcp/callId.ts';
import type { Seat, Service } from '../mcp/server.ts';
import type { Updates } from '../mcp/updates.ts';
import { sessionsAt } from './sessions.ts';
import type { Session, Sessions } from './sessions.ts';
import { ledgerAt } from './lazyLedger.ts';
import type { LedgerAddress } from './lazyLedger.ts';

export type LedgerToolOptions = LedgerAddress & {
  /** The project of the sessions (default: that of their directory), see projectOf(). */
  project?: string;
  /** The id of the session (`sessionId`, `resume`) that the tools act for if no hook tells. */
  session?: string;
};

/** The type of the SDK's McpSdkServerConfigWithInstance. */
export type LedgerTools = {
  type: 'sdk';
  name: string;
  // The SDK declares a class with private members, but calls only connect(); no other type would be accepted.
  // oxlint-disable-next-line typescript/no-explicit-any
  instance: any;
};

type Take = (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
type Serving = { service: Service; updates: () => Promise<Updates> | undefined };

/** What the SDK connects to for each query. Unlike a protocol server, it accepts any number of connections, even at the same time. */
class InProcessServer {
  readonly #options: LedgerToolOptions;
  /** The session for calls that no hook saw, in a program without hooks. */
  readonly #own = `agent-sdk:${randomUUID()}`;
  #serving: Promise<Serving> | undefined;
  readonly #connected = new Set<Transport>();
  /** Sessions without hooks, with their work: alive while a query is connected. */
  readonly #kept = new Map<Session, string>();

  constructor(options: LedgerToolOptions) {
    ledgerAt(options); // refuses what is no address now, and not when it is first connected to
    this.#options = options;
  }

  async connect(transport: Transport): Promise<void> {
    const early: Parameters<Take>[] = [];
    const takes = (onmessage: Take | undefined): void => void Object.assign(transport, { onmessage });
    takes((...message) => early.push(message)); // until the server is loaded
    const { service } = await (this.#serving ??= this.#serve());
    takes(undefined);
    await service.server({ isConnected: true }).connect(transport);
    this.#connected.add(transport);
    const closed = transport.onclose;
    const onclose = (): void => {
      closed?.();
      this.#connected.delete(transport);
      if (this.#connected.size === 0) this.#rest();
    };
    Object.assign(transport, { onclose });
    for (const message of early) transport.onmessage?.(...message);
  }

  /** Ends waiting calls, and closes every connection. */
  async close(): Promise<void> {
    const closing = this.#serving;
    this.#serving = undefined;
    const serving = await closing?.catch(() => undefined);
    if (!serving) return;
    this.#rest();
    await serving.service.stop();
    await (await serving.updates()?.catch(() => undefined))?.close();
    await sessionsAt(this.#options).ledger.close();
  }

  async #serve(): Promise<Serving> {
    const sessions = sessionsAt(this.#options);
    const [{ Service: LedgerService }, { Updates: LedgerUpdates }] = await Promise.all([
      loadPackage('@modelcontextprotocol/server', 'serving MCP', () => import('../mcp/server.ts')),
      import('../mcp/updates.ts'),
    ]);
    const opened = async (): Promise<Updates> => {
      const { db, url } = await sessions.ledger.open();
      return new LedgerUpdates(db, url);
    };
    let updates: Promise<Updates> | undefined;
    const updatesOf = (): Promise<Updates> =>
      (updates ??= opened().catch((error: unknown) => {
        updates = undefined; // the next call tries again
        throw error;
      }));
    const { session: named, project } = this.#options;
    const service = new LedgerService(
      async (workItemId): Promise<Seat> => {
        const { db } = await sessions.ledger.open();
        return { db, reads: db, updates: await updatesOf(), workItemId, leave: async () => {} };
      },
      {
        isPrompt: true,
        ledger: () => sessions.ledger.open(),
        isHeard: (meta) => !sessions.isOfSubagent(meta?.[CALL]),
        onOver: (workItemId) => sessions.over(workItemId),
        sessionOf: async (meta) => {
          const session =
            sessions.ofCall(meta?.[CALL]) ??
            (named === undefined ? sessions.last() : undefined) ??
            sessions.seen(named ?? this.#own, undefined, project);
          return this.#workOf(sessions, session);
        },
      },
    );
    sessions.ledger.hold();
    updatesOf().catch(() => {}); // so that they are ready for the first client; callers get the error
    return { service, updates: () => updates };
  }

  async #workOf(sessions: Sessions, session: Session): Promise<string> {
    const { db, workItemId } = await sessions.itemOf(session);
    if (!session.isBegun && this.#connected.size > 0 && !(session.isWorking && this.#kept.get(session) === workItemId)) {
      this.#kept.set(session, workItemId);
      sessions.works(session, db, workItemId, Infinity);
    }
    return workItemId;
  }

  #rest(): void {
    for (const session of this.#kept.keys()) session.rest();
    this.#kept.clear();
  }
}

/** A server of the ledger's tools, for every query of a program: `mcpServers: { 'work-ledger': ledgerTools({ url }) }`. */
export function ledgerTools(options: LedgerToolOptions = {}): LedgerTools {
  return { type: 'sdk', name: 'work-ledger', instance: new InProcessServer(options) };
}
