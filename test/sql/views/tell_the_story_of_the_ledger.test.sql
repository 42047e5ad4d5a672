-- v_ledger, v_decisions, v_errors, v_repeated_errors, v_plan_history, v_step_counts: two items side by side, one of them with two attempts.
begin;
select plan(10);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze", "review"]}');
create temporary table work as
  select 'import' as name, id from work_submit('analyze', 'Find why the import is slow') union all
  select 'report', id from work_submit('review', 'Read the report');
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.name(p_id uuid) returns text language sql as $$ select name from work where id = p_id $$;
create function pg_temp.claim(p_name text) returns text language sql as $$ select set_config('test.' || p_name, focus_claim(pg_temp.id(p_name), 'w') ->> 'lease', true) $$;
create function pg_temp.say(p_name text, p_type text, p_content text) returns integer language plpgsql as $$
begin
  perform later('1 minute');
  return (ledger_append(pg_temp.id(p_name), p_type, p_content, p_lease => nullif(current_setting('test.' || p_name, true), '')::uuid)).seq;
end
$$;

select pg_temp.claim('import');
select pg_temp.say('import', 'plan', 'Look, then fix');
select pg_temp.say('import', 'error', 'No such table');
select pg_temp.say('report', 'decision', 'Read the end first');
select pg_temp.say('report', 'error', 'No such table');
select pg_temp.say('import', 'step', 'Looked: ' || repeat('ä', 2048));
select give_up(pg_temp.id('import'));
set local work_ledger.now = '2026-11-20 13:00:00+00';
select pg_temp.claim('import');
select pg_temp.say('import', 'error', 'No such table');
select pg_temp.say('import', 'error', 'Another one');
select pg_temp.say('import', 'decision', 'Add the index');
select pg_temp.say('import', 'plan', 'Fix');
select pg_temp.say('import', 'step', 'Fixed');

select results_eq($$ select seq, work_type, entry_type::text, left(content, 14), attempt, is_auto from v_ledger where work_item_id = pg_temp.id('import') order by seq $$,
  $$ values (1, 'analyze', 'plan', 'Look, then fix', 1, false), (2, 'analyze', 'error', 'No such table', 1, false), (3, 'analyze', 'step', 'Looked: ääääää', 1, false),
            (4, 'analyze', 'error', 'No such table', 2, false), (5, 'analyze', 'error', 'Another one', 2, false), (6, 'analyze', 'decision', 'Add the index', 2, false),
            (7, 'analyze', 'plan', 'Fix', 2, false), (8, 'analyze', 'step', 'Fixed', 2, false) $$, 'v_ledger: all that an item said, in order, and in which attempt');
select results_eq($$ select seq, work_type, content, created_at from v_ledger where work_item_id = pg_temp.id('report') order by seq $$,
  $$ values (1, 'review', 'Read the end first', timestamptz '2026-11-20 12:03:00+00'), (2, 'review', 'No such table', '2026-11-20 12:04:00+00') $$, 'v_ledger: of another item what that one said');

select results_eq($$ select pg_temp.name(work_item_id), seq, content, created_at from v_decisions order by 1 $$,
  $$ values ('import', 6, 'Add the index', timestamptz '2026-11-20 13:03:00+00'), ('report', 1, 'Read the end first', '2026-11-20 12:03:00+00') $$, 'v_decisions: what was decided');
select results_eq($$ select pg_temp.name(work_item_id), seq, content from v_errors order by 1, 2 $$,
  $$ values ('import', 2, 'No such table'), ('import', 4, 'No such table'), ('import', 5, 'Another one'), ('report', 2, 'No such table') $$, 'v_errors: what failed');
select results_eq($$ select pg_temp.name(work_item_id), content, occurrences, first_seq, last_seq from v_repeated_errors $$,
  $$ values ('import', 'No such table', 2::bigint, 2, 4) $$, 'v_repeated_errors: what an item met twice, and not what two items met once');
select pg_temp.say('report', 'error', 'No such table');
select is((select count(*)::integer from v_repeated_errors), 2, 'v_repeated_errors: an item that meets an error again is in it');

select results_eq($$ select seq, content, is_current from v_plan_history where work_item_id = pg_temp.id('import') order by seq $$,
  $$ values (1, 'Look, then fix', false), (7, 'Fix', true) $$, 'v_plan_history: every plan, the newest is the one that holds');
select pg_temp.say('report', 'plan', 'Go on');
select is((select array_agg(content order by content) from v_plan_history where is_current), array['Fix', 'Go on'], 'v_plan_history: each item has one plan that holds');

select results_eq($$ select pg_temp.name(work_item_id), steps, entries, long_entries from v_step_counts order by 1 $$,
  $$ values ('import', 2::bigint, 8::bigint, 1::bigint), ('report', 0, 4, 0) $$, 'v_step_counts: steps, entries, and those of more than 4 KiB, in bytes');
select is((select count(*)::integer from v_ledger), (select sum(entries)::integer from v_step_counts), 'v_step_counts: no entry is left out');

select * from finish();
rollback;
