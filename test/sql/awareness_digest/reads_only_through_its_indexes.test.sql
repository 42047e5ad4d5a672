begin;
select plan(3);

set local enable_seqscan = off;
create temporary table plan_lines (line text);
do $$ declare v_line text; begin
  for v_line in execute 'explain select * from work_items where state = ''running'' order by created_at desc, id desc limit 10' loop insert into plan_lines values ('running ' || v_line); end loop;
  for v_line in execute 'explain select * from work_items where state = ''completed'' and resolved_at > now() order by resolved_at desc, id desc limit 20' loop insert into plan_lines values ('completed ' || v_line); end loop;
  for v_line in execute 'explain select * from work_ledger where entry_type = ''finding'' and created_at > now() order by created_at desc limit 20' loop insert into plan_lines values ('findings ' || v_line); end loop;
end $$;
select ok(exists (select from plan_lines where line like 'running %work_items_running%'), 'running items');
select ok(exists (select from plan_lines where line like 'completed %work_items_completed%'), 'completed items');
select ok(exists (select from plan_lines where line like 'findings %work_ledger_findings%'), 'findings');

select * from finish();
rollback;
