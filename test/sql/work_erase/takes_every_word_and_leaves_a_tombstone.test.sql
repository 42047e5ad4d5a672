-- Erasing takes every word of a tree and leaves that it was.
begin;
select plan(14);

select agent('{"tools": ["look", "edit_file"]}');
select submit('Secret task canary');
select play('[
  [["look", "canary result"], ["finding", "canary finding"], "canary words"],
  [["step", "canary step"]],
  [["look", "canary again"]],
  [["work_complete", {"summary": "canary outcome"}]]]');
select is((select state from item), 'completed', 'the work is over');
create temporary table was as
  select (select count(*) from messages m join turns t on t.id = m.turn_id where t.work_item_id = item()) as messages,
         (select count(*) from tool_calls where work_item_id = item()) as calls;

create temporary table dry as select * from work_erase(item(), p_is_dry_run => true);
select cmp_ok((select sum(bytes) from dry where kind = 'table' and name = 'messages'), '>', 100::numeric, 'a dry run says how much goes');
select is((select row_count from dry where name = 'work_ledger'), 2::bigint, 'from which table');
select isnt((select description from item), '[erased]', 'and takes nothing');

create temporary table gone as select * from work_erase(item(), 'asked for it');
select is((select jsonb_agg(to_jsonb(g) order by kind, name) from gone g), (select jsonb_agg(to_jsonb(d) order by kind, name) from dry d), 'erasing takes what the dry run said');
select is_empty(
  $$ select r.relname from pg_class r where r.relnamespace = _ledger_schema()::regnamespace and r.relkind = 'r'
      and query_to_xml(format('select * from %I t where t::text ~* %L', r.relname, 'canary'), true, false, '')::text ~ '<row>' $$,
  'no table holds one of its words');
select is((select (description, outcome_data ->> 'summary', state)::text from item), '([erased],[erased],completed)', 'its row is a tombstone');
select is((select array_agg(content order by seq) from ledger_read(item())), '{[erased],[erased]}', 'so are its entries');
select is((select (reason, keep, erased_at is not null, quote_count)::text from erasures), '("asked for it",nothing,t,0)', 'why stays');
select is((select row(count(*), (select count(*) from tool_calls where work_item_id = item())) from messages m join turns t on t.id = m.turn_id where t.work_item_id = item()),
          (select row(messages, calls) from was), 'and that each message and call was');
select alike(context_at(turn())::text, '%[erased]%', 'a request of it says so');
select is_empty($$ select * from erasing $$, 'nothing else may be erased behind it');
select is_empty($$ select * from work_erase(item()) where kind = 'table' $$, 'erasing again finds nothing');
select throws_ok($$ select work_fork(turn()) $$, 'WL003', null, 'nothing continues from it');

select * from finish();
rollback;
