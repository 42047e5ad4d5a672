// The rows at both ends: none at the target when a move begins, the same at both when it ends.

import { installLedger } from '../install/installLedger.ts';
import { tables } from '../../sql/extensionSource.ts';
import { fenceSql, hasLedger, inTransaction, movedTables } from './ends.ts';
import type { End } from './ends.ts';

/**
 * Makes the target a ledger without rows, to which only replication writes. `isCopy`: it already is one, from a move that broke off.
 * Throws, and changes nothing, if somebody has written to the ledger there.
 */
export async function emptyLedger(source: End, target: End, isCopy: boolean): Promise<void> {
  if (!isCopy) {
    if (await hasLedger(target)) await target.client.query(refuseRows(target));
    await installLedger(target.url, target.schema);
    await sameRoles(source, target);
  }
  await inTransaction(
    target,
    [...(isCopy ? [] : [fenceSql(target, 'from', source), refuseRows(target)]), await truncateSql(target)].join(';\n'),
  );
}

/** Fails if there are rows other than those of the installation, since somebody wrote them; the caller truncates the others. */
const refuseRows = (target: End): string => `do $do$
  declare
    v_table text;
    v_is_used boolean;
  begin
    foreach v_table in array array[${movedTables()
      .map((table) => target.client.escapeLiteral(table))
      .join(', ')}] loop
      execute format('select exists (select from ${target.quoted.replaceAll("'", "''").replaceAll('%', '%%')}.%I t where (to_jsonb(t) ->> ''is_builtin'') is distinct from ''true'')', v_table) into v_is_used;
      if v_is_used then
        raise exception 'the ledger at the target has rows in %: move to where there is none', v_table;
      end if;
    end loop;
  end $do$`;

/**
 * Append-only tables reject truncation, so their triggers are disabled: what is truncated is a copy, to which only replication has written.
 */
async function truncateSql(target: End): Promise<string> {
  const { rows: refusing } = await target.client.query<{ table: string; trigger: string }>(
    `
    select c.relname as table, t.tgname as trigger from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = to_regnamespace($1) and not t.tgisinternal and t.tgtype & 32 <> 0`,
    [target.quoted],
  );
  const all = [
    ...refusing,
    ...tables()
      .map((table) => ({ table, trigger: 'refuse_moved' }))
      .filter(({ table }) => !refusing.some((one) => one.table === table && one.trigger === 'refuse_moved')),
  ];
  const alter = (how: string): string[] =>
    all.map(({ table, trigger }) => `alter table ${target.quoted}.${table} ${how} trigger ${target.client.escapeIdentifier(trigger)}`);
  const copied = [...movedTables(), 'turn_streams'].map((table) => `${target.quoted}.${table}`).join(', '); // which refers to turns
  return [...alter('disable'), `truncate ${copied}`, ...alter('enable always')].join(';\n');
}

/** Roles belong to the server: roles of the same names get the same rights at the target, and are created if they are missing. */
async function sameRoles(source: End, target: End): Promise<void> {
  const [theirs, ours] = await Promise.all(
    [source, target].map(
      async ({ client, quoted }) =>
        (await client.query<{ prefix: string }>(`select left(role, -length(kind)) as prefix from ${quoted}.ledger_roles limit 1`)).rows[0]
          ?.prefix,
    ),
  );
  if (theirs !== undefined && ours === undefined) await target.client.query(`select from ${target.quoted}.work_roles_create($1)`, [theirs]);
}

/**
 * The number of rows at the source, and the tables whose rows differ at the target. Nobody may write to either meanwhile, but the target
 * may be read from a snapshot.
 */
export async function compareRows(
  source: End,
  target: End,
  onTable: (done: { tables: number; of: number; rows: number }) => void,
): Promise<{ rows: number; differing: string[] }> {
  let rows = 0;
  const differing: string[] = [];
  const all = movedTables();
  for (const [n, table] of all.entries()) {
    onTable({ tables: n, of: all.length, rows });
    const [theirs, ours] = await Promise.all([source, target].map((end) => sumOf(end, table)));
    if (theirs?.sum !== ours?.sum || theirs?.count !== ours?.count)
      differing.push(`${table} (${theirs?.count} rows at the source, ${ours?.count} at the target)`);
    rows += Number(theirs?.count);
  }
  return { rows, differing };
}

/** A sum over the hashes of all rows: equal for equal rows, in whatever order they are stored. */
async function sumOf({ client, quoted }: End, table: string): Promise<{ count: string; sum: string }> {
  const {
    rows: [found],
  } = await client.query<{ count: string; sum: string }>(`
    select count(*)::text as count, coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0)::text as sum from ${quoted}.${table} t`);
  return found ?? { count: '', sum: '' };
}

/** Makes the target's sequences continue after the source's last numbers, which replication does not carry over. */
export async function copySequences(source: End, target: End): Promise<void> {
  const { rows: sequences } = await source.client.query<{ name: string }>(
    `
    select s.relname as name from pg_class s join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i') join pg_class t on t.oid = d.refobjid
     where s.relkind = 'S' and t.relnamespace = to_regnamespace($1) and t.relname = any ($2)`,
    [source.quoted, movedTables()],
  );
  for (const { name } of sequences) {
    const named = (end: End): string => `${end.quoted}.${end.client.escapeIdentifier(name)}`;
    const {
      rows: [at],
    } = await source.client.query<{ last_value: string; is_called: boolean }>(`select last_value::text, is_called from ${named(source)}`);
    await target.client.query('select setval($1::regclass, $2, $3)', [named(target), at?.last_value, at?.is_called]);
  }
}
