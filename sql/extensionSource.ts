// The SQL sources put together: as scripts of an extension, or as a plain script for one schema. Both from the same files:
// sql/schema/ (run once), sql/upgrades/ (run once, on ledgers of earlier versions), sql/api/ (run always), and for the extension
// sql/extension.sql.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const root = new URL('./', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const sqlFiles = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => `${folder}${name}`);

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
export const build = (): string =>
  inPackage()?.build ?? [sqlFiles('schema/'), [...sqlFiles('api/'), 'abilities.json']].map(digestOf).join('/');

/** What `make build` has found once for the npm package: every command asks for it. Null: these are the sources themselves. */
const inPackage = (): { build: string; tables: string[] } | null =>
  existsSync(new URL('found.json', root)) ? (JSON.parse(read('found.json')) as { build: string; tables: string[] }) : null;

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0${read(file)}\0`);
  return hash.digest('hex').slice(0, 12);
}

/** A source with what only the build knows in it: the version, the digests, the abilities, the names of the indexes. */
export function filled(source: string): string {
  const values = { version: version(), build: build(), abilities: JSON.stringify(builtinAbilities()), indexes: indexes().join("', '") };
  return source.replaceAll(/@(version|build|abilities|indexes)@/g, (_, name: keyof typeof values) => values[name]);
}

const sources = (files: readonly string[]): string => filled(files.map((file) => `-- ${file}\n\n${read(file)}`).join('\n'));

/** Functions, views and what comes with them: replaced as a whole at every change. */
const api = (): string => sources(sqlFiles('api/'));

/**
 * Refuses a database that is not in UTF8. For itself, before anything else: the rest is Unicode, which such a database cannot even read.
 */
export const encodingCheck = (): string => read('schema/000_encoding.sql');

/** Refuses a schema that Citus distributes: the one that comes first in the search path, or one that is to be made. */
export const distributionCheck = (): string => read('schema/001_distributed.sql');

/** The names of the ledger's tables. */
export const tables = (): string[] =>
  inPackage()?.tables ??
  sqlFiles('schema/').flatMap((file) => [...read(file).matchAll(/^create table (\w+)/gm)].map((found) => found[1] ?? ''));

/** The names of its indexes, without those that belong to keys. */
const indexes = (): string[] =>
  sqlFiles('schema/').flatMap((file) => [...read(file).matchAll(/^create (?:unique )?index (\w+)/gm)].map((found) => found[1] ?? ''));

const generated = '-- Generated from sql/ by sql/build.ts. Do not edit.';

/** A function keeps its search path as this session would write it, and is compared with that of other sessions. */
const asWritten = 'set local quote_all_identifiers to off;\n';

/** The files of the extension by name: what `create extension work_ledger` runs, and what carries it over from each released version. */
export function extensionScripts(): Map<string, string> {
  const script = (statement: string, ...parts: string[]): string =>
    [generated, `\\echo Use "${statement}" to load this file. \\quit`, '', ...parts].join('\n');
  return new Map([
    [`work_ledger--${version()}.sql`, extensionScript()],
    ...upgradable().map((from): [string, string] => [
      `work_ledger--${from}--${version()}.sql`,
      script('alter extension work_ledger update', asWritten, upgrade(from), sources(['extension.sql']), rolesAgain),
    ]),
  ]);
}

/** What `create extension work_ledger` runs. */
export function extensionScript(): string {
  return [
    generated,
    '\\echo Use "create extension work_ledger" to load this file. \\quit',
    '',
    asWritten,
    sources([...sqlFiles('schema/'), ...sqlFiles('api/'), 'extension.sql']),
  ].join('\n');
}

/**
 * What registers the extension with pg_tle, for servers where nobody can add files but this: then `create extension` and `alter extension …
 * update` find it.
 */
export function pgTleScript(): string {
  const quoted = (script: string): string => {
    // pg_tle quotes with the last two; it refuses a script that has them.
    for (const quote of ['$work_ledger$', '$_pgtle_o_$', '$_pgtle_i_$'])
      if (script.includes(quote)) throw new Error(`the extension's script may not contain ${quote}`);
    return `$work_ledger$\n${script.replace(/^\\echo .*\n/m, '')}\n$work_ledger$`;
  };
  const scripts = extensionScripts();
  const updates = upgradable().map(
    (from) => `
  if not exists (select from pgtle.extension_update_paths('work_ledger') p where p.source = '${from}' and p.target = '${version()}' and p.path is not null) then
    perform pgtle.install_update_path('work_ledger', '${from}', '${version()}', ${quoted(scripts.get(`work_ledger--${from}--${version()}.sql`) ?? '')});
  end if;`,
  );
  return `${generated}
-- psql -f pg_tle.sql, as a member of pgtle_admin; then: create schema work_ledger; create extension work_ledger schema work_ledger;
-- Where an earlier version is installed: alter extension work_ledger update;

do $install$
declare
  v_script text := ${quoted(extensionScript())};
begin
  if exists (select from pgtle.available_extensions() a where a.name = 'work_ledger') then
    if not exists (select from pgtle.available_extension_versions() a where a.name = 'work_ledger' and a.version = '${version()}') then
      perform pgtle.install_extension_version_sql('work_ledger', '${version()}', v_script);
    end if;
    perform pgtle.set_default_version('work_ledger', '${version()}');
  -- Since pg_tle 1.5 an extension can name its schema.
  elsif exists (select from pg_proc where pronamespace = 'pgtle'::regnamespace and proname = 'install_extension' and 'schema' = any (proargnames)) then
    execute 'select pgtle.install_extension($1, $2, $3, $4, null, $1)' using 'work_ledger', '${version()}', '${comment()}', v_script;
  else
    execute 'select pgtle.install_extension($1, $2, $3, $4)' using 'work_ledger', '${version()}', '${comment()}', v_script;
  end if;${updates.join('')}
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

/**
 * The same for servers where nobody can add files: run in one transaction, with the schema made. `since`: what is there, a
 * released version or the tables of this one; null: nothing.
 */
export function plainScript(schema: string, since: string | null): string {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const script = since === null ? sources([...sqlFiles('schema/'), ...sqlFiles('api/')]) : [upgrade(since), rolesAgain].join('\n');
  // As `create extension` does it: a function may stand before those that it calls.
  return `set local search_path to ${quoted}, pg_temp;\nset local check_function_bodies to off;\n${asWritten}\n${script.replaceAll('@extschema@', quoted)}`;
}

/** New functions belong to the ledger's roles like those that they replace, and what is there now was installed. */
const rolesAgain = 'do $do$\nbegin\n  perform _roles_apply(), _code_note();\nend\n$do$;\n';

/** What sql/schema/ says of tables, columns and words: as a whole, like functions. */
const comments = (): string =>
  sqlFiles('schema/')
    .flatMap((file) => read(file).match(/^comment on [^]*?;$/gm) ?? [])
    .join('\n');

/** From a version to this one: what its upgrade scripts do before and after there are the functions of this one. */
function upgrade(from: string): string {
  const scripts = upgradePath(from).map((file) => ({ file, parts: sources([file]).split(/^@functions@\n/m) }));
  for (const { file, parts } of scripts)
    if (parts.length !== 2) throw new Error(`sql/${file} does not say once, in a line of its own, where the @functions@ come`);
  return [
    ...scripts.map(({ parts }) => parts[0] ?? ''),
    comments(),
    '',
    api(),
    ...scripts.map(({ file, parts }) => `-- ${file}, with these functions\n${parts[1] ?? ''}`),
  ].join('\n');
}

/** The upgrade scripts between a version and this one, in order. */
function upgradePath(from: string): string[] {
  const next = new Map(sqlFiles('upgrades/').map((file) => [/^upgrades\/(.+)--/.exec(file)?.[1] ?? '', file]));
  const path: string[] = [];
  for (let at = from; at !== version();) {
    const file = next.get(at);
    if (file === undefined) throw new Error(`sql/upgrades/ has nothing that begins with version ${at}`);
    path.push(file);
    at = /--(.+)\.sql$/.exec(file)?.[1] ?? '';
  }
  return path;
}

type Frozen = { versions: { version: string; build: string; hash: string }[]; upgrades: { name: string; hash: string }[] };

/** What has been released (sql/upgrades/frozen.txt). */
export function frozen(): Frozen {
  const lines = read('upgrades/frozen.txt')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/));
  return {
    versions: lines
      .filter((words) => words.length === 3)
      .map(([name = '', buildOf = '', hash = '']) => ({ version: name, build: buildOf, hash })),
    upgrades: lines.filter((words) => words.length === 2).map(([name = '', hash = '']) => ({ name, hash })),
  };
}

/** The released versions that this one comes after. */
const upgradable = (): string[] =>
  frozen()
    .versions.map((one) => one.version)
    .filter((one) => one !== version());

/** Whether a ledger of that version and build can be upgraded to this one: it has the tables of a release. */
export const isUpgradable = (there: { version: string; build: string }): boolean =>
  frozen().versions.some(
    (one) => one.version === there.version && one.version !== version() && tablesOf(one.build) === tablesOf(there.build),
  );

/** Of a build, the digest of its tables. */
export const tablesOf = (of: string): string => of.split('/')[0] ?? '';

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What was changed after its release, each as a sentence. */
export function thawed(): string[] {
  const { versions, upgrades } = frozen();
  return [
    ...versions
      .filter((one) => one.version === version() && one.hash !== digest(extensionScript()))
      .map(
        (one) =>
          `the sources of version ${one.version} were changed after its release: the next one has a number of its own, in sql/work_ledger.control, and an upgrade script in sql/upgrades/`,
      ),
    ...upgrades
      .filter(({ name, hash }) => hash !== digest(read(`upgrades/${name}.sql`)))
      .map(({ name }) => `sql/upgrades/${name}.sql was changed after its release`),
  ];
}
