-- The strategy "selective" goes on after an elision: what came since is shortened when it is old.
begin;
select plan(3);

select tool('act', 'unsafe');
select agent('{"tools": ["look", "act"], "compact_strategy": "selective", "compact_keep_recent": 4, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create function pg_temp.look(p_from integer, p_until integer) returns void language sql as $$
  select play(format('[[["look", "%s"], "I go on."]]', repeat(format('row %s ', n), 400))::jsonb, p_more => '{"usage": {}}') from generate_series(p_from, p_until) n $$;
select pg_temp.look(1, 6);
select context_compact(item());
select pg_temp.look(7, 7);
select is((select string_agg(compaction_type, ' ') from v_compactions), 'selective', 'old results are shortened');
select play('[[["look"], ["step", "Looked"]]]', p_more => '{"usage": {}}');
select pg_temp.look(9, 15);
select context_compact(item());
select pg_temp.look(16, 16);
select is((select string_agg(compaction_type, ' ') from v_compactions), 'selective selective', 'and again, behind a step that let the first ones leave');
select is(rebuilt(), 16::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
