// The names under which others reach a server over HTTP. Requests with any other Host are rejected, so that no web page can point its own
// name at a server on its reader's machine.

import { isIPv6 } from 'node:net';

import { UsageError } from '../ledger/errors.ts';

/** The options of a command that serves. */
export type Reached = { host?: string; allowHost?: string[] };

/**
 * The names for an address to listen on and for the further allowed names, as written in a URL. The address of all interfaces is not a
 * name.
 */
export const hostnamesOf = ({ host, allowHost = [] }: Reached): string[] =>
  [...(host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? [] : [host]), ...allowHost].map(asInAddress);

/** A host name or address as written in a URL. */
function asInAddress(name: string): string {
  const url = URL.parse(`http://${isIPv6(name) ? `[${name}]` : name}`);
  if (url === null || url.host !== url.hostname || url.pathname !== '/') throw new UsageError(`"${name}" is not a host name`);
  return url.hostname;
}
