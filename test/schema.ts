// The catalog of a ledger, one line a thing, in test/schema.sql: a reviewer sees what a change does to it. Functions are
// named with what callers see; of their bodies and comments stands a digest, since the text is next door in sql/.
// And docs/sql.md, docs/typescript-reference.md, docs/states.md, and the tables of a faculty's keys, from v_faculty_keys, in docs/faculty.md, and of the metrics, from
// v_metrics, in docs/observability.md; the type of a faculty in runtime/faculty/faculty.ts. And sql/upgrades/called.json: what programs of this version call; the lists of released ones stay,
// and have to hold. Writes the files; with --verify it compares, and upgrades each released version to see that it becomes the same.

import './inMemory.ts';

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { plainScript, version as presentVersion } from '../sql/extensionSource.ts';
import { ensureEmbedded, stopEmbedded } from '../runtime/install/embedded.ts';
import { installLedger } from '../runtime/install/installLedger.ts';
import { withConnection } from '../runtime/ledger/connection.ts';
import type { Metric } from '../runtime/ledger/cost.ts';
import { calledOf, calledText, everything, missingFor } from './called.ts';
import type { Called } from './called.ts';
import { catalogLines, difference } from './catalog.ts';
import { facultyType } from './facultyType.ts';
import type { KeyRow } from './facultyType.ts';
import { earlierVersions, releasedScript } from './released.ts';
import { sqlReference } from './sqlReference.ts';
import { statesPage } from './states.ts';
import { typescriptReference } from './typescriptReference.ts';

const schemaFile = new URL('schema.sql', import.meta.url);
const keysFile = new URL('../docs/faculty.md', import.meta.url);
const facultyFile = new URL('../runtime/faculty/faculty.ts', import.meta.url);
const metricsFile = new URL('../docs/observability.md', import.meta.url);
const referenceFile = new URL('../docs/sql.md', import.meta.url);
const typescriptFile = new URL('../docs/typescript-reference.md', import.meta.url);
const statesFile = new URL('../docs/states.md', import.meta.url);
const calledFile = new URL('../sql/upgrades/called.json', import.meta.url);

const catalog = `
  with ledger as (select 'ledger'::regnamespace as id),
  relation as (select c.* from pg_class c, ledger where c.relnamespace = ledger.id),
  line(section, subject, place, text) as (
    select 1, c.relname, 0, format('create %stable %s (', case c.relpersistence when 'u' then 'unlogged ' else '' end, c.relname) from relation c where c.relkind = 'r'
    union all
    select 1, c.relname, a.attnum::bigint, format('  %I %s%s%s%s,', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
           case a.attgenerated when '' then ' default ' || pg_get_expr(d.adbin, d.adrelid) else format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid)) end,
           case when a.attidentity <> '' then ' generated as identity' end)
      from relation c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relkind = 'r'
    union all
    select 1, c.relname, 1000 + row_number() over (partition by c.oid order by k.conname), format('  constraint %I %s,', k.conname, pg_get_constraintdef(k.oid, true))
      from relation c join pg_constraint k on k.conrelid = c.oid and k.contype <> 'n' and k.contype <> 't'
    union all
    select 1, c.relname, 2000, ')' || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') || ';' || case when c.relrowsecurity then ' -- row-level security' else '' end from relation c where c.relkind = 'r'
    union all
    select 1, c.relname, 3000 + row_number() over (partition by c.oid order by i.indexrelid::regclass::text), pg_get_indexdef(i.indexrelid) || ';'
      from relation c join pg_index i on i.indrelid = c.oid
     where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    union all
    select 1, c.relname, 4000 + row_number() over (partition by c.oid order by t.tgname), pg_get_triggerdef(t.oid) || ';' || case t.tgenabled when 'O' then '' else format(' -- enabled %s', t.tgenabled) end
      from relation c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal
    union all
    select 2, t.typname, 0, format('create domain %s as %s;', t.typname, (select concat_ws(' ', format_type(t.typbasetype, t.typtypmod), string_agg(pg_get_constraintdef(k.oid), ' ' order by k.conname)) from pg_constraint k where k.contypid = t.oid))
      from pg_type t, ledger where t.typnamespace = ledger.id and t.typtype = 'd'
    union all
    select 3, c.relname, 0, format('create view %s with (%s) as%s', c.relname, array_to_string(c.reloptions, ', '), E'\\n' || pg_get_viewdef(c.oid, true)) from relation c where c.relkind = 'v'
    union all
    select 4, p.proname, p.oid::bigint, format('create function %s(%s) returns %s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)) || E'\\n  '
           || concat_ws(' ', (select lanname from pg_language where oid = p.prolang),
                case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                case when p.proisstrict then 'strict' end, case when p.prosecdef then 'security definer' end, case p.proparallel when 's' then 'parallel safe' end,
                (select string_agg('set ' || s, ' ') from unnest(p.proconfig) s where s not like 'search_path=%'),
                case when p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee <> p.proowner) then 'acl ' || coalesce(p.proacl::text, 'of everybody') end)
           || format('; -- body %s, comment %s', case p.proname when 'work_ledger_build' then 'names the sources' else left(md5(p.prosrc), 8) end, left(md5(obj_description(p.oid, 'pg_proc')), 8))
      from pg_proc p, ledger where p.pronamespace = ledger.id)
  select text from line order by section, subject::text collate "C", place, text collate "C"`;

type Client = Parameters<Parameters<typeof withConnection>[1]>[0];
type Key = { path: string; type: string; takes: string; default_value: string | null; says: string };

