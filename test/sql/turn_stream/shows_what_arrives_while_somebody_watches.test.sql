-- What arrives of a response is shown as words while somebody watches; where nobody does, it is not kept.
begin;
select plan(9);

select agent('{"tools": ["look"]}');
select submit('Fix it');
create function pg_temp.stream(p_content json) returns boolean language sql as $$ select turn_stream(item(), lease(), turn(), p_content) $$;
create function pg_temp.status() returns text language sql as $$ select status from turns order by id desc limit 1 $$;

select is((drive() ->> 'is_watched')::boolean, false, 'a worker hears that nobody watches');
select is(pg_temp.stream('[]'), false, 'a worker that streams for nobody is told so');
select is((select count(*) from turn_streams), 0::bigint, 'what nobody watches is not kept');
select is(pg_temp.status(), 'pending', 'a turn that nobody watches stays pending');

select from ledger_watch(item());
select is(pg_temp.stream('[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I lo"}]'), true, 'while somebody watches a worker may stream');
select is(pg_temp.status(), 'streaming', 'a turn is streaming while it arrives');
select results_eq('select thinking, said from v_streaming', $$ values ('Hm', 'I lo') $$, 'v_streaming has the words that arrived');
select pg_temp.stream('[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "a", "name": "look", "input": "{\"wh"}]');
select results_eq('select said from v_streaming', $$ values ('I look') $$, 'the words grow');
select throws_ok($$ select pg_temp.stream('{}') $$, 'WL002', null, 'what is no list of blocks is refused');

select * from finish();
rollback;
