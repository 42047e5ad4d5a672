begin;
select plan(11);
set local work_ledger.now = '2026-01-01 12:00:00+00';

select agent('{"model": "busy"}');
select from faculty_save('{"name": "other", "accepts": ["other"], "engage": {"model": "free"}}');
create temporary table item as select n, (work_submit(case n when 3 then 'other' else 'analyze' end, 'Mend it')).id from generate_series(1, 3) n;
create function pg_temp.id_of(p_n integer) returns uuid language sql as $$ select id from item where n = p_n $$;
create function pg_temp.begin(p_n integer) returns json language plpgsql as $$
declare
  v_claim jsonb := focus_claim(pg_temp.id_of(p_n), 'w');
begin
  return case v_claim ->> 'kind' when 'claimed' then iteration_begin(pg_temp.id_of(p_n), (v_claim ->> 'lease')::uuid) else v_claim::json end;
end
$$;
select is(pg_temp.begin(1) ->> 'kind', 'call_model', 'the first one asks');
select is(iteration_fail(pg_temp.id_of(1), (select lease_token from work_items where id = pg_temp.id_of(1)),
  '{"class": "rate_limited", "message": "too many", "retry_after_seconds": 40}') ->> 'kind', 'retry', 'and is told to wait');
select is((select cooldown_ends_at from models where name = 'busy'), '2026-01-01 12:00:40+00', 'which is for everybody');
create temporary table second as select pg_temp.begin(2) as stage;
select is((select stage ->> 'kind' from second), 'retry', 'the next one does not ask');
select ok((select (stage ->> 'run_at')::timestamptz between '2026-01-01 12:00:40+00' and '2026-01-01 12:00:50+00' from second), 'but comes back behind it, spread a little');
select is((select state_reason from work_items where id = pg_temp.id_of(2)), 'rate_limited: too many', 'and says why');
select is((select call_count from turns where work_item_id = pg_temp.id_of(2)), 0, 'no request was counted');
select is((select model_error_count from foci where work_item_id = pg_temp.id_of(2)), 0, 'nor an error');
select is(pg_temp.begin(3) ->> 'kind', 'call_model', 'another model is asked as ever');
set local work_ledger.now = '2026-01-01 12:01:00+00';
select is(pg_temp.begin(2) ->> 'kind', 'call_model', 'afterwards all go on');
select from turn_record(pg_temp.id_of(2), (select lease_token from work_items where id = pg_temp.id_of(2)), (select id from turns where work_item_id = pg_temp.id_of(2)), '{"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}');
select is((select cooldown_ends_at from models where name = 'busy'), null, 'and it is forgotten');

select * from finish();
rollback;
