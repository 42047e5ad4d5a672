begin;
select plan(3);

insert into work_items (id, root_id, work_type, description, state, created_at, resolved_at)
select v.id, v.id, 'a', 'x', case when v.n % 500 = 0 then 'running' else 'completed' end,
       now() - v.n * interval '1 minute', case when v.n % 500 <> 0 then now() - v.n * interval '1 minute' end
  from (select n, gen_random_uuid() as id from generate_series(1, 5000) n) v;
insert into work_ledger (work_item_id, seq, entry_type, content, created_at)
select id, 1, case when random() < 0.5 then 'finding' else 'note' end, 'x', created_at from work_items;
analyze work_items, work_ledger;

create temporary table plan_lines (query text, line text);
do $$
declare
  v_query record;
  v_line text;
begin
  for v_query in select * from (values
    ('running', 'select * from work_items where state = ''running'' order by created_at desc, id desc limit 10'),
    ('completed', 'select * from work_items where state = ''completed'' and resolved_at > now() - interval ''1 day'' order by resolved_at desc, id desc limit 20'),
    ('findings', 'select * from work_ledger where entry_type = ''finding'' and created_at > now() - interval ''1 day'' order by created_at desc limit 20')
  ) as q(name, text) loop
    for v_line in execute 'explain ' || v_query.text loop
      insert into plan_lines values (v_query.name, v_line);
    end loop;
  end loop;
end
$$;
select ok(exists (select from plan_lines where query = 'running' and line like '%work_items_running%'), 'running items');
select ok(exists (select from plan_lines where query = 'completed' and line like '%work_items_completed%'), 'completed items');
select ok(exists (select from plan_lines where query = 'findings' and line like '%work_ledger_findings%'), 'findings');

select * from finish();
rollback;
