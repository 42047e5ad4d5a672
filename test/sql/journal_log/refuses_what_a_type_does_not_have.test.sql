-- An entry has a type that is known and what its type needs; long text keeps its ends.
begin;
select plan(5);

select take(journal_session_create('chat-1', 'Build the thing'));

select throws_ok($$ select journal_log(item(), 'decision', '{"question": "a"}') $$, 'WL002', 'entries of type decision need "reasoning"', 'what a type needs and is not there is named');
select throws_ok($$ select journal_log(item(), 'error', '{"errorType": "a", "message": "b", "recoverable": "yes"}') $$, 'WL002', null, 'a value of the wrong kind is refused');
select throws_ok($$ select journal_log(item(), 'finding', '{}') $$, 'WL002', null, 'an unknown type is refused');
select throws_ok($$ select journal_log(item(), 'thinking', '{"reasoning": "a"}', 'huge') $$, 'WL002', null, 'an unknown importance is refused');
select is((select char_length(content ->> 'reasoning') < 17000 from journal_log(item(), 'thinking', jsonb_build_object('reasoning', repeat('x', 100000)))), true, 'long text keeps its ends alone');

select * from finish();
rollback;
