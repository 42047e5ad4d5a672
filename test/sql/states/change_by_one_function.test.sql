-- _work_move() changes the state of an item, by nothing but the declared ways, and brings with it what belongs to the new state.
begin;
select plan(10);

set local work_ledger.now = '2026-11-24 12:00Z';
select agent('{}', '{"max_concurrent": 1}');
select submit();
-- The row of the item in hand, with another state.
create function pg_temp.moved(p_state text, p_mover text) returns work_items language sql as $$
  select _work_move(jsonb_populate_record(w, jsonb_build_object('state', p_state)), p_mover) from work_items w where w.id = item()
$$;
select throws_ok($$ select pg_temp.moved('running', 'iteration_begin') $$, 'WL008', null, 'work that nobody has claimed does not run');
select throws_ok($$ select pg_temp.moved('cancelled', 'work_pause') $$, 'WL008', null, 'a way belongs to one function');
select throws_ok($$ select pg_temp.moved('waiting', 'nobody') $$, 'WL008', null, 'what is not declared goes nowhere');
select is((select state from item), 'queued', 'and nothing is written');

select drive(), work_pause(item());
select is((select array[state, slot_faculty, is_pausing::text] from item), array['running', 'worker', 'true'], 'an item that is driven has a slot, and may be to pause');
select is((select array[state, slot_faculty, is_pausing::text, resolved_at::text] from pg_temp.moved('cancelled', '_focus_close')),
  array['cancelled', null, 'false', _now()::text], 'one that ends has neither, and the time of its end');
select throws_ok($$ select pg_temp.moved('queued', 'work_resume') $$, 'WL008', null, 'a final state is not left');

select faculty_save('{"name": "far", "accepts": ["far"], "hosts": ["nowhere"]}');
select submit('Look', 'far'), claim(), work_pause(item());
select is((select array[state, is_stranded::text] from item), array['paused', 'false'], 'an item that is paused does not wait for a host');

select is((select array_agg(s.state order by s.state) from _work_states() s),
  (select array_agg(m[1] order by m[1]) from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), $r$'(\w+)'::text$r$, 'g') m where c.conname = 'state_is_known' and c.conrelid = 'work_items'::regclass),
  'the states are those of the table');
select is((select array_agg(s.state order by s.state) from _work_states() s where s.is_final),
  (select array_agg(m[1] order by m[1]) from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), $r$'(\w+)'::text$r$, 'g') m where c.conname = 'finished_items_have_resolved_at'),
  'and so are the final ones');

select * from finish();
rollback;
