// Functions that the rest of the runtime has, too, as programs get them: their arguments are checked, their errors are those of
// LedgerClient, and what requires an optional package is loaded when it is called.

import { loadPackage } from '../sandbox/optionalPackage.ts';
import { dbOf } from './client.ts';
import type { LedgerClient } from './client.ts';
import { projectNamedIn } from './commands/configFile.ts';
import { FacultyError, loadFaculties as load } from './faculty/loadFaculties.ts';
import type { LoadedFaculty } from './faculty/loadFaculties.ts';
import * as embedded from './install/embedded.ts';
import type { Embedded } from './install/embedded.ts';
import * as install from './install/installLedger.ts';
import type { Installed } from './install/installLedger.ts';
import { checkAddress } from './ledger/checkAddress.ts';
import * as check from './ledger/checkLedger.ts';
import { argumentError, clientError, clientErrors } from './ledger/clientError.ts';
import { UsageError } from './ledger/errors.ts';
import { checkSchema, checkText, kindOf } from './ledger/given.ts';
import * as listener from './ledger/listener.ts';
import * as project from './project.ts';
import * as commands from './tools/commandTool.ts';
import type { McpTools } from './tools/mcpTools.ts';
import type { Tool } from './tools/tool.ts';

const at = <T>(url: unknown, schema: unknown, use: () => Promise<T>): Promise<T> =>
  clientErrors(url, () => {
    checkAddress(url);
    checkSchema(schema);
    return use();
  });

/**
 * Installs a ledger if there is none, unless `mayInstall` is false. Does not touch an existing one; throws OtherLedger if it does not fit.
 */
export function readyLedger(url: string, schema: string, options: { mayInstall?: boolean } = {}): Promise<void> {
  return at(url, schema, () => install.readyLedger(url, schema, options));
}

/**
 * Installs graphile-worker's schema and the ledger in the database. Upgrades an earlier release; adapts a ledger whose schema was renamed;
 * renews a ledger of this version if only its functions differ.
 */
export function installLedger(url: string, schema: string): Promise<Installed> {
  return at(url, schema, () => install.installLedger(url, schema));
}

/**
 * Throws OtherLedger if there is no ledger that this program can work with or, for a worker, if graphile-worker's schema is missing,
 * outdated or closed to this role. Only reads.
 */
export function checkLedger(url: string, schema: string, options: { isWorker?: boolean } = {}): Promise<void> {
  return at(url, schema, () => check.checkLedger(url, schema, options));
}

/**
 * From now on the notifications of the database at `url`, a pooler, are received at `address`: the server's own, or that of a pooler in
 * session mode. Throws LedgerError WL002 for anything but addresses.
 */
export function listenAt(url: string, address: string): void {
  try {
    for (const one of [url, address]) checkAddress(one);
    listener.listenAt(url, address);
  } catch (error) {
    throw argumentError(error);
  }
}

/** Makes sure that the embedded server runs and has the database `work_ledger`. Safe to call from several processes at once. */
export function ensureEmbedded(options: { dataDir?: string; isDurable?: boolean } = {}): Promise<Embedded> {
  return clientErrors(null, () => {
    if (options.dataDir !== undefined) checkText('dataDir', options.dataDir);
    return embedded.ensureEmbedded(options);
  });
}

/** Stops the embedded server; false if none was running. */
export function stopEmbedded(dataDir: string = embedded.defaultDataDir()): Promise<boolean> {
  return clientErrors(null, () => {
    checkText('dataDir', dataDir);
    return embedded.stopEmbedded(dataDir);
  });
}

/**
 * The `project` of the nearest work-ledger.toml; otherwise, in a repository, its remote as host/path (origin, or else the first by name)
 * or, without a remote, its path; otherwise the directory's path.
 */
export function projectOf(directory: string): Promise<string> {
  return clientErrors(null, () => {
    checkText('the directory', directory);
    return project.projectOf(directory);
  });
}

/**
 * Reads faculty files, and every *.toml in directories, as `work-ledger faculty` does, but saves nothing: pass each `config` to
 * saveFaculty(). Throws FacultyError with every problem in all of them; each has file, line, column and a message, which suggests the key
 * or word that was probably meant. `warnings` lists what is accepted but has no effect.
 */
export async function loadFaculties(ledger: LedgerClient, paths: string | readonly string[]): Promise<LoadedFaculty[]> {
  try {
    const files: unknown = typeof paths === 'string' ? [paths] : paths;
    if (!Array.isArray(files)) throw new UsageError(`the paths of faculties must be a text or a list of texts, not ${kindOf(files)}`);
    for (const file of files) checkText('the path of a faculty', file);
    return await load(dbOf(ledger), files as string[], projectNamedIn);
  } catch (error) {
    throw error instanceof FacultyError ? error : clientError(error, '');
  }
}

/** Returns the tools of a parsed TOML file. Throws LedgerError WL002, which says what is wrong in it. */
export function commandTools(document: unknown): Tool[] {
  try {
    return commands.commandTools(document);
  } catch (error) {
    throw argumentError(error);
  }
}

/**
 * Starts the servers of a parsed .mcp.json and asks each for its tools. Throws LedgerError WL002, which says what is wrong in it or missing,
 * or an Error that says how a server failed.
 */
export function mcpTools(document: unknown): Promise<McpTools> {
  return clientErrors(null, async () => {
    const mcp = await loadPackage('@modelcontextprotocol/client', 'mcpTools()', () => import('./tools/mcpTools.ts'));
    return mcp.mcpTools(document);
  });
}
