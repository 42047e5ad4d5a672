// Who may do what. A page is read by programs on this machine only, or where others can reach it, with the token that was printed
// when the console began; what changes something always needs that token, and a form that the console itself made.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';

import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

export const contentPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** Refuses any other name than these and this machine's own: a page of somebody else's whose name resolves to this address is not read here. */
export const onlyUnder = (hostnames: readonly string[]): MiddlewareHandler => async (c, next) => {
  const host = c.req.header('host') ?? '';
  const isOurs = loopback.test(host) || hostnames.includes(host.replace(/:\d+$/, '').toLowerCase());
  return isOurs ? next() : c.text('This console answers to 127.0.0.1 and localhost only, and to what --allow-host names.\n', 403);
};

/** Only this machine's own programs reach a server that listens there, or is known by that name. */
export const isOwnAddress = (host = '127.0.0.1'): boolean => loopback.test(isIPv6(host) ? `[${host}]` : host);

export const withHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('content-security-policy', contentPolicy);
  c.header('x-content-type-options', 'nosniff');
  // Not no-referrer: with that, a browser names no origin when it posts a form.
  c.header('referrer-policy', 'same-origin');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};

/** The token of one run of the console: in the address once, then in a cookie; its form token is in every form. */
export class Keys {
  readonly token: string;
  readonly formToken: string;
  readonly #cookie: string;
  readonly #hostnames: readonly string[];

  constructor(token: string, port: number, hostnames: readonly string[]) {
    this.token = token;
    this.#hostnames = hostnames;
    this.formToken = createHmac('sha256', token).update('form').digest('base64url');
    this.#cookie = `work_ledger_console_${port}`; // cookies are not told apart by port
  }

  /** Takes the token out of the address. */
  readonly exchange: MiddlewareHandler = async (c, next) => {
    const given = c.req.query('token');
    if (c.req.method !== 'GET' || given === undefined) return next();
    if (isSame(given, this.token)) setCookie(c, this.#cookie, this.token, { httpOnly: true, sameSite: 'Strict', path: '/' });
    const { pathname, searchParams } = new URL(c.req.url);
    searchParams.delete('token');
    return c.redirect(pathname.replace(/^\/+/, '/') + (searchParams.size > 0 ? `?${searchParams.toString()}` : ''), 303);
  };

  /** For a console that others can reach: whoever has not opened the printed address reads nothing. */
  readonly onlyHolders: MiddlewareHandler = async (c, next) =>
    this.holds(c) ? next() : c.text('Open the address that was printed when this console began: it has the token.\n', 403);

  holds(c: Context): boolean {
    return isSame(getCookie(c, this.#cookie) ?? '', this.token);
  }

  /** Why this request may not change anything; null: it may. */
  objection(c: Context, form: Record<string, unknown>): string | null {
    if (!this.holds(c)) return 'Without the token of this console nothing is changed: open the address that was printed when it began.';
    if (!this.#isOwnPage(c)) return 'This request did not come from a page of the console.';
    if (!isSame(typeof form['form_token'] === 'string' ? form['form_token'] : '', this.formToken)) return 'This form is not of this run of the console: reload the page.';
    return null;
  }

  /** A proxy with TLS before the console has an allowed name, and may pass on another. */
  #isOwnPage(c: Context): boolean {
    const origin = c.req.header('origin') ?? '';
    const url = URL.parse(origin);
    return origin === `http://${c.req.header('host')}` || (url?.protocol === 'https:' && this.#hostnames.includes(url.hostname));
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHmac('sha256', 'compared').update(text).digest());
  return timingSafeEqual(a as Buffer, b as Buffer);
}
