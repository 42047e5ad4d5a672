// A ledger of a dump as a new one under any name: the ledger is installed from this program's sources, and the rows of the dump come into
// its tables, all in one transaction of psql. So the dump needs nothing but rows, and whatever its schema was called is free to be there, too.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

import pg from 'pg';

import { dumpedTables, encodingCheck, plainScript } from '../../sql/extensionSource.ts';
import { withoutPassword } from '../ledger/address.ts';
import { withConnection } from '../ledger/connection.ts';
import { ledgerOn } from '../ledger/checkLedger.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import { readDump } from './dump.ts';
import { readyToInstall } from './installLedger.ts';
import { renamedRows } from './renamedScript.ts';

/** `from`: the schema that the ledger had; `missingFunctions`: tools and exports whose function is not here. */
export type Restored = { schema: string; from: string; workItems: number; entries: number; missingFunctions: string[] };

/** `from`: which ledger of the dump; undefined: it has one. */
export async function restoreLedger(file: string, url: string, schema: string, from?: string): Promise<Restored> {
  const ledger = await ledgerIn(file, from);
  const there = await withConnection({ connectionString: url }, (client) => ledgerOn(client, schema));
  if (there.ledger !== null) throw new UsageError(`there is a ledger in schema "${schema}" already: name a schema that is free, such as --schema ${there.free}`);
  await readyToInstall(url, schema);
  await runInPsql(url, restoring(file, ledger, schema));
  return { schema, from: ledger.schema, ...(await whatIsThere(url, schema)) };
}

/** What a dump has of a ledger: the columns of each of its tables. */
type Dumped = { schema: string; tables: Map<string, string[]>; encoding: string };

const dumped = dumpedTables();
/** The rows of a worker tell of a process that works elsewhere. */
const isLoaded = (table: string): boolean => dumped.has(table) && table !== 'workers';

async function ledgerIn(file: string, from: string | undefined): Promise<Dumped> {
  const schemas = new Map<string, Map<string, string[]>>();
  let encoding = 'UTF8';
  let isComplete = false;
  for await (const event of readDump(file)) {
    if (event.kind === 'encoding') encoding = event.name;
    if (event.kind === 'complete') isComplete = true;
    if (event.kind !== 'table' || !dumped.has(event.table)) continue;
    const tables = schemas.get(event.schema) ?? new Map<string, string[]>();
    if (tables.has(event.table)) throw new UsageError(`${file} has schema "${event.schema}" more than once: dump one database, with pg_dump`);
    schemas.set(event.schema, tables.set(event.table, event.columns));
  }
  const ledgers = [...schemas].filter(([, tables]) => ['work_items', 'fences', 'work_ledger'].every((table) => tables.has(table)));
  const found = ledgers.filter(([schema]) => from === undefined || schema === from);
  const named = ledgers.map(([schema]) => `"${schema}"`).join(', ');
  const [ledger] = found;
  if (!isComplete) throw new UsageError(`${file} is not a whole dump of pg_dump`);
  if (ledgers.length === 0) throw new UsageError(`${file} has no rows of a ledger`);
  if (ledger === undefined) throw new UsageError(`${file} has no ledger of schema "${from}", but of ${named}`);
  if (found.length > 1) throw new UsageError(`${file} has ledgers of the schemas ${named}: name one with --from`);
  return { schema: ledger[0], tables: ledger[1], encoding };
}

/** What psql is told, from a begin to a commit. */
async function* restoring(file: string, ledger: Dumped, schema: string): AsyncGenerator<string | Buffer> {
  const quoted = pg.escapeIdentifier(schema);
  yield `set client_encoding to 'UTF8'; set client_min_messages to warning; set datestyle to iso; set intervalstyle to postgres; begin;
${encodingCheck()}
select format('create schema %I', ${pg.escapeLiteral(schema)}) where not exists (select from pg_namespace where nspname = ${pg.escapeLiteral(schema)}) \\gexec
${plainScript(schema, null)}
${sameColumns(ledger.tables)}
${withoutForeignKeys}
set client_encoding to '${ledger.encoding}';
`;
  let isOurs = false;
  let after = '';
  for await (const event of readDump(file)) {
    if (event.kind === 'table') {
      isOurs = event.schema === ledger.schema && isLoaded(event.table);
      const condition = dumped.get(event.table) ?? '';
      const columns = ledger.tables.get(event.table)?.join(', ') ?? ''; // those that were checked
      const into = condition === '' ? event.table : `_restored_${event.table}`;
      if (isOurs && condition !== '') yield `create table ${into} as select ${columns} from ${event.table} with no data;\n`;
      if (isOurs) yield `copy ${into} (${columns}) from stdin;\n`;
      after = condition === '' ? '' : `insert into ${event.table} (${columns}) select ${columns} from ${into} ${condition}; drop table ${into};\n`;
    } else if (event.kind === 'rows' && isOurs) yield event.lines;
    else if (event.kind === 'rowsEnd' && isOurs) yield `\\.\n${after}`;
    else if (event.kind === 'sequence' && event.schema === ledger.schema && /^\w+$/.test(event.name)) {
      yield `select setval(c.oid, ${event.value}, ${event.isCalled}) from pg_class c where c.relkind = 'S' and c.oid = to_regclass('${event.name}');\n`;
    }
  }
  yield `set client_encoding to 'UTF8';
set constraints all immediate;
${foreignKeysAgain}
${renamedRows(ledger.schema, schema)}
commit;
select format('analyze %s', c.oid::regclass) from pg_class c where c.relnamespace = ${pg.escapeLiteral(quoted)}::regnamespace and c.relkind = 'r' \\gexec
`;
}

