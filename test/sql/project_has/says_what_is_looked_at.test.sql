-- What is of a project: its own work, by whatever name, and that of none. Views, sums and digests of one project have nothing of another.
begin;
select plan(23);

select is(project_has(null, 'shop'), true, 'who looks at all sees what is of a project');
select is(project_has(null, null), true, 'and what is of none');
select is(project_has('shop', 'shop'), true, 'who looks at a project sees its work');
select is(project_has('shop', null), true, 'and what is of none');
select is(project_has('shop', 'bank'), false, 'and nothing of another');
select is(project_has('', null), true, 'who looks at none sees what is of none');
select is(project_has('', 'shop'), false, 'and nothing of a project');

select agent();
create temporary table own as
  select n as name, (work_submit('analyze', 'Work of ' || n, p_project => nullif(n, 'none'))).id from unnest('{shop,bank,none}'::text[]) n;
select claim(id, 'w') from own;
select count(*) from unnest('{shop,bank}'::text[]) n cross join lateral work_submit('analyze', 'Waits in ' || n, p_project => n);
select count(*) from unnest('{shop,bank,none}'::text[]) n cross join lateral work_submit('analyze', 'Done in ' || n, p_project => nullif(n, 'none')) w
 cross join lateral work_complete(w.id, 'Done');
select count(*) from project_rename('shop', 'store');

create function pg_temp.seen(p_project text) returns text language sql as $$
  select string_agg(name, ' ' order by name) from own
   where id in (select root_id from v_now_trees t where project_has(p_project, t.project))
$$;
select is(pg_temp.seen(null), 'bank none shop', 'all trees');
select is(pg_temp.seen('shop'), 'none shop', 'those of a project, by its earlier name');
select is(pg_temp.seen(''), 'none', 'those of none');
select results_eq($$ select p, (now_sums(p)).under_way from unnest('{store,bank,"",elsewhere}'::text[]) p $$,
                  $$ values ('store', 2), ('bank', 2), ('', 1), ('elsewhere', 1) $$, 'sums are of the same');
select results_eq($$ select description, project from v_queue where project_has('store', project) $$, $$ values ('Waits in shop', 'store') $$, 'so is the queue');

-- What is stored is of the same project by any of its names, and found by them.
select results_eq($$ select p, project_names(p) from unnest('{store,shop,bank,"",NULL}'::text[]) p $$,
                  $$ values ('store', '{shop,store,""}'::text[]), ('shop', '{shop,store,""}'), ('bank', '{bank,""}'), ('', '{""}'), (null, null) $$, 'names of a project, and none');
select throws_ok($$ select project_names('https://ann:secret@host/shop') $$, 'WL002', null, 'not of what cannot be one');
select is(project_has('store', 'shop'), true, 'work is of its project by the name that it has stored, too');
create function pg_temp.differ(p_view text) returns bigint language plpgsql as $$
declare
  v_rows bigint;
begin
  execute format('select count(*) from %I v cross join unnest(%L::text[]) p(name)
                   where project_has(p.name, v.project) <> (v.stored_project = any (project_names(p.name)))', p_view, '{shop,store,bank,"",elsewhere}') into v_rows;
  return v_rows;
end
$$;
select results_eq($$
  select c.relname::text collate "default" from pg_class c
   where c.relkind = 'v' and c.relnamespace = quote_ident(_ledger_schema())::regnamespace
     and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'stored_project')
     and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project') order by 1 $$,
  $$ values ('v_approvals'), ('v_cost_turns'), ('v_findings_told'), ('v_now_trees'), ('v_queue'), ('v_work_hours'), ('v_work_list') $$, 'views that have both');
select is(pg_temp.differ('v_work_list'), 0::bigint, 'by both a list is the same');
select is(pg_temp.differ('v_now_trees'), 0::bigint, 'so are trees');
select is(pg_temp.differ('v_queue'), 0::bigint, 'and the queue');
select is(pg_temp.differ('v_work_hours'), 0::bigint, 'and sums by the hour');

select set_eq($$ select m[1] from regexp_matches(awareness_digest(null, 'shop'), '(Done in \w+)', 'g') m $$, $$ values ('Done in shop'), ('Done in none') $$,
              'a digest for new work of a project tells of that');
select set_eq($$ select m[1] from regexp_matches(awareness_digest(null, ''), '(Done in \w+)', 'g') m $$, $$ values ('Done in none') $$, 'or of none');
select set_eq($$ select m[1] from regexp_matches(awareness_digest(), '(Done in \w+)', 'g') m $$, $$ values ('Done in shop'), ('Done in none'), ('Done in bank') $$, 'or of all');

select * from finish();
rollback;
