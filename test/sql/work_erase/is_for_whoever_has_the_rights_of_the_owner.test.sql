-- Without roles of the ledger its owner erases, and whoever has the owner's rights; nobody else, whatever was granted.
begin;
select plan(6);

select agent('{"tools": ["look"]}');
select submit('Canary');
select play('[[["finding", "canary"]], ["done"]]');
select set_config('test.item', item()::text, true);
select from retention_policy_save('0 seconds', 'completed');
set constraints all immediate;
create role ledger_owner;
create role member_of_it in role ledger_owner;
create role guest_of_it noinherit in role ledger_owner;
create role stranger;
do $$
begin
  perform _roles_own('ledger_owner');
  execute format('grant usage on schema %I, work_test, public to ledger_owner, guest_of_it, stranger', _ledger_schema());
  execute format('grant all on all tables in schema %I to guest_of_it, stranger', _ledger_schema());
  execute format('grant execute on all functions in schema %I to guest_of_it, stranger', _ledger_schema());
end
$$;

set local role stranger;
select throws_ok('insert into erasing values (pg_current_xact_id())', 'WL007', null, 'a stranger with every right to the tables does not say that it erases');
set local role guest_of_it;
select throws_ok('insert into erasing values (pg_current_xact_id())', 'WL007', null, 'a member that does not inherit the rights of the owner has to become the owner first');
set local role member_of_it;
select is((work_retention_run() ->> 'root_id')::uuid, current_setting('test.item')::uuid, 'a member of the owner erases what policies say');
select is((select count(*) from (select work_retention_run() from generate_series(1, 5)) r), 5::bigint, 'it goes on until nothing is left');
select is((select array_agg(content) from work_ledger), '{[erased]}', 'the words have gone');
select throws_ok($$ update work_ledger set content = 'x' $$, 'WL007', null, 'what is recorded stays append-only for it');
reset role;

select * from finish();
rollback;
