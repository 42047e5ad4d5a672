// `work-ledger install`: installs or upgrades a ledger, or prints the script for a role that may.

import type { Settings } from '../config.ts';
import { findDatabase, findLedger, schemaOn } from '../install/findLedger.ts';
import { installLedger } from '../install/installLedger.ts';
import { installScript } from '../install/installScript.ts';
import { searchPathOf } from '../install/schemaName.ts';
import { standing } from '../ledger/checkLedger.ts';
import { withConnection } from '../ledger/connection.ts';
import { UsageError } from '../ledger/errors.ts';
import { exit, note, print } from './output.ts';

export type InstallOptions = Settings & { print?: boolean; owner?: string; javascript?: boolean };

export async function install(options: InstallOptions): Promise<number> {
  if (options.print) return printScript(options);
  if (options.owner !== undefined)
    throw new UsageError('--owner requires --print: otherwise the ledger belongs to the role that installs it');
  const place = await findLedger(options);
  const installed = await installLedger(place.url, place.schema);
  const language = options.javascript ? await (await import('../install/javascript.ts')).installJavascript(place.url, place.schema) : null;
  const done =
    installed.upgradedFrom !== null
      ? `upgraded from ${installed.upgradedFrom}`
      : installed.renamedFrom !== null
        ? `found in its new schema (it was ${installed.renamedFrom})`
        : installed.changed
          ? 'installed'
          : 'is up to date';
  print(
    { ...installed, ...(language !== null && { language }) },
    `ledger ${installed.version} ${done} in schema ${installed.schema} (${installed.form})${language === null ? '' : `, with functions in ${language}`}`,
    options.json ?? false,
  );
  note(
    `For psql: set search_path to ${searchPathOf(installed.schema)}; to keep it, with one of these before it: alter role current_user, alter database NAME`,
  );
  return exit.ok;
}

/** Without an address, prints the script for an empty database; starts and queries nothing. */
async function printScript(options: InstallOptions): Promise<number> {
  const isNamed = Boolean(options.databaseUrl ?? process.env['DATABASE_URL']);
  const { url } = isNamed ? await findDatabase(options) : { url: null };
  const schema =
    url === null
      ? (options.schema ?? 'work_ledger')
      : await withConnection({ connectionString: url }, (client) => schemaOn(client, options));
  const script = await installScript(url === null ? null : await standing(url, schema), schema, options.owner ?? null);
  if (script === null) note(`nothing is missing in schema ${schema}`);
  print({ schema, script }, script ?? '', options.json ?? false);
  return exit.ok;
}
