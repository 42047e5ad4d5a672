-- What is recorded stays append-only for everybody else, whatever they set, also beside an erasure.
begin;
select plan(11);

select agent('{"tools": ["look"]}');
select submit('Task');
select play('[[["finding", "It is TOML"]], ["done"]]');
create temporary table kept as select id from work_submit('analyze', 'Other');
select from ledger_append((select id from kept), 'finding', 'Stays');

set local work_ledger.erasing = 'on';
set local session_replication_role = replica;
select throws_ok($$ update work_ledger set content = 'x' $$, 'WL007', null, 'no setting opens it');
select throws_ok($$ delete from messages $$, 'WL007', null, 'nor a replication role');
select throws_ok($$ update tool_calls set result = '"x"' where completed_at is not null $$, 'WL007', null, 'not for what is settled either');
set local session_replication_role = origin;

select from work_erase(item());
select throws_ok($$ update work_ledger set content = 'x' $$, 'WL007', null, 'not behind an erasure in the same transaction');
select throws_ok($$ delete from erasures $$, 'WL007', null, 'the tombstone stays');
select is((select content from work_ledger where work_item_id = (select id from kept)), 'Stays', 'other work keeps its words');

create role somebody;
select is(has_function_privilege('somebody', 'work_erase(uuid, text, boolean, boolean)', 'execute'), false, 'nobody may erase who was not granted it');
do $$
declare
  v_schema text;
begin
  foreach v_schema in array array['public', 'work_test', _ledger_schema()] loop
    execute format('grant usage on schema %I to somebody', v_schema);
    execute format('grant all on all tables in schema %I to somebody', v_schema);
    execute format('grant execute on all functions in schema %I to somebody', v_schema);
  end loop;
end
$$;
set local role somebody;
select throws_ok($$ insert into erasing values (pg_current_xact_id()) $$, 'WL007', null, 'with every right to tables and functions nobody says that they erase');
select throws_ok($$ update work_ledger set content = 'x' $$, 'WL007', null, 'or changes an entry');
select throws_ok($$ delete from messages $$, 'WL007', null, 'or removes a message');
reset role;
select throws_ok($$ truncate work_ledger $$, 'WL007', null, 'nothing is ever truncated');

select * from finish();
rollback;
