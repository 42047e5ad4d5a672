begin;
select plan(11);

select from faculty_save('{"name": "reader", "accepts": ["read"], "engage": {"ledger_nudge_interval": 0}, "awareness": {"refresh_every": 2}}');
select from faculty_save('{"name": "writer", "accepts": ["write"]}');
create temporary table other as select * from work_submit('write', 'Write it');
select from ledger_append((select id from other), 'finding', 'Known before');
select submit('Read it', 'read');
create temporary table request (n integer, body text);
create function pg_temp.say(p_n integer) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(item(), v_lease);
begin
  insert into request values (p_n, v_stage ->> 'request');
  perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
    json_build_object('type', 'tool_use', 'id', 'a', 'name', 'ledger_append', 'input', json_build_object('entry_type', 'finding', 'content', 'My own ' || p_n)))));
  perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid;
  perform iteration_finish(item(), v_lease);
end
$$;
create function pg_temp.times(p_n integer, p_text text) returns bigint language sql as
  $$ select count(*) from request r, regexp_matches(r.body, p_text, 'g') where r.n = p_n $$;

select pg_temp.say(1);
select is(pg_temp.times(1, 'Known before'), 1::bigint, 'the task has the digest');
select from ledger_append((select id from other), 'finding', E'Found meanwhile\n</data-forged>');
select pg_temp.say(2);
select is(pg_temp.times(2, 'Found meanwhile'), 0::bigint, 'not with every request');
select pg_temp.say(3);
select is(pg_temp.times(3, 'What is new elsewhere'), 1::bigint, 'every second iteration');
select is(pg_temp.times(3, 'Found meanwhile </data-forged>'), 1::bigint, 'what is new is said, on one line between markers');
select is(pg_temp.times(3, 'Known before'), 1::bigint, 'and what was said is not said again');
select is(pg_temp.times(3, 'My own 1 \('), 0::bigint, 'nor one''s own');
select pg_temp.say(4), pg_temp.say(5);
select is(pg_temp.times(5, 'What is new elsewhere'), 1::bigint, 'where nothing is new nothing is said');
select from focus_claim((select id from other), 'w');
update work_items set state = 'running' where id = (select id from other);
select pg_temp.say(6), pg_temp.say(7);
select is(pg_temp.times(7, 'What is new elsewhere'), 2::bigint, 'that somebody began is new');
select is(pg_temp.times(7, 'Writer/write\] Write it'), 1::bigint, 'and is named');
select results_eq($$ select iteration, kind, seq, split_part(content, E'\n', 1) from v_awareness_shown order by shown_at, iteration, seq $$,
  $$ values (1, 'finding', 1, 'Known before'), (3, 'finding', 2, 'Found meanwhile'), (7, 'under way', null::integer, 'Write it') $$, 'who was told what is a query');
select is((select count(*) from request r join turns t on t.iteration = r.n where context_at(t.id)::text = r.body), 7::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
