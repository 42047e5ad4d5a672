// The names under which others reach a server over HTTP: requests with any other Host are refused, so that no web page can have
// its own name lead to a server on its reader's machine.

import { isIPv6 } from 'node:net';

import { UsageError } from '../ledger/errors.ts';

/** The options of a command that serves. */
export type Reached = { host?: string; allowHost?: string[] };

/**
 * Of an address to listen on and the names allowed besides, as they are written in a URL. One that stands for all addresses is the name of
 * none.
 */
export const hostnamesOf = ({ host, allowHost = [] }: Reached): string[] =>
  [...(host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? [] : [host]), ...allowHost].map(asInAddress);

/** A name or address of a machine as it is written in a URL. */
function asInAddress(name: string): string {
  const url = URL.parse(`http://${isIPv6(name) ? `[${name}]` : name}`);
  if (url === null || url.host !== url.hostname || url.pathname !== '/') throw new UsageError(`"${name}" is not a host name`);
  return url.hostname;
}
