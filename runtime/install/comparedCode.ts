// Compares the code of a ledger with that of this package: the owner of a ledger can replace each of its functions, including those that
// verify it. The package's own are installed in a second schema, which is rolled back, so that the same server writes out both definitions.

import { randomBytes } from 'node:crypto';

import type pg from 'pg';

import { plainScript } from '../../sql/extensionSource.ts';
import { withConnection } from '../ledger/connection.ts';
import { sqlState } from '../ledger/errors.ts';

/**
 * The differences, each as {place, problem}. Null: this role, or this server, does not allow creating a schema, and nothing was compared.
 */
export function comparedCode(url: string, schema: string): Promise<{ place: string; problem: string }[] | null> {
  return withConnection({ connectionString: url }, async (client) => {
    const beside = `verify_${randomBytes(8).toString('hex')}`;
    await client.query('begin');
    try {
      await client.query(`create schema ${beside}; ${plainScript(beside, null)}`);
    } catch (error) {
      if (['42501', '25006'].includes(sqlState(error) ?? '')) return null;
      throw error;
    }
    // A script always quotes the schema's name, an extension only if necessary.
    const unquoted = (text: string): string => text.replaceAll(client.escapeIdentifier(schema), () => schema);
    const ours = await definitions(client, beside, (text) =>
      unquoted(text.replaceAll(`"${beside}"`, () => schema).replaceAll(beside, () => schema)),
    );
    const theirs = await definitions(client, schema, unquoted);
    const names = [...ours.keys(), ...theirs.keys()].filter(
      (name, i, all) => all.indexOf(name) === i && ours.get(name) !== theirs.get(name),
    );
    const isTaken = (name: string): boolean =>
      name.startsWith('trigger ') || [...ours.keys()].some((our) => our.split('(')[0] === name.split('(')[0]);
    return names
      .filter((name) => ours.has(name) || isTaken(name))
      .toSorted()
      .map((name) => ({
        place: name,
        problem: theirs.has(name) ? (ours.has(name) ? 'is not the one of this package' : 'does not belong to this package') : 'missing',
      }));
  });
}

/** Functions, triggers and views by kind and name, as the server writes them out. Functions in JavaScript have no source here. */
async function definitions(client: pg.Client, schema: string, renamed: (text: string) => string): Promise<Map<string, string>> {
  await client.query(`select set_config('search_path', 'pg_catalog, ' || quote_ident($1) || ', pg_temp', true)`, [schema]);
  const { rows } = await client.query<{ name: string; definition: string }>(
    `
    select 'function ' || p.oid::regprocedure as name,
           concat_ws(E'\\n', l.lanname, p.provolatile, p.proisstrict, pg_get_function_result(p.oid), pg_get_function_arguments(p.oid), array_to_string(p.proconfig, ','), p.prosrc,
             pg_get_function_sqlbody(p.oid)) as definition
      from pg_proc p join pg_language l on l.oid = p.prolang
     where p.pronamespace = to_regnamespace(quote_ident($1)) and p.prokind = 'f' and p.proname !~ '^_js_(?!text)'
    union all
    select format('trigger %I on %s', t.tgname, t.tgrelid::regclass), concat_ws(E'\\n', pg_get_triggerdef(t.oid), t.tgenabled)
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = to_regnamespace(quote_ident($1)) and not t.tgisinternal and t.tgfoid is distinct from to_regprocedure(quote_ident($1) || '._refuse_moved()')
    union all
    select 'view ' || c.oid::regclass,
           regexp_replace(pg_get_viewdef(c.oid), '(::[a-z ]+) AS "?(text|int4|int8|bool|numeric|float8|uuid|jsonb?|timestamptz|interval)\\M"?', '\\1', 'g')
      from pg_class c where c.relnamespace = to_regnamespace(quote_ident($1)) and c.relkind = 'v'`,
    [schema],
  );
  return new Map(rows.map(({ name, definition }) => [renamed(name), renamed(definition)]));
}
