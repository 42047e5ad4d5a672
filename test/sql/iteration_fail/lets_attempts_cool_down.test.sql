-- How long an item waits between two attempts: 5 s, doubled with each attempt up to ten minutes, or 5 s always.
begin;
select plan(2);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "exponential", "accepts": ["a"], "recover": {"max_attempts": 10}}');
select from faculty_save('{"name": "constant", "accepts": ["b"], "recover": {"max_attempts": 10, "backoff": "constant"}}');
-- Seconds that an item waits after each of its attempts.
create function pg_temp.waits(p_work_type text) returns integer[] language plpgsql as $$
declare
  v_item work_items := work_submit(p_work_type, 'Fix it', p_run_at => _now());
  v_waits integer[] := '{}';
begin
  for v_n in 1..9 loop
    perform set_config('work_ledger.now', v_item.run_at::text, true);
    perform focus_claim(v_item.id, 'w');
    v_item := give_up(v_item.id);
    v_waits := v_waits || extract(epoch from v_item.run_at - _now())::integer;
  end loop;
  return v_waits;
end
$$;

select is(pg_temp.waits('a'), '{5, 10, 20, 40, 80, 160, 320, 600, 600}', 'an exponential backoff doubles up to ten minutes');
select is(pg_temp.waits('b'), '{5, 5, 5, 5, 5, 5, 5, 5, 5}', 'a constant backoff stays at 5 s');

select * from finish();
rollback;
