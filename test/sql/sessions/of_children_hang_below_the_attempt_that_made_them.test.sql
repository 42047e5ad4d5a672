-- The session of a child that no call made hangs below its parent's newest attempt at that time.
begin;
select plan(2);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
create temporary table parent as select submit('Fix it') as id;
create function pg_temp.child_of(p_id uuid) returns text language plpgsql as $$
declare
  v_child uuid := (select id from work_submit('analyze', 'A part of it ' || clock_timestamp(), p_parent_id => p_id));
begin
  perform focus_claim(v_child, 'w');
  return (select parent_session_label from sessions where label = v_child::text);
end
$$;
select claim();
select is(pg_temp.child_of(item()), item()::text, 'a child of the first attempt hangs below it');
select give_up(), later('1 hour'), claim();
select is(pg_temp.child_of(item()), item() || '/2', 'a child of the second below that');

select * from finish();
rollback;
