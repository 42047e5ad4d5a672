-- The sums stored with each turn are, character by character, what a walk over the parts of its request finds.
begin;
select plan(16);

select agent('{"tools": ["look", "read_file", "edit_file"], "elide_budget": 300, "keep_budget": 2000, "ledger_nudge_interval": 3, "compact_keep_recent": 2}', '{"awareness": {"refresh_every": 2}, "max_concurrent": 5}');
select submit('Another');
select from ledger_append(item(), 'finding', 'The clock is an hour late');
select submit('Fix it');
create function pg_temp.off() returns table (iteration integer, part text, stored bigint, walked bigint) language sql as $$
  select t.iteration, u.*
    from turns t
    join turn_sizes s on s.turn_id = t.id
    cross join lateral (select * from _request_sizes(t) w where t.parent_turn_id is not null) w
    cross join lateral _told_sizes(t) o
    cross join lateral (values
      ('task', s.task, w.task + o.task), ('digest', s.digest, w.digest + o.digest), ('stubs', s.stubs, w.stubs), ('kept', s.kept, w.kept),
      ('closed', s.closed, w.closed), ('words', s.words, w.words), ('results', s.results, w.results), ('people', s.people, w.people + o.people),
      ('engine', s.engine, w.engine + o.engine),
      ('all', s.task + s.digest + s.stubs + s.kept + s.closed + s.words + s.results + s.people + s.engine - o.task - o.digest - o.people - o.engine,
        _parts_chars(t.parent_turn_id, _elision_chain(t.elision_id), '')),
      ('said', s.said - o.task - o.digest - o.people - o.engine, _parts_chars(t.parent_turn_id, null, ''))) u(part, stored, walked)
   where t.turn_type = 'normal' and u.stored <> u.walked $$;

select play(jsonb_build_array(
  jsonb_build_array('I look.', jsonb_build_array('read_file', '{"path": "a.ts"}'::jsonb, repeat('line of a ', 40))),
  jsonb_build_array(jsonb_build_array('look', 'saw')),
  '[{"type": "thinking", "thinking": "hm, it may be the clock", "signature": "s"}, ["finding", "It is the clock"], ["look"]]'::jsonb));
select from work_message(item(), 'Only a.ts, please');
select play(jsonb_build_array(
  '[["step", "Read it"], ["look", "more"]]'::jsonb,
  jsonb_build_array(jsonb_build_array('look', repeat('long ', 200))),
  '[["step", "Looked"]]'::jsonb));
select from ledger_append((select id from work_items where description = 'Another'), 'finding', 'And so is the calendar');
select play(jsonb_build_array('[["look"]]'::jsonb, '["Now I edit.", ["edit_file", {"path": "a.ts"}, "done"], ["look"]]'::jsonb, '[["look", "failed to see"]]'::jsonb,
  jsonb_build_array(jsonb_build_array('look', repeat('very long ', 2000))), '[["look"]]'::jsonb, '[["look"]]'::jsonb));
select context_compact(item());
select drive();
select summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "It is the clock."}], "stop_reason": "end_turn", "usage": {"input_tokens": 100}}');
select begin_iteration();
select answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease());
select play('[[["step", "Edited"]], [["look"]]]');

select is_empty($$ select * from pg_temp.off() $$, 'every sum is that of a walk');
select ok((select count(*) > 12 from turn_sizes), 'there are turns');
select is((select array[max(stubs) > 0, max(digest) > 0, max(people) > 0, max(engine) > 0, max(closed) > 0, max(words) > 0, max(results) > 0, max(kept) > 0] from turn_sizes), array_fill(true, array[8]), 'with parts of each kind');
select ok((select count(distinct elision_id) >= 2 from turns), 'and cuts');
select ok((select count(*) >= 1 from compactions where is_applied), 'and a compaction');

-- A fork, another attempt.
create temporary table original as select item();
select take(work_fork((select id from turns where work_item_id = item() and iteration = 8), 'Try without the cache'));
select play('[[["look"]], [["step", "Tried"]], [["look"]]]');
select is_empty($$ select * from pg_temp.off() $$, 'in a fork, too');
select take((select * from original));
select give_up();
update work_items set run_at = _now() where id = item();
select play('[[["look"]], [["look"]]]');
select is_empty($$ select * from pg_temp.off() $$, 'and in another attempt');

-- The timeline.
create temporary table line as select * from context_timeline(item()::text);
select is((select array_agg(n order by n) from line), (select array_agg(i) from generate_series(1, (select count(*)::integer from turns where work_item_id = item() and turn_type = 'normal' and focus_id = (select id from foci where work_item_id = item() and attempt = 1))) i), 'a row for each model call, in order');
select is((select bool_and(sent = system + tools + task + digest + stubs + kept + closed + words + results + people + engine) from line), true, 'sent is the sum of the parts');
select is((select bool_and(said >= lag) from (select said, lag(said, 1, 0) over (order by n) as lag from line) l), true, 'what was said only grows');
select ok((select bool_and((cut > 0) = (stubs > 0)) from line where n > 1), 'what is cut has something in its place');
select is((select array_agg(m ->> 'kind' order by n) from line, jsonb_array_elements(marks) m), (select array_agg(coalesce(k.compaction_type, 'elision') order by e.iteration) from elisions e left join compactions k on k.elision_id = e.id where e.work_item_id = item()), 'every cut is a mark, with its kind');
select results_eq($$ select n from context_timeline(item()::text, p_after => (select turn_id from line where n = 3), p_limit => 4) $$, $$ values (4), (5), (6), (7) $$, 'a page begins after a turn');
select throws_ok($$ select * from context_timeline('nobody') $$, 'WL001', null, 'no such session');
select throws_ok($$ select * from context_timeline(item()::text, p_after => gen_random_uuid()) $$, 'WL001', null, 'no such turn');
select throws_ok($$ select * from context_timeline(item()::text, '{"colour": 1}') $$, 'WL002', null, 'no such policy');

select * from finish();
rollback;
