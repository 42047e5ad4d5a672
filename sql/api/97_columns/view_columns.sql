-- Comments on columns of views that show a table's column of the same name: copied from the table.

do $do$
declare
  v_column record;
  v_found boolean;
begin
  loop -- a view may read another view
    v_found := false;
    for v_column in
      select v.oid::regclass as relation, a.attname as name, min(s.says) as says
        from pg_class v
        join pg_attribute a on a.attrelid = v.oid and a.attnum > 0 and col_description(v.oid, a.attnum) is null
        join pg_rewrite r on r.ev_class = v.oid
        join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
        join pg_attribute o on o.attrelid = d.refobjid and o.attnum = d.refobjsubid and o.attname = a.attname
        cross join lateral (select col_description(o.attrelid, o.attnum) as says) s
       where v.relnamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and v.relkind = 'v'
       group by v.oid, a.attname
      having count(distinct o.attrelid) = 1 and min(s.says) is not null
    loop
      -- COMMENT takes no parameters.
      execute format('comment on column %s.%I is %L', v_column.relation, v_column.name, v_column.says);
      v_found := true;
    end loop;
    exit when not v_found;
  end loop;
end
$do$;
