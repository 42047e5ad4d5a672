begin;
select plan(10);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Look at it');
create temporary table request (n serial, turn_id uuid, body json);

-- One response with one call; a result of look has the images given.
create function pg_temp.play(p_name text, p_input json, p_result text default null, p_images jsonb default null) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(item(), v_lease);
  v_call uuid;
begin
  insert into request (turn_id, body) values ((v_stage ->> 'turn_id')::uuid, v_stage -> 'request');
  perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use',
    'content', json_build_array(json_build_object('type', 'tool_use', 'id', 't' || (select count(*) from request), 'name', p_name, 'input', p_input))));
  select id into v_call from tool_calls where turn_id = (v_stage ->> 'turn_id')::uuid;
  if p_name = 'look' then
    perform tool_call_settle(item(), v_lease, v_call, p_result, p_images => p_images);
  else
    perform tool_call_execute(item(), v_lease, v_call);
  end if;
  perform iteration_finish(item(), v_lease);
end
$$;
create function pg_temp.images(p_n integer) returns text language sql as $$
  select string_agg(i[1], ' ') from request, regexp_matches(body::text, '"source":(\{[^}]*\})', 'g') i where n = p_n $$;

select pg_temp.play('look', '{}', 'a picture', '[{"media_type": "image/png", "data": "aGk="}, {"media_type": "image/gif", "data": "aG8="}]');
select pg_temp.play('ledger_append', '{"entry_type": "step", "content": "Looked"}');
select pg_temp.play('recall_block', '{"n": 1}');
select pg_temp.play('artifact_read', json_build_object('handle', encode(sha256('aGk='), 'hex')));
select pg_temp.play('look', '{}', 'the end');

select is(pg_temp.images(2), '{"type":"base64","media_type":"image/png","data":"aGk="} {"type":"base64","media_type":"image/gif","data":"aG8="}', 'a request has images as a provider wants them');
select is(pg_temp.images(3), null, 'they leave with their block');
select is(pg_temp.images(4), '{"type":"base64","media_type":"image/png","data":"aGk="} {"type":"base64","media_type":"image/gif","data":"aG8="}', 'and come back with it');
select is(pg_temp.images(5), pg_temp.images(4) || ' {"type":"base64","media_type":"image/png","data":"aGk="}', 'or one by its handle');
select matches(recall_block(item(), 1), 'a picture\n\[image [0-9a-f]{16}\]\n\[image [0-9a-f]{16}\]', 'which the text names');
select is(artifact_read(encode(sha256('aGk='), 'hex')), format('[image %s: image/png, 3 bytes]', left(encode(sha256('aGk='), 'hex'), 16)), 'in psql an image is a line');
select is((select count(*) from artifacts), 2::bigint, 'each is stored once');
select unalike((select string_agg(result::text, '') from tool_calls), '%aGk=%', 'and not in the results');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 5::bigint, 'every request is rebuilt to the byte');

-- A call's input that looks like a reference stays what it is.
select pg_temp.play('look', json_build_object('x', _image_block('image/png', encode(sha256('aGk='), 'hex'))::json), 'x');
select pg_temp.play('look', '{}', 'x');
select unalike((select body::text from request where n = 7), '%"x":{"type":"image","source":{"type":"base64"%', 'what the model wrote is not touched');

select * from finish();
rollback;
