// Installs the functions that need a JavaScript engine, if the database has one.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { withConnection } from '../ledger/connection.ts';
import { UsageError } from '../ledger/errors.ts';

const languages = ['plv8', 'pljs'] as const;

/** Installs the functions for the engine that the database has, and returns it. */
export async function installJavascript(url: string, schema: string): Promise<(typeof languages)[number]> {
  return withConnection({ connectionString: url }, async (client) => {
    const { rows } = await client.query<{ lanname: (typeof languages)[number] }>(
      'select lanname from pg_language where lanname = any ($1) order by lanname desc',
      [languages],
    );
    const language = rows[0]?.lanname;
    if (language === undefined)
      throw new UsageError(
        'this database has no JavaScript engine: create extension pljs (or plv8) first. The command line does the same work without one.',
      );
    const script = (await functionsSql()).replaceAll('@language@', language).replaceAll('@extschema@', client.escapeIdentifier(schema));
    await client.query(`begin;\n${script}\ncommit`);
    return language;
  });
}

/** The script built with the package, else built from the sources. */
async function functionsSql(): Promise<string> {
  const built = fileURLToPath(new URL('../../plv8/functions.sql', import.meta.url));
  if (existsSync(built)) return readFileSync(built, 'utf8');
  const { databaseFunctions } = await import('../../plv8/build.ts');
  return databaseFunctions();
}
