begin;
select plan(10);

select is((select config -> 'engage' ->> 'max_turns' from faculty_save('{"name": "a"}')), '50', 'a default is filled in');
select is((select config -> 'engage' ->> 'max_turns' from faculty_save('{"name": "a", "engage": {"max_turns": 9}}')), '9', 'what is given stays');
select is((select count(*) from faculties where name = 'a' and is_current), 1::bigint, 'one configuration is current');
select throws_ok($$ select faculty_save('{"accepts": []}') $$, 'WL002', null, 'a faculty has a name');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"max_trns": 9}}') $$, 'WL002', 'unknown key "engage.max_trns" in a faculty', 'an unknown key is an error');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"max_turns": "9"}}') $$, 'WL002', null, 'so is a value of the wrong type');
select throws_ok($$ select faculty_save('{"name": "a", "awareness": {"max_running": 1.5}}') $$, 'WL002', null, 'a fraction where a whole number belongs');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"max_turns": 0}}') $$, 'WL002', null, 'and a number out of range');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"compact_strategy": "summary"}}') $$, 'WL002',
  'faculty key "engage.compact_strategy" must be ledger, sliding_window or selective, not "summary"', 'a strategy is one of three');
select is((select config -> 'engage' ->> 'compact_strategy' from faculty_save('{"name": "a", "engage": {"compact_strategy": "selective", "compact_every": 20}}')), 'selective', 'which are saved');

select * from finish();
rollback;
