-- v_cost_turns says of each request whether the provider's cache served it, and if not, why: derived from rows alone.
begin;
select plan(14);

set local work_ledger.now = '2026-01-01 12:00:00+00';
select agent('{"tools": ["look"], "elide_budget": 0, "model": "m", "compact_keep_recent": 2, "compact_strategy": "sliding_window"}');
select faculty_save('{"name": "terse", "engage": {"tools": ["look"], "elide_budget": 0, "model": "m", "system_prompt": "Be terse."}}');
select faculty_save('{"name": "dear", "engage": {"tools": ["look"], "elide_budget": 0, "model": "n"}}');
select submit('Fix it');

-- One iteration: the provider read and wrote so many tokens; what v_cost_turns says of it.
create function pg_temp.ask(p_read integer, p_written integer, p_says jsonb default '[["look", "a"]]') returns text language plpgsql as $$
begin
  perform drive();
  perform answer(p_says, p_more => jsonb_build_object('usage', jsonb_build_object(
    'input_tokens', 10, 'output_tokens', 20, 'cached_input_tokens', p_read, 'cache_write_tokens', p_written)));
  perform run(p_says);
  perform iteration_finish(item(), lease());
  return (select cache from v_cost_turns where turn_id = turn());
end
$$;

select is(pg_temp.ask(0, 0), 'first', 'nothing was asked before');
select is(pg_temp.ask(0, 5000), 'uncached', 'the request before left nothing in the cache');
select later('4 minutes');
select is(pg_temp.ask(5000, 100), 'hit', 'all that the request before left was read');
select later('6 minutes');
select is(pg_temp.ask(0, 5200), 'expired', 'it was longer ago than the cache lives');
select ability_register('look', 'Looks closely.', '{"type": "object"}', 'pure', 'safe');
select is(pg_temp.ask(0, 5300), 'tools', 'a tool is described in other words');
select is(pg_temp.ask(0, 5400), 'other', 'nothing had changed, and the provider did not have it');
select is((select missed_tokens from v_cost_turns where turn_id = turn()), 5300, 'missed is what the request before had left');

select pg_temp.ask(5400, 100, format('[["look", "%s"]]', repeat('much ', 4000))::jsonb);
select pg_temp.ask(5500, 9000, '[["step", "Looked"]]');
select is(pg_temp.ask(2000, 500), 'cut', 'closed blocks were left out of the request');
select model_save('m', p_cache_write => 2.0);
select later('6 minutes');
select is(pg_temp.ask(0, 2600), 'other', 'where caches live for an hour, six minutes do not expire them');
select pg_temp.ask(2600, 100, format('[["look", "%s"]]', repeat('much ', 4000))::jsonb);
select pg_temp.ask(2700, 9000, format('[["look", "%s"]]', repeat('more ', 4000))::jsonb);
select context_compact(item());
select is(pg_temp.ask(1000, 900, '[["look", "b"]]'), 'compaction', 'the request was compacted');

create temporary table forked as select turn() as turn_id;
select take(work_fork((select turn_id from forked), p_faculty => 'terse'));
select is(pg_temp.ask(0, 3000), 'prompt', 'a fork goes on with another system prompt');
select take(work_fork((select turn_id from forked), p_faculty => 'dear'));
select is(pg_temp.ask(0, 3000), 'model', 'a fork goes on with another model');
select later('2 hours');
select is(pg_temp.ask(0, 3000, '["Done."]'), 'expired', 'after two hours every cache is gone');

select results_eq(
  $$ select key, requests from cost_by('cache') order by key $$,
  $$ values ('compaction', 1::bigint), ('cut', 1), ('expired', 1), ('first', 1), ('hit', 5), ('model', 1), ('other', 3), ('prompt', 1), ('tools', 1), ('uncached', 1) $$,
  'cost_by counts them, by what is known of the cache now');

select * from finish();
rollback;
