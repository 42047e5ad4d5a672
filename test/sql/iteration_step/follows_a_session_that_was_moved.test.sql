-- An iteration whose session was moved after its response was recorded is ended, and the next request goes on from where the session is now.
begin;
select plan(4);

select agent('{"tools": ["look", "read"], "ledger_nudge_interval": 0, "elide_budget": 0, "keep_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"]], [["look", "saw b"], ["step", "Looked"]]]');
select drive();
select answer('[["read", "READ"], ["step", "Read"]]');
select run();
create temporary table answered as select turn() as turn;
select iteration_release(item(), lease());
select session_rollback(item()::text, (select turn_id from request where n = 1));
select claim();
select iteration_begin(item(), lease());
create temporary table says as select iteration_step(item(), lease(), 3, 0, p_kept_turn_id => (select turn from answered)) as says;

select is((select parent_turn_id from turns where id = (says #>> '{next,turn_id}')::uuid), (select turn_id from request where n = 1),
  'the next request follows the turn to which the session was moved') from says;
select is(says #>> '{next,request}', context_at((says #>> '{next,turn_id}')::uuid)::text, 'and comes whole') from says;
select is((select block from turns where id = (says #>> '{next,turn_id}')::uuid), 1, 'in the block of that turn, not behind the step of the one that was left') from says;
select is((select s.said from turn_sizes s where s.turn_id = (says #>> '{next,turn_id}')::uuid),
  (select b.said + e.word_chars + e.result_chars from turn_sizes b cross join lateral _exchange(b.turn_id) e where b.turn_id = (select turn_id from request where n = 1)),
  'and its size is counted from there') from says;

select * from finish();
rollback;
