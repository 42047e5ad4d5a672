-- v_work_list: every item, the faculty that works on it, would or did, and why it waits; v_faculties, v_abilities, v_models: with what.
begin;
select plan(18);
set local work_ledger.now = '2026-01-01 12:00Z';

create function pg_temp.line(p_description text) returns v_work_list language sql as $$ select l from v_work_list l where description = p_description $$;
select agent('{"tools": ["look"], "model": "claude-opus-4-5"}', '{"max_concurrent": 1}');
select submit('Fix it');
select is((pg_temp.line('Fix it')).faculty, 'worker', 'nobody works on it yet: the faculty that would');
select is((pg_temp.line('Fix it')).why, null, 'the next free worker takes it');
select from work_submit('analyze', 'For nobody', p_faculty => 'none of that name');
select is((pg_temp.line('For nobody')).faculty, null, 'a faculty that there is not has no work');
select is((select (asked_faculty, why)::text from v_work_list where description = 'For nobody'),
  '("none of that name","there is no faculty ""none of that name""")', 'but the item was submitted to it, and waits for it');
select is((pg_temp.line('For nobody')).why, (select why from v_queue where description = 'For nobody'), 'which is what v_queue says');
select work_cancel(work_item_id) from v_work_list where description = 'For nobody';
select is((select (state, faculty, why)::text from v_work_list where description = 'For nobody'), '(cancelled,,)', 'and so it is when it is over');

select play('[[["finding", "It is slow"], ["look"]]]');
select is((select (faculty, iteration, ledger_count, session_label = item()::text, origin, model, attempts, session_status)::text from v_work_list where work_item_id = item()),
  '(worker,1,1,t,work-ledger,claude-opus-4-5,1,active)', 'how far its attempt is, and where');
select from faculty_save('{"name": "another", "accepts": ["analyze"]}');
select is((pg_temp.line('Fix it')).faculty, 'worker', 'an attempt keeps its faculty');
select from give_up();
select is((pg_temp.line('Fix it')).faculty, 'another', 'between attempts it is the one that takes it next');
select is((select age_seconds from v_work_list where work_item_id = item()), 0::double precision, 'no time has passed');
select later('2 minutes');
select is((select age_seconds from v_work_list where work_item_id = item()), 120::double precision, 'two minutes have');
select work_complete(item(), 'Fixed it');
select is((select (state, faculty, outcome, session_status)::text from v_work_list where work_item_id = item()), '(completed,worker,"Fixed it",completed)', 'it is over: who worked on it last');
select is((select count(*) from v_work_list), (select count(*) from work_items), 'each item has one row');

select is((select array_agg(name order by name) from v_faculties), array['another', 'worker'], 'v_faculties: those of today');
select is((select config #>> '{engage,model}' from v_faculties where name = 'worker'), 'claude-opus-4-5', 'with all their keys');
select is((select (implementation, effect, is_builtin)::text from v_abilities where name = 'look'), '(runtime,pure,f)', 'v_abilities: tools of workers');
select ok((select bool_and(implementation = 'engine' and is_builtin) from v_abilities where name in ('ledger_append', 'recall_block')), 'and the engine''s');
select model_price_save('claude-opus-4-5', 5, 25);
update models set cooldown_ends_at = _now() + interval '1 hour', cooldown_reason = 'rate_limited' where name = 'claude-opus-4-5';
create temporary table resting as select * from v_models where model = 'claude-opus-4-5';
select later('2 hours');
select is(array[(select cooldown_reason from resting), (select cooldown_reason from v_models where model = 'claude-opus-4-5')], array['rate_limited', null], 'v_models: one rests until it may be asked');

select * from finish();
rollback;
