-- Images leave with their block and come back with it, or one by one by their handles.
begin;
select plan(10);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Look at it');
-- An iteration with a look that has these images.
create function pg_temp.look(p_result text, p_images jsonb) returns void language plpgsql as $$
begin
  perform drive(), answer('[["look"]]');
  perform tool_call_settle(item(), lease(), id, p_result, p_images => p_images) from tool_calls where turn_id = turn();
  perform iteration_finish(item(), lease());
end
$$;
create function pg_temp.images(p_n integer) returns text language sql as $$
  select string_agg(i[1], ' ') from request, regexp_matches(body::text, '"source":(\{[^}]*\})', 'g') i where n = p_n $$;

select pg_temp.look('a picture', '[{"media_type": "image/png", "data": "aGk="}, {"media_type": "image/gif", "data": "aG8="}]');
select play(format('[[["step", "Looked"]], [["recall_block", {"n": 1}]], [["artifact_read", {"handle": "%s"}]], [["look", "the end"]]]', encode(sha256('aGk='), 'hex'))::jsonb);

select is(pg_temp.images(2), '{"type":"base64","media_type":"image/png","data":"aGk="} {"type":"base64","media_type":"image/gif","data":"aG8="}', 'a request has images as a provider wants them');
select is(pg_temp.images(3), null, 'images leave with their block');
select is(pg_temp.images(4), '{"type":"base64","media_type":"image/png","data":"aGk="} {"type":"base64","media_type":"image/gif","data":"aG8="}', 'images come back with their block');
select is(pg_temp.images(5), pg_temp.images(4) || ' {"type":"base64","media_type":"image/png","data":"aGk="}', 'an image comes back by its handle');
select matches(recall_block(item(), 1), 'a picture\n\[image [0-9a-f]{16}\]\n\[image [0-9a-f]{16}\]', 'the text of the block names the images');
select is(artifact_read(encode(sha256('aGk='), 'hex')), format('[image %s: image/png, 3 bytes]', left(encode(sha256('aGk='), 'hex'), 16)), 'artifact_read shows an image as a line');
select is((select count(*) from artifacts), 2::bigint, 'each image is stored once');
select unalike((select string_agg(result::text, '') from tool_calls), '%aGk=%', 'no image is stored in a result');
select is(rebuilt(), 5::bigint, 'every request is rebuilt to the byte');

-- A call's input that looks like a reference stays what it is.
select drive(), turn_record(item(), lease(), turn(), json_build_object('stop_reason', 'tool_use', 'content', json_build_array(json_build_object('type', 'tool_use', 'id', 'x', 'name', 'look',
  'input', json_build_object('x', _image_block('image/png', encode(sha256('aGk='), 'hex'))::json)))));
select run(), iteration_finish(item(), lease()), drive();
select unalike((select body::text from request where n = 7), '%"x":{"type":"image","source":{"type":"base64"%', 'an input that looks like a reference to an image stays as the model wrote it');

select * from finish();
rollback;
