-- Who makes the same calls with the same results again and again, and records nothing, is told from the third time on; after the fifth the work pauses.
begin;
select plan(11);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 5}', '{"awareness": {"enabled": false}}');
select submit('Do it');
-- How often each request was told to have been made in a row, or '-'.
create function pg_temp.told() returns text[] language sql as $$
  select array_agg(coalesce(left(substring(m.content -> 0 ->> 'text' from '\d+ times in a row'), 1), '-') order by r.n)
    from request r left join messages m on m.turn_id = r.turn_id and m.metadata ->> 'kind' = 'stall' where r.item = item() $$;

select play('[[["look", {"at": 1}, "a"]], [["look", {"at": 1}, "a"]], [["look", {"at": 1}, "a"]], [["look", {"at": 1}, "b"]], [["look", {"at": 1}, "b"]]]');
select is(pg_temp.told(), array['-', '-', '-', '3', '-'], 'a third time in a row is told; another result is something new');
select is((select content -> 0 ->> 'text' from messages where metadata ->> 'kind' = 'stall'),
  '[engine] You made the same call with the same result 3 times in a row: look {"at": 1}. Repeating it will not change that. Do something else, or record what blocks you with ledger_append; after 5 times without an entry the work pauses until a person resumes it.', 'the model is told which call it repeats, and what to do');
select ok((select body::text like '%3 times in a row%' from request where n = 5), 'what was told stays where it was put');
select play('[
  [["look", {"at": 1}, "b"], ["look", {"at": 2}, "c"]],
  [["look", {"at": 2}, "c"], ["look", {"at": 1}, "b"]],
  [["look", {"at": 2}, "c"], ["look", {"at": 1}, "b"], ["look", {"at": 2}, "c"]],
  [["note", "noted"], ["look", {"at": 1}, "b"]]]');
select is((pg_temp.told())[6:], array['-', '-', '-', '3'], 'calls of a batch are a set, whatever their order');
select is((select round_count from foci), 0, 'an entry sets the count back');

select is(array_agg(play('[[["look", {"at": 1}, "b"]]]') order by n), array['continued', 'continued', 'continued', 'continued', 'paused'], 'after the fifth time the item pauses') from generate_series(1, 5) n;
select is((pg_temp.told())[10:], array['-', '-', '-', '3', '4'], 'before it pauses it was told each time from the third on');
select is((select state_reason from item), 'stalled: 5 iterations in a row had the same calls with the same results (look {"at": 1}), and nothing was recorded', 'the reason says what it did again and again');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'nobody goes on with a stalled item');
select work_resume(item());
select is(array_agg(play('[[["look", {"at": 1}, "b"]]]') order by n), array['continued', 'continued', 'continued', 'continued', 'paused'], 'resumed, the item goes on and the count begins again') from generate_series(1, 5) n;
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
