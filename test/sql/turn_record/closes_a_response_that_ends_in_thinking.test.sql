-- The API takes no message that ends in a thought: such a response is stored as it came, and sent with a word behind it.
begin;
select plan(12);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
-- One iteration: what the model answers, and the messages of the request after it.
create temporary table said (n integer, turn_id uuid, messages json);
create function pg_temp.say(p_n integer, p_stop_reason text, p_content text) returns void language plpgsql as $$
begin
  perform drive(), turn_record(item(), lease(), turn(), format('{"stop_reason": "%s", "content": [%s]}', p_stop_reason, p_content)::json), run(), iteration_finish(item(), lease());
  insert into said select p_n, turn(), w.messages from context_window(focus()) w;
end
$$;
create function pg_temp.after(p_n integer, p_role text) returns text language sql as $$
  select (select m.value -> 'content' from json_array_elements(s.messages) with ordinality as m(value, n) where m.value ->> 'role' = p_role order by m.n desc limit 1)::text from said s where s.n = p_n $$;
create function pg_temp.look(p_id text) returns text language sql as $$ select format('{"type":"tool_use","id":"%s","name":"look","input":{}}', p_id) $$;
create function pg_temp.thought() returns text language sql as $$ select '{"type":"thinking","thinking":"Well, ","signature":"c2ln"}' $$;

select pg_temp.say(1, 'max_tokens', pg_temp.thought());
select is(pg_temp.after(1, 'assistant'), format('[%s,{"type":"text","text":"(The output limit was reached here, in the middle of a thought.)"}]', pg_temp.thought()), 'a thought that was cut off is closed by words that say so');
select is((select content::text from messages where turn_id = (select turn_id from said where n = 1) and role = 'assistant'), format('[%s]', pg_temp.thought()), 'a thought that was cut off is stored as it came');
select alike(pg_temp.after(1, 'user'), '%cut off at the output limit in the middle of a thought%', 'the model is told that it was cut off');
select unalike(pg_temp.after(1, 'user'), '%Continue where it ended%', 'the model is not told to go on with a thought');

select pg_temp.say(2, 'tool_use', format('%s,%s', pg_temp.thought(), pg_temp.look('a')));
select is(pg_temp.after(2, 'assistant'), format('[%s,%s]', pg_temp.thought(), pg_temp.look('a')), 'a thought before a call is sent as it came');
select pg_temp.say(3, 'pause_turn', '{"type":"text","text":"I see"},{"type":"redacted_thinking","data":"ZA=="}');
select is(pg_temp.after(3, 'assistant'), '[{"type":"text","text":"I see"},{"type":"redacted_thinking","data":"ZA=="},{"type":"text","text":"(The response was paused here, in the middle of a thought.)"}]', 'a redacted thought at a pause is closed');
select pg_temp.say(4, 'end_turn', format('%s,{"type":"text","text":" \n"}', pg_temp.thought()));
select is(pg_temp.after(4, 'assistant'), format('[%s,{"type":"text","text":"(The response ended here, with a thought.)"}]', pg_temp.thought()), 'a thought with nothing but blank text behind it is closed, and the blank text is not sent');
select alike(pg_temp.after(4, 'user'), '%Your response ended with a thought, without a call or an answer.%', 'the model is told that its response ended with a thought');
select is((select content::text from messages where turn_id = (select turn_id from said where n = 4) and role = 'assistant'), format('[%s,{"type":"text","text":" \n"}]', pg_temp.thought()), 'blank text behind a thought is stored');

select pg_temp.say(5, 'tool_use', pg_temp.look('b'));
select pg_temp.say(6, 'max_tokens', '{"type":"text","text":" \n"}');
select is(pg_temp.after(6, 'assistant'), format('[%s]', pg_temp.look('b')), 'a message of which nothing is left is dropped');
select is((select count(*) from said a join said b on b.n = a.n + 1 where starts_with(b.messages::text, left(a.messages::text, -3))), 5::bigint, 'each request begins with the one before');
select is((select count(*) from said s join turns t on t.parent_turn_id = s.turn_id where (context_at(t.id) -> 'messages')::text = s.messages::text), 5::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
