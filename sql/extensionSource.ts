// The SQL sources put together: as an extension script, or as a plain script for one schema. Both from the same files:
// sql/schema/ (run once), sql/api/ (run always), and for the extension sql/extension.sql.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const root = new URL('./', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const sqlFiles = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true }).map(String).filter((name) => name.endsWith('.sql')).toSorted().map((name) => `${folder}${name}`);

export const controlFile = (): string => read('work_ledger.control');

export function version(): string {
  const found = /^default_version = '([^']+)'$/m.exec(controlFile())?.[1];
  if (!found) throw new Error('work_ledger.control names no default_version');
  return found;
}

const comment = (): string => /^comment = '([^']+)'$/m.exec(controlFile())?.[1] ?? '';

export type BuiltinAbility = { name: string; description: string; input_schema: Record<string, unknown> };

/** What a ledger brings for every agent to call, in the order in which it is offered (sql/abilities.json). */
export const builtinAbilities = (): BuiltinAbility[] => JSON.parse(read('abilities.json')) as BuiltinAbility[];

/** Digests of the sources of tables and, behind the slash, of functions: what tells two ledgers of one version from each other. */
export const build = (): string => inPackage()?.build ?? [sqlFiles('schema/'), [...sqlFiles('api/'), 'abilities.json']].map(digestOf).join('/');

/** What `make build` has found once for the npm package: every command asks for it. Null: these are the sources themselves. */
const inPackage = (): { build: string; tables: string[] } | null =>
  existsSync(new URL('found.json', root)) ? (JSON.parse(read('found.json')) as { build: string; tables: string[] }) : null;

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0${read(file)}\0`);
  return hash.digest('hex').slice(0, 12);
}

function sources(files: readonly string[]): string {
  const values = { version: version(), build: build(), abilities: JSON.stringify(builtinAbilities()), indexes: indexes().join("', '") };
  return files.map((file) => `-- ${file}\n\n${read(file).replaceAll(/@(version|build|abilities|indexes)@/g, (_, name: keyof typeof values) => values[name])}`).join('\n');
}

/** The names of the ledger's tables. */
export const tables = (): string[] => inPackage()?.tables ?? sqlFiles('schema/').flatMap((file) => [...read(file).matchAll(/^create table (\w+)/gm)].map((found) => found[1] ?? ''));

/** The names of its indexes, without those that belong to keys. */
const indexes = (): string[] => sqlFiles('schema/').flatMap((file) => [...read(file).matchAll(/^create (?:unique )?index (\w+)/gm)].map((found) => found[1] ?? ''));

/** What `create extension work_ledger` runs. */
export function extensionScript(): string {
  return [
    '-- Generated from sql/ by sql/build.ts. Do not edit.',
    '\\echo Use "create extension work_ledger" to load this file. \\quit',
    '',
    sources([...sqlFiles('schema/'), ...sqlFiles('api/'), 'extension.sql']),
  ].join('\n');
}

/** What registers the extension with pg_tle, for servers where nobody can add files but this: then `create extension` finds it. */
export function pgTleScript(): string {
  const script = extensionScript().replace(/^\\echo .*\n/m, '');
  // pg_tle quotes with the last two; it refuses a script that has them.
  for (const quote of ['$work_ledger$', '$_pgtle_o_$', '$_pgtle_i_$']) if (script.includes(quote)) throw new Error(`the extension's script may not contain ${quote}`);
  return `-- Generated from sql/ by sql/build.ts. Do not edit.
-- psql -f pg_tle.sql, as a member of pgtle_admin; then: create schema work_ledger; create extension work_ledger schema work_ledger;

do $install$
declare
  v_script text := $work_ledger$
${script}
$work_ledger$;
begin
  -- Since pg_tle 1.5 an extension can name its schema.
  if exists (select from pg_proc where pronamespace = 'pgtle'::regnamespace and proname = 'install_extension' and 'schema' = any (proargnames)) then
    execute 'select pgtle.install_extension($1, $2, $3, $4, null, $1)' using 'work_ledger', '${version()}', '${comment()}', v_script;
  else
    execute 'select pgtle.install_extension($1, $2, $3, $4)' using 'work_ledger', '${version()}', '${comment()}', v_script;
  end if;
end
$install$;
`;
}

/** META.json, as PGXN asks for it: https://pgxn.org/spec */
export const pgxnMeta = () => ({
  name: 'work_ledger',
  abstract: comment(),
  version: version(),
  maintainer: 'Work Ledger',
  license: 'mit',
  provides: { work_ledger: { abstract: comment(), file: `work_ledger--${version()}.sql`, docfile: 'doc/sql.md', version: version() } },
  prereqs: { runtime: { requires: { PostgreSQL: '15.0.0' } } },
  tags: ['agents', 'llm', 'memory', 'ledger', 'queue'],
  'meta-spec': { version: '1.0.0', url: 'https://pgxn.org/meta/spec.txt' },
});

/** The same for servers where nobody can add files: run in one transaction, with the schema made. `api`: functions and views only. */
export function plainScript(schema: string, parts: 'all' | 'api'): string {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const files = [...(parts === 'all' ? sqlFiles('schema/') : []), ...sqlFiles('api/')];
  // As `create extension` does it: a function may stand before those that it calls.
  return `set local search_path to ${quoted}, pg_temp;\nset local check_function_bodies to off;\n\n${sources(files).replaceAll('@extschema@', quoted)}`;
}

/** Schema files that were changed after their release, each as a sentence. */
export function thawed(): string[] {
  const lines = read('schema/frozen.txt').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.flatMap((line) => {
    const [hash, file = ''] = line.split(/\s+/);
    const now = createHash('sha256').update(read(`schema/${file}`)).digest('hex');
    return now === hash ? [] : [`sql/schema/${file} was changed after its release`];
  });
}
