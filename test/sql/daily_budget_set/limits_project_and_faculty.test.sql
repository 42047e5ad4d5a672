-- An item draws on the budgets of its tree, of its project and of its faculty; on no others.
begin;
select plan(17);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select faculty_save('{"name": "helper", "accepts": ["help"], "awareness": {"enabled": false}}');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "project": "other", "awareness": {"enabled": false}}');
select daily_budget_set('calls', 100, p_project => 'shop'), daily_budget_set('calls', 50, p_faculty => 'worker'), daily_budget_set('calls', 20, p_faculty => 'helper'),
  daily_budget_set('calls', 10, p_faculty => 'worker@other');
create function pg_temp.spent() returns text language sql as $$
  select string_agg(format('%s %s: %s', scope, name, trim_scale(spent)), ', ' order by scope, name) from v_daily_budgets where spent > 0 $$;
create function pg_temp.one(p_item uuid) returns text language plpgsql as $$
begin
  perform work_test.drive(p_item), work_test.answer('[["ledger_read"]]', p_item), work_test.run('[]', p_item), iteration_finish(p_item, work_test.lease(p_item));
  return pg_temp.spent();
end
$$;

select take(work_submit('analyze', 'Fix it', p_project => 'shop', p_budget => '{"calls": 30}'));
select is(pg_temp.one(item()), 'faculty worker: 1, project shop: 1', 'work counts for its project and its faculty');
select is((select trim_scale(spent) from budgets), 1::numeric, 'and for its own budget');
create function pg_temp.draws() returns text language sql as $$
  select string_agg(format('%s %s: %s left', scope, name, trim_scale(remaining)), ', ' order by scope) from v_work_daily_budgets where work_item_id = item() $$;
select is(pg_temp.draws(), 'faculty worker: 49 left, project shop: 99 left', 'what an item draws on is shown, and no other');
select is(pg_temp.one((work_submit('help', 'Look', p_parent_id => item())).id), 'faculty helper: 1, faculty worker: 1, project shop: 2', 'a child of another faculty for its own');
select is((select trim_scale(spent) from budgets), 2::numeric, 'and for the budget above');
select is(pg_temp.one((work_submit('analyze', 'Of no project')).id), 'faculty helper: 1, faculty worker: 2, project shop: 2', 'work of no project for none');
select is(pg_temp.one((work_submit('analyze', 'There', p_project => 'other')).id), 'faculty helper: 1, faculty worker: 2, faculty worker@other: 1, project shop: 2',
  'a project''s faculty is another one of that name');
select is(pg_temp.one((work_fork((select id from turns where work_item_id = item() and status = 'completed'))).id),
  'faculty helper: 1, faculty worker: 3, faculty worker@other: 1, project shop: 3', 'a fork draws on them as its source does');
select count(*) from work_cancel(item());
select is(pg_temp.draws(), null, 'what is over draws on none');
select is(pg_temp.one((work_retry(item())).id), 'faculty helper: 1, faculty worker: 4, faculty worker@other: 1, project shop: 4', 'so does a retry');

select from daily_budget_set('calls', 4, p_project => 'shop');
select submit('Of no project');
select is(drive() ->> 'kind', 'call_model', 'what has room goes on …');
select take(work_submit('help', 'Look', p_project => 'shop'));
select is(drive() ->> 'kind', 'parked', '… what has none in one of its budgets does not');
select is((select state_reason from item), 'the budget of 4 calls a day of project "shop" is used up: 4; it continues at midnight UTC', 'which says which one');
select daily_budget_set('calls', 1, p_faculty => 'helper'), daily_budget_set('calls', 40, p_project => 'shop'), drive();
select is((select state_reason from item), 'the budget of 1 calls a day of faculty "helper" is used up: 1; it continues at midnight UTC', 'one may have room, and the other none');
select budget_set(item(), 'calls', 0), drive();
select is((select run_at from item), 'infinity', 'what its own budget holds up waits for that');
select budget_set(item(), 'calls', 5), drive();
select is((select run_at from item), '2026-11-21 00:00:00+00', 'and then for the day');
select from daily_budget_set('calls', null, p_faculty => 'helper');
select is(drive() ->> 'kind', 'call_model', 'what has room in all goes on');

select * from finish();
rollback;
