-- A later attempt is told what was tried before; with recover.mode "fresh" it begins without the ledger of the others, else it goes on with it.
begin;
select plan(10);

select from faculty_save('{"name": "afresh", "accepts": ["a"], "recover": {"mode": "fresh", "max_attempts": 3}, "awareness": {"enabled": false}}');
select from faculty_save('{"name": "onwards", "accepts": ["b"], "recover": {"max_attempts": 3}, "awareness": {"enabled": false}}');
-- The task as it is told to the second attempt, after a first one that found something and failed.
create function pg_temp.second(p_work_type text) returns text language plpgsql as $$
begin
  perform submit('Fix it', p_work_type), drive();
  perform ledger_append(item(), 'finding', 'Found in the first attempt', p_lease => lease());
  for v_n in 1..4 loop
    perform iteration_fail(item(), lease(), '{"class": "malformed_response", "message": "garbage"}');
    update work_items set run_at = '2000-01-01' where id = item();
    perform drive();
  end loop;
  return stage() #>> '{request,messages,0,content,0,text}';
end
$$;
create temporary table task as select pg_temp.second('a') as text;

select matches((select text from task), 'attempt 1: failed: malformed_response: garbage', 'a fresh attempt is told what was tried before');
select matches((select text from task), 'You start afresh', 'a fresh attempt is told that it is a new start');
select doesnt_match((select text from task), 'Found in the first attempt', 'a fresh attempt is not told the older ledger');
select is((select count(*) from ledger_read(item())), 0::bigint, 'the older entries are hidden');
select is((select count(*) from ledger_read(item(), p_is_everything => true)), 1::bigint, 'the older entries are not lost');
select doesnt_match(ledger_read_formatted(item()), 'first attempt', 'the formatted ledger has no older entries');
select is((select seq from ledger_append(item(), 'note', 'new', p_lease => lease())), 2, 'numbers of entries go on');
select is((select array_agg(seq) from ledger_read(item())), array[2], 'new entries are read');

update task set text = pg_temp.second('b');
select matches((select text from task), 'attempt 1: failed: malformed_response', 'an attempt that goes on is told what was tried before');
select matches((select text from task), 'what it lists as done is done, and .*Found in the first attempt', 'an attempt that goes on keeps its ledger');

select * from finish();
rollback;
