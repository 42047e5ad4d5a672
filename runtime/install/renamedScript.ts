// Adapts what mentions a ledger's schema by name, and so does not follow when it is renamed: search paths of functions, function names in
// rows, and graphile-worker's task. Everything else is bound to the tables themselves.

import pg from 'pg';

/**
 * Replaces the old name by the new one, in users' functions, too. To be run by the ledger's owner, in one transaction, on functions of this
 * version.
 */
export const renamedScript = (from: string, to: string): string => `
do $renamed$
declare
  v_from text := ${pg.escapeLiteral(from)};
  v_to text := ${pg.escapeLiteral(to)};
  v_alter text;
begin
  for v_alter in
    select format('alter routine %s set search_path = pg_catalog, %I, pg_temp', p.oid::regprocedure, v_to)
      from pg_proc p
     where p.pronamespace = quote_ident(v_to)::regnamespace and format('search_path=pg_catalog, %I, pg_temp', v_from) = any (p.proconfig)
       and pg_has_role(p.proowner, 'usage')
  loop
    execute v_alter;
  end loop;
end
$renamed$;
update ${pg.escapeIdentifier(to)}.installed_code i set digest = c.digest from ${pg.escapeIdentifier(to)}._code_now() c where (c.kind, c.name) = (i.kind, i.name) and c.digest <> i.digest;
${renamedRows(from, to)}
do $renamed$
declare
  v_from text := ${pg.escapeLiteral(`${from}/engage`)};
  v_to text := ${pg.escapeLiteral(`${to}/engage`)};
begin
  -- A job that nobody may move is lost, which does no harm: the first worker adds another. Those of a ledger that has the old name now are its own.
  if to_regclass(${pg.escapeLiteral(`${pg.escapeIdentifier(from)}.work_items`)}) is not null or to_regnamespace('graphile_worker') is null
    or not has_schema_privilege('graphile_worker', 'usage') or not has_table_privilege('graphile_worker._private_jobs', 'update') then
    return;
  end if;
  insert into graphile_worker._private_tasks (identifier)
  select v_to || substr(t.identifier, length(v_from) + 1) from graphile_worker._private_tasks t where starts_with(t.identifier, v_from)
  on conflict do nothing;
  update graphile_worker._private_jobs j
     set task_id = n.id, key = v_to || substr(j.key, length(v_from) + 1)
    from graphile_worker._private_tasks o
    join graphile_worker._private_tasks n on n.identifier = v_to || substr(o.identifier, length(v_from) + 1)
   where o.id = j.task_id and starts_with(o.identifier, v_from);
  delete from graphile_worker._private_tasks t where starts_with(t.identifier, v_from);
end
$renamed$;
`;

/** The qualified names of functions that are stored in rows. */
function renamedRows(from: string, to: string): string {
  const [old, now] = [pg.escapeLiteral(from), pg.escapeLiteral(to)];
  const renamed = (table: string, column: string): string => `update ${pg.escapeIdentifier(to)}.${table}
   set ${column} = quote_ident(${now}) || substr(${column}, length(quote_ident(${old})) + 1)
 where starts_with(${column}, quote_ident(${old}) || '.');`;
  const found = `update ${pg.escapeIdentifier(to)}.abilities set search_path = array_replace(search_path, ${old}::name, ${now}::name) where ${old} = any (search_path);`;
  return [renamed('abilities', 'function_name'), found, renamed('retention_policies', 'export_function')].join('\n');
}
