-- A session's model calls are numbered as context_timeline() numbers them.
begin;
select plan(4);

select agent('{"tools": ["look"]}');
select submit('Fix it');
do $$ begin
  for v_n in 1..12 loop
    perform play(format('[[["look", {"at": "%s"}]]]', v_n)::jsonb);
  end loop;
end $$;
create temporary table line as select * from context_timeline(item()::text);

select is((select array_agg(session_turn_at(item()::text, n) order by n) from line), (select array_agg(turn_id order by n) from line), 'each call by its number');
select is((select array_agg(turn_id order by n) from context_timeline(item()::text, p_after => session_turn_at(item()::text, 9))), (select array_agg(turn_id order by n) from line where n > 9), 'a timeline goes on behind it');
select is(session_turn_at(item()::text, 13), null, 'it has no such call');
select is(session_turn_at('no such session', 1), null, 'there is no such session');

select * from finish();
rollback;
