-- A step is not drafted for a turn to which the work was moved back: what was left behind goes on from it, too, and its block would close there.
begin;
select plan(3);

select agent('{"tools": ["look"], "ledger_nudge_interval": 1, "elide_budget": 0, "keep_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"]], [["look", "saw b"]], [["look", "saw c"]]]');
select session_rollback(item()::text, (select turn_id from request where n = 2));
select play('[[["look", "saw d"]]]');
select is((select count(*) from work_ledger where is_auto), 0::bigint, 'no step is drafted for the turn to which it was moved');
select play('[[["look", "saw e"]]]');
select is((select turn_id from work_ledger where is_auto), (select turn_id from request where n = 4), 'it is drafted for the turn behind it');
select is((select count(*) from request where n <= 3 and body::text = context_at(turn_id)::text), 3::bigint, 'what was left behind stays as it was');

select * from finish();
rollback;
