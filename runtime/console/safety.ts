// The host names under which the console answers, and what a browser may do with its pages. visitors.ts says who may do what.

import type { MiddlewareHandler } from 'hono';

import { isOwnHost } from '../ownAddress.ts';

export const contentPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/**
 * Rejects any host other than these and this machine's own, so that a foreign page whose name resolves to this address cannot read anything
 * here.
 */
export const onlyUnder =
  (hostnames: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const host = c.req.header('host') ?? '';
    const isOurs = isOwnHost(host) || hostnames.includes(host.replace(/:\d+$/, '').toLowerCase());
    return isOurs ? next() : c.text('This console answers only to 127.0.0.1, localhost and the names given with --allow-host.\n', 403);
  };

export const withHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('content-security-policy', contentPolicy);
  c.header('x-content-type-options', 'nosniff');
  // Not no-referrer, with which browsers send no origin when they post a form.
  c.header('referrer-policy', 'same-origin');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};
