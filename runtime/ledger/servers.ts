// Finds the server that an address leads to. As in libpq, an address may name several servers and ask for a kind of server:
// postgresql://a,b/ledger?target_session_attrs=read-write. pg does not support that, so each connection asks here: all servers are queried
// at once, and the first in order that fits is taken.
// libpq stops there. But an old primary that was frozen or cut off while a standby was promoted also accepts writes when it comes back. It
// is recognised by its earlier timeline: no more connections are made to it, and existing ones, including those that hang, are dropped.

import { callbackify } from 'node:util';

import pg from 'pg';

import { serversOf } from './address.ts';
import type { Wanted } from './address.ts';
import { messageOf, sqlState } from './errors.ts';
import { tlsOf } from './tls.ts';

/** How long a server may take to say what it is. */
const ANSWER_MS = 3000;
/** How long to wait for the others once one fits: a frozen server does not even refuse. */
const GRACE_MS = 500;
/** How often, while there are connections, to check whether another server has taken over. */
const LOOK_MS = 5000;

/** `timeline`: that of a server that accepts writes; 0: unknown. Only timelines of the same `system` can be compared. */
type Server = { address: string; host: string; port: number; isStandby: boolean; isReadOnly: boolean; system: string; timeline: number };

/** No server of an address is of the wanted kind now; waiting may help. */
class NoServer extends Error {
  override name = 'NoServer';
  readonly code = '57P03'; // cannot connect now
}

