-- Each part of work_changes() and ledger_changes() is another text after a change of what it stands for, and the same after any other.
begin;
select plan(22);

create temporary table seen (what text primary key, text text);
create function pg_temp.now() returns table (what text, text text) language sql as $$
  select 'item ' || key, value from jsonb_each_text((select to_jsonb(c) from work_changes(item()) c))
  union all
  select 'ledger ' || key, value from jsonb_each_text((select to_jsonb(c) from ledger_changes() c)) $$;
-- What is another text than at the last look. A changed row is known by its transaction: each change has one of its own.
create function pg_temp.changed() returns text language plpgsql as $$
declare
  v_changed text := (select string_agg(n.what, ', ' order by n.what) from pg_temp.now() n left join seen s using (what) where n.text is distinct from s.text);
begin
  delete from seen;
  insert into seen select * from pg_temp.now();
  return coalesce(v_changed, 'nothing');
end
$$;

select agent('{"tools": ["look", "erase"], "require_approval": "dangerous"}');
select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous"}');
select submit('Fix it');
select pg_temp.changed();
select is(pg_temp.changed(), 'nothing', 'nothing has changed');
savepoint one;
select from ledger_append(item(), 'finding', 'It is slow');
select is(pg_temp.changed(), 'item item, ledger written', 'an entry');
savepoint one;
select lease_renew('w', '{}', '{}', 'here', 7, null, 4);
select is(pg_temp.changed(), 'ledger workers', 'a worker');
savepoint one;
select claim();
select is(pg_temp.changed(), 'item focus, item item, ledger queued, ledger under_way, ledger workers', 'an attempt');
savepoint one;
select begin_iteration();
select is(pg_temp.changed(), 'item item, item turn, ledger under_way', 'a model is asked');
savepoint one;
select answer('[["look"], ["erase"]]');
select is(pg_temp.changed(), 'item approvals, item calls, item turn, ledger approvals, ledger under_way', 'it calls, and asks for approval');
savepoint one;
select from tool_call_settle(item(), lease(), call('t1_1'), 'seen');
select is(pg_temp.changed(), 'item calls, ledger under_way', 'a call has ended');
savepoint one;
select from tool_call_approve(call('t1_2'));
select is(pg_temp.changed(), 'item approvals, ledger approvals', 'a call is approved');
savepoint one;
select from tool_call_begin(item(), lease(), call('t1_2')), tool_call_settle(item(), lease(), call('t1_2'), 'gone');
select is(pg_temp.changed(), 'item calls, ledger under_way', 'the other call has ended');
savepoint one;
select from claim_take(item(), 'the server', p_lease => lease());
select is(pg_temp.changed(), 'item claims, ledger under_way', 'it claims something');
savepoint one;
select from claim_take(item(), 'the server', 'shared', p_lease => lease());
select is(pg_temp.changed(), 'item claims', 'and says more of it');
savepoint one;
select from work_message(item(), 'Hurry');
select is(pg_temp.changed(), 'item inbox, ledger written', 'a message');
savepoint one;
select from budget_set(item(), 'calls', 10);
select is(pg_temp.changed(), 'item budgets', 'a budget');
savepoint one;
select from work_submit('analyze', 'A part', p_parent_id => item());
select is(pg_temp.changed(), 'item below, ledger newest, ledger queued, ledger written', 'a child');
savepoint one;
select from checkpoint_create(item());
select is(pg_temp.changed(), 'item journal', 'a checkpoint');
savepoint one;
select from work_pause(item(), 'until Monday');
select is(pg_temp.changed(), 'item item, ledger under_way', 'it is to pause');
savepoint one;
select from work_fork(turn(), 'Try b');
select is(pg_temp.changed(), 'item forks, ledger newest, ledger queued, ledger written', 'a fork');
create temporary table other as select id from journal_session_create('here', 'Do it');
select pg_temp.changed();
savepoint one;
select from journal_log((select id from other), 'thinking', '{"reasoning": "Hm"}');
select is(pg_temp.changed(), 'ledger written', 'another item logs');
savepoint one;
select from work_complete(item(), 'Fixed it', p_lease => lease());
select ok(pg_temp.changed() ~ 'item item.*ledger ended', 'it is over');
savepoint one;
select from ledger_append((select id from work_items where description = 'A part'), 'note', 'Begun');
select is(pg_temp.changed(), 'ledger written', 'what another item enters is none of this one''s');
select is((select to_jsonb(c) - 'forks' from work_changes(gen_random_uuid()) c) <> '{}' and (select num_nonnulls(item, focus, turn, calls, approvals, inbox, below, budgets) from work_changes(gen_random_uuid())) = 0, true, 'an item that there is not has nothing');
select is((select count(*) from ledger_changes()), 1::bigint, 'one row');

select * from finish();
rollback;
