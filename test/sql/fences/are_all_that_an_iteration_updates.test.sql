-- An iteration that goes on leaves work_items alone: it updates the fence and the focus, each within its page (HOT).
begin;
select plan(4);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}');
select submit();
create function pg_temp.updates(p_table regclass) returns table (updated bigint, elsewhere bigint) language sql as $$
  select n_tup_upd, n_tup_upd - n_tup_hot_upd from pg_stat_xact_user_tables where relid = p_table $$;

select play('[[["look"]]]');
create temporary table before as select t.name, u.* from (values ('work_items'), ('fences'), ('foci')) t(name), pg_temp.updates(t.name::regclass) u;
select drive();
select is((select updated - (select updated from before where name = 'work_items') from pg_temp.updates('work_items')), 0::bigint, 'a claim of work under way does not touch the item');
select answer('[["look"], ["note", "Seen"]]'), run(), iteration_finish(item(), lease());
select is((select updated - (select updated from before where name = 'work_items') from pg_temp.updates('work_items')), 0::bigint, 'nor does the rest of its iteration');
select is((select elsewhere - (select elsewhere from before where name = 'fences') from pg_temp.updates('fences')), 0::bigint, 'the fence stays in its page');
select is((select elsewhere - (select elsewhere from before where name = 'foci') from pg_temp.updates('foci')), 0::bigint, 'and so does the focus');

select * from finish();
rollback;
