// What a ledger is made of, to be compared with another one.

type Asking = { query(sql: string): Promise<{ rows: { line: string }[] }> };

/** Everything in the schema that somebody could notice, as sorted lines; users' rows left out. */
export async function catalogLines(client: Asking, schema: string): Promise<string[]> {
  await client.query(`set search_path to ${schema}`); // what is not on it is shown with its schema
  const [noted] = (await client.query(`select to_regclass('installed_code')::text as line`)).rows; // 0.1.0 has none
  const { rows } = await client.query(`
    with n as (select oid from pg_namespace where nspname = '${schema}'),
    relation as (select c.* from pg_class c join n on c.relnamespace = n.oid),
    -- What columns that were dropped have left behind is nobody's business.
    attribute as (select a.*, row_number() over (partition by a.attrelid order by a.attnum) as place from pg_attribute a join relation c on c.oid = a.attrelid where a.attnum > 0 and not a.attisdropped)
    select 'function ' || pg_get_functiondef(p.oid) || coalesce(obj_description(p.oid, 'pg_proc'), '') || coalesce(p.proacl, acldefault('f', p.proowner))::text || pg_get_userbyid(p.proowner) as line from pg_proc p join n on p.pronamespace = n.oid
    union all select 'column ' || c.relname || ' ' || a.place || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text || ' ' || a.attidentity::text || a.attgenerated::text || a.attstorage::text || coalesce(a.attcollation::text, '')
                || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || coalesce(col_description(c.oid, a.attnum), '')
           from attribute a join relation c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    union all select 'relation ' || c.relname || ' ' || c.relkind::text || c.relpersistence::text || c.relrowsecurity::text || coalesce(array_to_string(c.reloptions, ','), '') || coalesce(obj_description(c.oid, 'pg_class'), '') || coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r'::"char" end, c.relowner))::text || pg_get_userbyid(c.relowner)
           from relation c
    union all select 'view ' || c.relname || pg_get_viewdef(c.oid) from relation c where c.relkind = 'v'
    union all select 'constraint ' || k.conrelid::regclass::text || ' ' || k.contypid::regtype::text || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) || k.convalidated::text from pg_constraint k join n on k.connamespace = n.oid
    union all select 'domain ' || t.typname || ' ' || format_type(t.typbasetype, t.typtypmod) || coalesce(obj_description(t.oid, 'pg_type'), '') from pg_type t join n on t.typnamespace = n.oid where t.typtype = 'd'
    union all select 'index ' || pg_get_indexdef(i.indexrelid) || i.indisvalid::text from pg_index i join relation c on c.oid = i.indrelid
    union all select 'trigger ' || pg_get_triggerdef(t.oid) || t.tgenabled::text from pg_trigger t join relation c on c.oid = t.tgrelid where not t.tgisinternal
    union all select 'ability ' || name || description || input_schema::text || coalesce(output_schema::text, '') || effect || risk || source || implementation || coalesce(function_name, '') || position::text from ${schema}.abilities where is_builtin
    union all select 'touch rule ' || (to_jsonb(t) - 'updated_at' - 'created_at')::text from ${schema}.touch_rules t where is_builtin
    ${noted?.line ? `union all select 'code ' || c.kind || ' ' || c.name || ' ' || c.digest || ' ' || c.server from ${schema}.installed_code c` : ''}
    union all select 'dumped ' || c.relname || ' ' || x.condition
           from pg_extension e cross join unnest(e.extconfig, e.extcondition) as x(id, condition) join relation c on c.oid = x.id where e.extname = 'work_ledger'
    union all select 'member ' || pg_describe_object(d.classid, d.objid, 0) from pg_depend d join pg_extension e on e.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass where e.extname = 'work_ledger' and d.deptype = 'e'
    order by 1`);
  return rows.map((row) => row.line);
}

/** The lines that only one of them has, those of the first with -, of the second with +. */
export function difference(first: readonly string[], second: readonly string[]): string[] {
  const [one, other] = [new Set(first), new Set(second)];
  return [
    ...first.filter((line) => !other.has(line)).map((line) => `- ${line}`),
    ...second.filter((line) => !one.has(line)).map((line) => `+ ${line}`),
  ];
}