/** The servers of one address, for all connections of this process. */
class Servers {
  readonly #named: readonly { name: string; address: string }[];
  readonly #wanted: Wanted;
  readonly #latest = new Map<string, number>();
  readonly #connections = new Map<() => void, Server>();
  #finding: Promise<Server> | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor({ servers, wanted }: { servers: readonly { name: string; address: string }[]; wanted: Wanted }) {
    this.#named = servers;
    this.#wanted = wanted;
  }

  /** The address of one of them, for what they all share. */
  get any(): string {
    return this.#named[0]?.address ?? '';
  }

  /** The server to connect to now. */
  find(): Promise<Server> {
    return (this.#finding ??= this.#find().finally(() => (this.#finding = undefined)));
  }

  /** From now on calls `breakOff` when the server turns out to be overtaken, until the returned function is called. */
  keep(server: Server, breakOff: () => void): () => void {
    this.#connections.set(breakOff, server);
    if (this.#named.length > 1) this.#looking ??= setInterval(() => void this.find().catch(() => {}), LOOK_MS).unref();
    return () => {
      this.#connections.delete(breakOff);
      if (this.#connections.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    };
  }

  async #find(): Promise<Server> {
    const heard = new Map<number, Server | Error>();
    const enough = Promise.withResolvers<void>();
    for (const [i, { address }] of this.#named.entries()) {
      const hear = (answer: Server | Error): void => {
        heard.set(i, answer);
        if (heard.size === this.#named.length) enough.resolve();
        else if (this.#complaint(answer) === null) setTimeout(enough.resolve, GRACE_MS);
      };
      void ask(address).then(
        (server) => hear(this.#note(server)),
        (error: unknown) => hear(error instanceof Error ? error : new Error(String(error))),
      );
    }
    await enough.promise;
    const inOrder = this.#named.map((_, i) => heard.get(i) ?? new Error('does not answer'));
    const fitting = inOrder.filter((one): one is Server => this.#complaint(one) === null);
    const server = (this.#wanted === 'prefer-standby' ? fitting.find(({ isStandby }) => isStandby) : undefined) ?? fitting[0];
    if (server) return server;
    const refused = inOrder.find((one) => one instanceof Error);
    if (refused && inOrder.every((one) => one instanceof Error && /^(28|3D|42)/.test(sqlState(one) ?? ''))) throw refused;
    throw new NoServer(
      `no server there ${wants[this.#wanted]}: ${inOrder.map((one, i) => `${this.#named[i]?.name} ${this.#complaint(one)}`).join('; ')}`,
    );
  }

  /** Drops the connections to servers that this one has overtaken. */
  #note(server: Server): Server {
    this.#latest.set(server.system, Math.max(server.timeline, this.#latest.get(server.system) ?? 0));
    for (const [breakOff, other] of this.#connections) if (this.#isOvertaken(other)) breakOff();
    return server;
  }

  #isOvertaken({ system, timeline, isStandby }: Server): boolean {
    return !isStandby && timeline < (this.#latest.get(system) ?? 0);
  }

  /** Why it is not taken; null: it fits. */
  #complaint(one: Server | Error): string | null {
    if (one instanceof Error) return messageOf(one) || (sqlState(one) ?? one.name);
    if (this.#isOvertaken(one))
      return `takes writes, but a standby was promoted in its place (timeline ${one.timeline}, by now ${this.#latest.get(one.system)})`;
    return complaints[this.#wanted](one);
  }
}

const complaints: Record<Wanted, (server: Server) => string | null> = {
  any: () => null,
  'prefer-standby': () => null,
  'read-write': ({ isStandby, isReadOnly }) => (isStandby ? 'is a standby' : isReadOnly ? 'is read-only' : null),
  primary: ({ isStandby }) => (isStandby ? 'is a standby' : null),
  'read-only': ({ isStandby, isReadOnly }) => (isStandby || isReadOnly ? null : 'takes writes'),
  standby: ({ isStandby }) => (isStandby ? null : 'is a primary'),
};
const wants: Record<Wanted, string> = {
  any: 'answers',
  'prefer-standby': 'answers',
  'read-write': 'takes writes',
  primary: 'is a primary',
  'read-only': 'is read-only',
  standby: 'is a standby',
};

const known = new Map<string, Servers | null>();

/** Null: the address names a single server and asks for no kind, so there is nothing to find. */
function serversAt(address: string): Servers | null {
  const found = known.get(address);
  if (found !== undefined) return found;
  const named = serversOf(address);
  const servers = named === null ? null : new Servers(named);
  known.set(address, servers);
  return servers;
}

/** Connects to a server and asks what it is. */
async function ask(address: string): Promise<Server> {
  const client = new pg.Client({
    ...tlsOf(address),
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: 'work-ledger looking',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const {
      rows: [is],
    } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(
      `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
    );
    if (!is) throw new Error('says nothing of itself');
    const untold = { system: '', timeline: 0 }; // servers that are not quite PostgreSQL do not tell
    const place = { address, host: client.host, port: client.port };
    if (is.isStandby) return { ...place, ...is, ...untold };
    const {
      rows: [told],
    } = await client
      .query<{ system: string; timeline: number }>(`
      select system_identifier::text as system, ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer as timeline from pg_control_system()`)
      .catch(() => ({ rows: [untold] }));
    return { ...place, ...is, ...(told ?? untold) };
  } finally {
    void client.end().catch(() => {});
  }
}

/** pg's client, for an address that may name several servers. */
export class Client extends pg.Client {
  readonly #servers: Servers | null;

  constructor(config: pg.ClientConfig = {}) {
    const servers = config.connectionString === undefined ? null : serversAt(config.connectionString);
    const address = servers?.any ?? config.connectionString;
    super(address === undefined ? config : { ...config, ...tlsOf(address) });
    this.#servers = servers;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | void {
    if (this.#servers === null) return callback === undefined ? super.connect() : super.connect(callback as never);
    const connected = this.#connectTo(this.#servers);
    if (callback === undefined) return connected;
    callbackify(() => connected)(callback as (error: Error | null) => void);
  }

  async #connectTo(servers: Servers): Promise<pg.Client> {
    const server = await servers.find();
    const own = this as unknown as {
      host: string;
      port: number;
      connectionParameters: object;
      connection: { stream: { destroy(): void } };
    };
    const { host, port } = server;
    const { ssl } = tlsOf(server.address); // another one may be reached by a socket
    Object.assign(own, { host, port }, ssl !== undefined && { ssl });
    Object.assign(own.connectionParameters, { host, port });
    Object.assign(own.connection, ssl !== undefined && { ssl });
    await super.connect();
    this.once(
      'end',
      servers.keep(server, () => own.connection.stream.destroy()),
    );
    return this;
  }
}
