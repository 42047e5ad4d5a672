// Who may do what, and in whose name. A page is read by programs on this machine only or, if others can reach it, by known visitors.
// Changes are made by known visitors, with a form that the console itself made for them. There are three ways to be known: the token
// printed when the console starts, a personal token (work-ledger person add), or the name given by a proxy. The ledger verifies a name
// again in the transaction that writes it.

import { createHmac, randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';

import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

import { sqlState } from '../ledger/errors.ts';
import { proofOf } from '../ledger/people.ts';
import type { Person } from '../ledger/pool.ts';
import { isSame } from '../secrets/isSame.ts';

/**
 * A proxy that says in a header who is logged in. It proves itself by a secret, since every program on a machine can connect to its
 * loopback address.
 */
export type Proxy = { header: string; secret: string; addresses: readonly string[] };

/** The sender of a request. `person`: in whose name the ledger is written; null: in nobody's. */
export type Visitor = { name: string | null; person: Person | null; formToken: string; session: string | null };

export const PROXY_SECRET = 'x-work-ledger-proxy';
const tokenForm = /^wlp_[\w-]{43}$/;
const loopbackPeer = /^(?:127\.|::1$|::ffff:127\.)/;
/** How long the ledger's verification of a token holds for reading. */
const KNOWN_MS = 5000;
const MOST_SESSIONS = 1000;
/** How many tokens are looked up at once: unknown visitors must not keep the database busy. */
const MOST_LOOKUPS = 2;

type Session = { person: Person; name: string; knownUntil: number };

export class Visitors {
  /** The shared token; null: each person has their own. */
  readonly token: string | null;
  readonly #run = randomBytes(24).toString('base64url');
  /** The visitor whom the shared token identifies. */
  readonly #shared: Omit<Visitor, 'formToken' | 'session'>;
  readonly #cookie: string;
  readonly #hostnames: readonly string[];
  readonly #proxy: Proxy | null;
  /** The name of the person whom the ledger finds by a proof; null: nobody. */
  readonly #nameOf: (person: Person) => Promise<string | null>;
  readonly #sessions = new Map<string, Session>();
  #lookups = 0;

  constructor(options: {
    token: string | null;
    osUser: string | null;
    port: number;
    hostnames: readonly string[];
    proxy: Proxy | null;
    nameOf: (person: Person) => Promise<string | null>;
  }) {
    this.token = options.token;
    this.#shared = { name: options.osUser, person: options.osUser === null ? null : { name: options.osUser } };
    this.#cookie = `work_ledger_console_${options.port}`; // cookies do not depend on the port
    this.#hostnames = options.hostnames;
    this.#proxy = options.proxy;
    this.#nameOf = options.nameOf;
  }

  /** Identifies the visitor, and removes a token from the address. */
  readonly identify: MiddlewareHandler = async (c, next) => {
    const given = c.req.query('token');
    if (c.req.method !== 'GET' || given === undefined) {
      c.set('visitor', await this.#visitorOf(c));
      return next();
    }
    await this.enter(c, given);
    const { pathname, searchParams } = new URL(c.req.url);
    searchParams.delete('token');
    return c.redirect(pathname.replace(/^\/+/, '/') + (searchParams.size > 0 ? `?${searchParams.toString()}` : ''), 303);
  };

  /** Checks whether a token belongs to somebody; if so, a cookie replaces it from now on, until the console ends. */
  async enter(c: Context, given: string): Promise<boolean> {
    const cookie = await this.#cookieFor(given);
    if (cookie !== null) setCookie(c, this.#cookie, cookie, { httpOnly: true, sameSite: 'Strict', path: '/' });
    return cookie !== null;
  }

  /** Whether a program sends somebody's token, without a session. */
  async bears(c: Context): Promise<boolean> {
    const given = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
    if (this.token !== null && isSame(given, this.token)) return true;
    return (await this.#personOf(given)) !== null;
  }

  leave(c: Context): void {
    this.#sessions.delete(this.of(c)?.session ?? '');
    deleteCookie(c, this.#cookie, { path: '/' });
  }

  of(c: Context): Visitor | null {
    return (c.get('visitor') as Visitor | null | undefined) ?? null;
  }

  /** Whether a visitor still has a valid session: a token may have been revoked meanwhile. */
  async isStill({ session }: Visitor): Promise<boolean> {
    return session === null || (await this.#known(session)) !== null;
  }

  /** Why this request may not change anything; null: it may. */
  objection(c: Context, form: Record<string, unknown>): string | null {
    const visitor = this.of(c);
    if (visitor === null) return 'Changes require a token: open the address that was printed when the console started, or log in.';
    if (!this.isOwnPage(c)) return 'This request did not come from a page of the console.';
    if (!isSame(typeof form['form_token'] === 'string' ? form['form_token'] : '', visitor.formToken))
      return 'This form has expired or was made for someone else: reload the page.';
    return null;
  }

  /** A TLS proxy in front of the console has an allowed host name, and may pass on another one. */
  isOwnPage(c: Context): boolean {
    const origin = c.req.header('origin') ?? '';
    const url = URL.parse(origin);
    return origin === `http://${c.req.header('host')}` || (url?.protocol === 'https:' && this.#hostnames.includes(url.hostname));
  }

  async #visitorOf(c: Context): Promise<Visitor | null> {
    const named = this.#proxied(c);
    if (named !== null) return { name: named, person: { name: named }, formToken: this.#formToken(`proxy ${named}`), session: null };
    const cookie = getCookie(c, this.#cookie) ?? '';
    if (this.token !== null && isSame(cookie, this.token))
      return { ...this.#shared, formToken: createHmac('sha256', this.token).update('form').digest('base64url'), session: null };
    const known = await this.#known(cookie);
    return known && { name: known.name, person: known.person, formToken: this.#formToken(`session ${cookie}`), session: cookie };
  }

  /** The person named by the proxy; null: nobody, or it is not the proxy. */
  #proxied(c: Context): string | null {
    if (this.#proxy === null) return null;
    const { header, secret, addresses } = this.#proxy;
    if (!isProxyAt(getConnInfo(c).remote.address ?? '', addresses)) return null;
    if (!isSame(c.req.header(PROXY_SECRET) ?? '', secret)) return null;
    // Two headers arrive as one with a comma: the proxy did not remove what a browser sent, so neither is believed.
    const named = Buffer.from(c.req.header(header)?.trim() ?? '', 'latin1').toString();
    return named === '' || named.includes(',') ? null : named;
  }

  /** The session of a cookie, as long as its token is valid. */
  async #known(cookie: string): Promise<Session | null> {
    const session = this.#sessions.get(cookie);
    if (!session) return null;
    if (performance.now() < session.knownUntil) return session;
    if ((await this.#nameOf(session.person)) === null) {
      this.#sessions.delete(cookie);
      return null;
    }
    session.knownUntil = performance.now() + KNOWN_MS;
    return session;
  }

  async #cookieFor(given: string): Promise<string | null> {
    if (this.token !== null && isSame(given, this.token)) return this.token;
    const known = await this.#personOf(given);
    if (known === null) return null;
    const cookie = randomBytes(24).toString('base64url');
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size >= MOST_SESSIONS) this.#sessions.delete(oldest);
    this.#sessions.set(cookie, { ...known, knownUntil: performance.now() + KNOWN_MS });
    return cookie;
  }

  /** The owner of a token; null: nobody. */
  async #personOf(given: string): Promise<Pick<Session, 'person' | 'name'> | null> {
    if (!tokenForm.test(given) || this.#proxy !== null || this.#lookups >= MOST_LOOKUPS) return null;
    this.#lookups++;
    try {
      const person = { token: proofOf(given) };
      const name = await this.#nameOf(person);
      return name === null ? null : { person, name };
    } finally {
      this.#lookups--;
    }
  }

  #formToken(of: string): string {
    return createHmac('sha256', this.#run).update(of).digest('base64url');
  }
}

/** Whether a proxy may connect from there: from this machine, or from a configured address. */
export const isProxyAt = (peer: string, addresses: readonly string[]): boolean =>
  loopbackPeer.test(peer) || addresses.includes(peer.replace(/^::ffff:/, ''));

/** The user who started the console: the holder of its token on this machine is assumed to be that person. */
export function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return ''; // a container may have a user without a name
  }
}

/** Whether the ledger refused to act in somebody's name. */
export const isRefusedName = (error: unknown): boolean => ['42501', 'WL002'].includes(sqlState(error) ?? '');
