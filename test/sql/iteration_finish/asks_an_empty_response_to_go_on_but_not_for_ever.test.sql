begin;
select plan(4);

select agent();
select submit();

create temporary table outcome (n integer, kind text);
create temporary table request (n integer, body json);
do $$ declare v_lease uuid; v_stage json; begin
  for n in 1..4 loop
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    v_stage := iteration_begin(item(), v_lease);
    insert into request values (n, v_stage -> 'request');
    perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, '{"content": [], "stop_reason": "end_turn"}');
    insert into outcome values (n, iteration_finish(item(), v_lease) ->> 'kind');
  end loop;
end $$;
select is((select array_agg(kind order by n) from outcome), array['continued', 'continued', 'continued', 'failed'], 'three times, then it fails');
select is((select json_array_length(body -> 'messages') from request where n = 2), 1, 'no empty message is sent back');
select alike((select body #>> '{messages,0,content,1,text}' from request where n = 2), '[engine] Your response was empty.%', 'the engine says what is the matter');
select alike((select state_reason from work_items), 'the model neither worked nor finished in 4 responses%', 'the reason is on the item');

select * from finish();
rollback;