async function generate(isVerifying: boolean): Promise<Map<URL, string>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'wl-schema-'));
  try {
    const { url } = await ensureEmbedded({ dataDir, isDurable: false });
    await installLedger(url, 'ledger');
    return await withConnection({ connectionString: url }, async (client) => {
      await client.query('set search_path = ledger');
      const { rows } = await client.query<{ text: string }>(catalog);
      if (isVerifying) {
        const fresh = await catalogLines(client, 'ledger');
        for (const version of earlierVersions()) await verifyUpgrade(url, version, fresh);
      }
      const schema =
        ['-- Generated by test/schema.ts from a ledger on the embedded PostgreSQL 18. Do not edit.', ...rows.map(({ text }) => text)].join(
          '\n',
        ) + '\n';
      const keys = await client.query<Key>('select path, type, takes, default_value::text, says from v_faculty_keys');
      const allKeys = await client.query<KeyRow>('select path, type, choices, default_value::text, says from _faculty_keys()');
      const metrics = await client.query<Metric>('select * from v_metrics');
      return new Map([
        [schemaFile, schema],
        [keysFile, withKeys(readFileSync(keysFile, 'utf8'), keys.rows)],
        [facultyFile, facultyType(allKeys.rows)],
        [metricsFile, withMetrics(readFileSync(metricsFile, 'utf8'), metrics.rows)],
        [referenceFile, await sqlReference(client)],
        [statesFile, await statesPage(client)],
        [calledFile, await called(client)],
      ]);
    });
  } finally {
    await stopEmbedded(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The page with the table of keys between its marks. */
function withKeys(page: string, keys: readonly Key[]): string {
  const lines = keys.map(({ path, type, takes, default_value, says }) =>
    type === 'table'
      ? `| **[faculty.${path}]** | | | ${says} |`
      : `| \`${path.replace(/.*\./, '')}\` | ${takes} | ${default_value === null ? '' : `\`${default_value}\``} | ${says} |`,
  );
  return withTable(page, 'v_faculty_keys', [
    '| Key | Takes | Default | |',
    '| --- | --- | --- | --- |',
    '| **[faculty]** | | | |',
    ...lines,
  ]);
}

/** The page with the table of metrics between its marks. */
function withMetrics(
  page: string,
  metrics: readonly { name: string; type: string; unit: string; labels: readonly string[]; says: string }[],
): string {
  const lines = metrics.map(({ name, type, unit, labels, says }) => `| \`${name}\` | ${type} | ${unit} | ${labels.join(', ')} | ${says} |`);
  return withTable(page, 'v_metrics', ['| Metric | Type | Unit | Labels | |', '| --- | --- | --- | --- | --- |', ...lines]);
}

function withTable(page: string, from: string, lines: readonly string[]): string {
  const marked = new RegExp(`(<!-- Generated by test/schema\\.ts from ${from}.*?-->\n)[^]*?(<!-- end -->)`);
  if (!marked.test(page)) throw new Error(`no page has a place for the table from ${from}`);
  return page.replace(marked, (_, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`);
}

/** The lists of released versions, and this one's as it is now. */
async function called(client: Client): Promise<string> {
  const all = await everything(client);
  const lists: Record<string, Called> = existsSync(calledFile) ? JSON.parse(readFileSync(calledFile, 'utf8')) : {};
  const released = Object.entries(lists).filter(([of]) => earlierVersions().includes(of));
  for (const [of, list] of released) {
    for (const says of missingFor(list, all)) {
      console.error(
        `programs of version ${of} would fail: ${says}. Keep it, or raise _oldest_program() and take their list out of sql/upgrades/called.json`,
      );
      process.exitCode = 1;
    }
  }
  return calledText({ ...Object.fromEntries(released), [presentVersion()]: calledOf(all) });
}

/** An upgraded ledger is a fresh one. */
async function verifyUpgrade(url: string, version: string, fresh: readonly string[]): Promise<void> {
  await withConnection({ connectionString: url }, (client) => client.query('create database upgraded'));
  await withConnection({ connectionString: url.replace(/[^/]*$/, 'upgraded') }, async (client) => {
    await client.query(releasedScript(version, 'ledger'));
    await client.query(`begin; ${plainScript('ledger', version)}; commit`);
    const differences = difference(fresh, await catalogLines(client, 'ledger'));
    for (const line of differences.slice(0, 30)) console.error(line.length > 200 ? `${line.slice(0, 200)}…` : line);
    if (differences.length > 0) {
      console.error(
        `in ${differences.length} lines a ledger upgraded from ${version} (+) is not a fresh one (-): sql/upgrades/ has to do what the sources changed, see "Upgrades" in sql/README.md`,
      );
      process.exitCode = 1;
    }
  });
  await withConnection({ connectionString: url }, (client) => client.query('drop database upgraded'));
}

const isVerifying = process.argv.includes('--verify');
function put(file: URL, text: string): void {
  if (!isVerifying) writeFileSync(file, text);
  else if (!existsSync(file) || text !== readFileSync(file, 'utf8')) {
    console.error(
      `${relative(fileURLToPath(new URL('..', import.meta.url)), fileURLToPath(file))} is not what the sources make: look at what changed with \`make schema\` and git diff`,
    );
    process.exitCode = 1;
  }
}
for (const [file, text] of await generate(isVerifying)) put(file, text);
put(typescriptFile, typescriptReference()); // of the type of a faculty, which is among those
