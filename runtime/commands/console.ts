// `work-ledger console`: serves a ledger's pages, on 127.0.0.1 by default, until a signal stops it. If a token for MCP is set, it also
// serves agents at /mcp of the same address.

import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';

import { hideEnvironment } from '../../sandbox/ownSecrets.ts';
import type { Settings } from '../config.ts';
import { startConsole } from '../console/server.ts';
import type { Console } from '../console/server.ts';
import { PROXY_SECRET } from '../console/visitors.ts';
import type { Proxy } from '../console/visitors.ts';
import { findDatabase, findLedger } from '../install/findLedger.ts';
import type { Place } from '../install/findLedger.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { sqlState, UsageError } from '../ledger/errors.ts';
import { keepSecret } from '../secrets/known.ts';
import { hostnamesOf } from './hostnames.ts';
import type { Reached } from './hostnames.ts';
import { HTTP_CONNECTIONS, mcpHandler, mcpToken } from './mcp.ts';
import { exit, note, print } from './output.ts';
import { soonOver } from './stoppable.ts';
import { checkPlace, forReading } from './withLedger.ts';

export type ConsoleSettings = Settings &
  Reached & {
    port: number;
    readOnly?: boolean;
    tokenFile?: string;
    people?: boolean;
    userHeader?: string;
    proxySecretFile?: string;
    proxyAddress?: string[];
  };

export async function console(options: ConsoleSettings): Promise<number> {
  const place = await findLedger(forReading(options));
  await checkPlace(place);
  if (!options.readUrl) return serveConsole(place, options);
  // Without a database to write to, no actions are possible.
  return options.databaseUrl
    ? serveConsole({ ...place, primaryUrl: (await findDatabase(options)).url }, options)
    : serveConsole(place, { ...options, readOnly: true });
}

/** Serves until a signal comes. Prints the address with its token once. */
export function serveConsole(place: Place & { primaryUrl?: string }, options: ConsoleSettings): Promise<number> {
  const signalled = new AbortController();
  return soonOver(serve(place, options, signalled), signalled.signal, () => exit.ok);
}

async function serve(place: Place & { primaryUrl?: string }, options: ConsoleSettings, signalled: AbortController): Promise<number> {
  const hostnames = hostnamesOf(options);
  const proxy = proxyOf(options);
  hideEnvironment();
  const stopped = new Promise<void>((resolve) => signalled.signal.addEventListener('abort', () => resolve()));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => signalled.abort());
  const token = options.readOnly || !(options.tokenFile || process.env['WORK_LEDGER_MCP_TOKEN']) ? null : mcpToken(options.tokenFile);
  const mcp = token === null ? null : await openMcp(place, token, hostnames);
  const running = await begin(place, options, hostnames, mcp, proxy);
  const address =
    running.token === '' || (options.readOnly && !running.isOpen) ? running.address : `${running.address}?token=${running.token}`;
  print({ address }, address, options.json ?? false);
  if (mcp) note(`MCP, with the token ${options.tokenFile ? `in ${options.tokenFile}` : 'in WORK_LEDGER_MCP_TOKEN'}: ${running.address}mcp`);
  note(wordsOn(running, options));
  const why = await Promise.race([stopped, running.refused]);
  await mcp?.close();
  await running.close();
  if (why instanceof Error) throw why;
  return exit.ok;
}

/** Says in whose name visitors of the address act. */
function wordsOn({ token, osUser, isOpen }: Console, options: ConsoleSettings): string {
  if (options.readOnly) return 'Read-only: nothing can be changed from it.';
  if (options.userHeader !== undefined)
    return `Whoever the proxy names in ${options.userHeader} acts in that name; it must set this header itself, whatever a browser sends, and ${PROXY_SECRET} to the secret.`;
  if (token === '') return 'Everybody logs in with a token of their own (work-ledger person add NAME), and acts in that name.';
  if (isOpen) return "Whoever opens this address can act, in nobody's name. --people: everybody logs in with a token of their own.";
  return `Whoever opens this address can act in ${osUser === null ? 'your name' : `the name of ${osUser}`}; without the token it is read-only.`;
}

/** The secret is in a file, because every user of the machine can read the arguments of a process. */
function proxyOf({ userHeader, proxySecretFile, proxyAddress = [] }: ConsoleSettings): Proxy | null {
  if (userHeader === undefined) {
    if (proxySecretFile !== undefined || proxyAddress.length > 0)
      throw new UsageError('--proxy-secret-file and --proxy-address require --user-header');
    return null;
  }
  if (!/^[\w-]+$/.test(userHeader)) throw new UsageError(`"${userHeader}" is not the name of a header, such as X-Forwarded-User`);
  const wanted = `--user-header takes --proxy-secret-file FILE, with a secret that the proxy sends as ${PROXY_SECRET}: each program of this machine, an agent's commands too, can connect to this address. Make one with: openssl rand -hex 32`;
  if (proxySecretFile === undefined) throw new UsageError(wanted);
  if (!existsSync(proxySecretFile)) throw new UsageError(`there is no file ${proxySecretFile} with the secret of the proxy`);
  const secret = readFileSync(proxySecretFile, 'utf8').trim();
  if (!/^[\x21-\x7e]{16,}$/.test(secret))
    throw new UsageError(
      `the secret in ${proxySecretFile} needs at least 16 characters, without spaces. Make one with: openssl rand -hex 32`,
    );
  const odd = proxyAddress.find((address) => isIP(address) === 0);
  if (odd !== undefined) throw new UsageError(`"${odd}" is not an IP address: --proxy-address lists those that the proxy connects from`);
  keepSecret(secret);
  return { header: userHeader, secret, addresses: proxyAddress };
}

async function openMcp(
  { url, schema, primaryUrl }: Place & { primaryUrl?: string },
  token: string,
  hostnames: string[],
): ReturnType<typeof mcpHandler> {
  const open = async (at: string): Promise<{ db: Db; url: string }> => ({
    db: await openChecked(at, schema, { maximumPoolSize: HTTP_CONNECTIONS }),
    url: at,
  });
  const written = await open(primaryUrl ?? url);
  return mcpHandler(written, primaryUrl === undefined ? written : await open(url), token, hostnames);
}

async function begin(
  place: Place & { primaryUrl?: string },
  options: ConsoleSettings,
  hostnames: string[],
  mcp: Awaited<ReturnType<typeof mcpHandler>> | null,
  proxy: Proxy | null,
): Promise<Console> {
  try {
    return await startConsole({
      url: place.url,
      ...(place.primaryUrl !== undefined && { primaryUrl: place.primaryUrl }),
      schema: place.schema,
      port: options.port,
      hostnames,
      ...(options.host !== undefined && { host: options.host }),
      isReadOnly: options.readOnly ?? false,
      hasPeople: options.people ?? false,
      ...(proxy && { proxy }),
      ...(mcp && { mcp: mcp.fetch }),
    });
  } catch (error) {
    await mcp?.close();
    if (sqlState(error) === 'EADDRNOTAVAIL')
      throw new UsageError(`this machine has no address ${options.host}: --host must be one of its own, or 0.0.0.0 for all of them`);
    if (sqlState(error) === 'EADDRINUSE')
      throw new UsageError(`port ${options.port} is in use: choose another one with --port, or 0 for any free port`);
    throw error;
  }
}
