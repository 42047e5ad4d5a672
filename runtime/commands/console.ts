// `work-ledger console`: the pages of a ledger, on 127.0.0.1 unless told otherwise, until a signal stops it. Where a token for MCP is set, agents are
// answered at /mcp of the same address.

import { hideEnvironment } from '../../sandbox/ownSecrets.ts';
import type { Settings } from '../config.ts';
import { startConsole } from '../console/server.ts';
import type { Console } from '../console/server.ts';
import { findDatabase, findLedger } from '../install/findLedger.ts';
import type { Place } from '../install/findLedger.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { sqlState, UsageError } from '../ledger/errors.ts';
import { hostnamesOf } from './hostnames.ts';
import type { Reached } from './hostnames.ts';
import { HTTP_CONNECTIONS, mcpHandler, mcpToken } from './mcp.ts';
import { exit, note, print } from './output.ts';
import { checkPlace, forReading } from './withLedger.ts';

export type ConsoleSettings = Settings & Reached & { port: number; readOnly?: boolean; tokenFile?: string };

export async function console(options: ConsoleSettings): Promise<number> {
  const place = await findLedger(forReading(options));
  await checkPlace(place);
  if (!options.readUrl) return serveConsole(place, options);
  // Without a database to write to there is nothing to act on.
  return options.databaseUrl ? serveConsole({ ...place, primaryUrl: (await findDatabase(options)).url }, options) : serveConsole(place, { ...options, readOnly: true });
}

/** Serves until a signal comes. The address with its token is printed once. */
export async function serveConsole(place: Place & { primaryUrl?: string }, options: ConsoleSettings): Promise<number> {
  const hostnames = hostnamesOf(options);
  hideEnvironment();
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve);
  });
  const token = options.readOnly || !(options.tokenFile || process.env['WORK_LEDGER_MCP_TOKEN']) ? null : mcpToken(options.tokenFile);
  const mcp = token === null ? null : await openMcp(place, token, hostnames);
  const running = await begin(place, options, hostnames, mcp);
  const address = options.readOnly && !running.isOpen ? running.address : `${running.address}?token=${running.token}`;
  print({ address }, address, options.json ?? false);
  if (mcp) note(`MCP, with the token ${options.tokenFile ? `in ${options.tokenFile}` : 'in WORK_LEDGER_MCP_TOKEN'}: ${running.address}mcp`);
  note(options.readOnly ? 'Read-only: nothing can be changed from it.' : running.isOpen ? 'Whoever opens this address can act in your name.' : 'Whoever opens this address can act in your name; without the token it is read-only.');
  const why = await Promise.race([signalled, running.refused]);
  await mcp?.close();
  await running.close();
  if (why instanceof Error) throw why;
  return exit.ok;
}

async function openMcp({ url, schema, primaryUrl }: Place & { primaryUrl?: string }, token: string, hostnames: string[]): ReturnType<typeof mcpHandler> {
  const open = async (at: string): Promise<{ db: Db; url: string }> => ({ db: await openChecked(at, schema, { maximumPoolSize: HTTP_CONNECTIONS }), url: at });
  const written = await open(primaryUrl ?? url);
  return mcpHandler(written, primaryUrl === undefined ? written : await open(url), token, hostnames);
}

async function begin(place: Place & { primaryUrl?: string }, options: ConsoleSettings, hostnames: string[], mcp: Awaited<ReturnType<typeof mcpHandler>> | null): Promise<Console> {
  try {
    return await startConsole({ url: place.url, ...(place.primaryUrl !== undefined && { primaryUrl: place.primaryUrl }), schema: place.schema, port: options.port, hostnames, ...(options.host !== undefined && { host: options.host }), isReadOnly: options.readOnly ?? false, ...(mcp && { mcp: mcp.fetch }) });
  } catch (error) {
    await mcp?.close();
    if (sqlState(error) === 'EADDRNOTAVAIL') throw new UsageError(`this machine has no address ${options.host}: --host names one of its own, 0.0.0.0 all of them`);
    if (sqlState(error) === 'EADDRINUSE') throw new UsageError(`port ${options.port} is taken: --port names another one, 0 any that is free`);
    throw error;
  }
}
