-- The response tells its worker also of the calls that it may run later: those that wait for a person, and those behind them.
begin;
select plan(4);

select tool('write_file', 'unsafe', 'dangerous');
select tool('edit_file', 'unsafe', 'safe');
select agent('{"tools": ["look", "write_file", "edit_file"], "require_approval": "dangerous"}');
select submit('Fix it');
select drive();
create temporary table answer as select answer('[["write_file", {"path": "a"}, "Done."], ["edit_file", {"path": "a"}, "Done."], ["look", {"path": "b"}, "seen"]]') as said;
select is((select said -> 'calls' -> 0 ->> 'name' from answer), 'look', 'what waits for nothing is to be run');
select is((select json_array_length(said -> 'calls') from answer), 1, 'nothing else is');
select results_eq($$ select w ->> 'ordinal', w #>> '{input,path}' from answer, json_array_elements(said -> 'waiting') w $$, $$ values ('0', 'a'), ('1', 'a') $$,
  'the call that waits for a person is named, and the one behind it');
select is((select (w ->> 'id')::uuid from answer, json_array_elements(said -> 'waiting') w limit 1), call('t1_1'), 'by its id');

select * from finish();
rollback;