/** Refuses tables that are not those of this program: some of another version would come in, and without what it does to them in an upgrade. */
function sameColumns(tables: ReadonlyMap<string, readonly string[]>): string {
  const wanted = Object.fromEntries([...tables].filter(([table]) => isLoaded(table)).map(([table, columns]) => [table, columns.map((name) => name.replaceAll('"', ''))]));
  return `do $do$
declare
  v_differ text;
begin
  select string_agg(coalesce(d.name, t.name), ', ') into v_differ
    from (select e.key as name, array(select c collate "C" from jsonb_array_elements_text(e.value) c order by 1) as columns from jsonb_each(${pg.escapeLiteral(JSON.stringify(wanted))}) e) d
    full join (
      select c.relname::text collate "default" as name, array_agg(a.attname::text collate "C" order by a.attname::text collate "C") as columns
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       where c.oid = any (array[${[...dumped.keys()].filter(isLoaded).map((table) => `'${table}'::regclass`).join(', ')}])
       group by c.relname) t on t.name = d.name
   where d.columns is distinct from t.columns;
  if v_differ is not null then
    raise exception using errcode = 'feature_not_supported',
      message = format('the dump is not of a whole ledger of this version, for these tables differ: %s; restore it with the work-ledger that made it, and upgrade it then', v_differ);
  end if;
end
$do$;`;
}

/** Tables come in the order of the dump, in which what a row refers to may come later. */
const withoutForeignKeys = `
create table _foreign_keys as
select c.conrelid::regclass as of_table, c.conname, pg_get_constraintdef(c.oid) as definition from pg_constraint c where c.contype = 'f' and c.connamespace = quote_ident(current_schema())::regnamespace;
select format('alter table %s drop constraint %I', of_table, conname) from _foreign_keys \\gexec`;
const foreignKeysAgain = `
select format('alter table %s add constraint %I %s', of_table, conname, definition) from _foreign_keys \\gexec
drop table _foreign_keys;`;

async function runInPsql(url: string, script: AsyncIterable<string | Buffer>): Promise<void> {
  const { address, password } = withoutPassword(url); // every user of the machine can read the arguments of a process
  const child = spawn('psql', [address, '-X', '-q', '-v', 'ON_ERROR_STOP=1'], { stdio: ['pipe', 'ignore', 'pipe'], env: { ...process.env, ...(password !== null && { PGPASSWORD: password }) } });
  const [ended, said] = [once(child, 'close'), text(child.stderr)];
  ended.catch(() => {}); // asked for below
  const given = await pipeline(Readable.from(script, { objectMode: true }), child.stdin).then(() => null, (error: unknown) => error);
  child.stdin.destroy();
  const [code] = (await ended.catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new UsageError('psql is not on PATH (on Debian: apt-get install postgresql-client)') : error;
  })) as [number | null];
  if (given instanceof UsageError) throw given;
  const why = /(?:ERROR|FATAL): {2}(.*)/.exec(await said)?.[1] ?? (await said).trim();
  if (code !== 0 || given !== null) throw new Error(`nothing was restored: ${why || (given === null ? `psql ended with ${code}` : messageOf(given))}`);
}

const whatIsThere = (url: string, schema: string): Promise<Omit<Restored, 'schema' | 'from'>> => withConnection({ connectionString: url }, async (client) => {
  const quoted = client.escapeIdentifier(schema);
  const { rows: [counted] } = await client.query<{ items: number; entries: number; missing: string[] }>(`
    select (select count(*)::integer from ${quoted}.work_items) as items, (select count(*)::integer from ${quoted}.work_ledger) as entries,
           array(select f.named from (select function_name || '(jsonb)' from ${quoted}.abilities union select export_function || '(uuid)' from ${quoted}.retention_policies) f(named)
                  where to_regprocedure(f.named) is null and f.named is not null order by 1) as missing`);
  return { workItems: counted?.items ?? 0, entries: counted?.entries ?? 0, missingFunctions: counted?.missing ?? [] };
});
