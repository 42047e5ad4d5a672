-- Whatever a provider adds to requests, the task has the same size in those before a cut and in those after it.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0, "model": "some-model", "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select take(work_submit('analyze', repeat('A long task. ', 2000)));

-- A provider that hides context: the first exchange of 4,000 characters adds 4,000 tokens. Its block is closed by a step alone.
select play(format('[[["look", "%s"]]]', repeat('row ', 1000))::jsonb, p_more => '{"usage": {"input_tokens": 10000, "output_tokens": 30}}');
select play('[[["step", "Looked"]]]', p_more => '{"usage": {"input_tokens": 14000, "output_tokens": 30}}');
select play(format('[[["look", "%s"]]]', repeat('row ', 1000))::jsonb, p_more => '{"usage": {"input_tokens": 18000, "output_tokens": 30}}');
create temporary table replayed as select r.* from sessions s, context_replay_turns(s.label) r;

select is((select array_agg(iteration) from replayed where is_cut), array[3], 'the block leaves with the third request');
select cmp_ok((select l.input_tokens - f.input_tokens from replayed f, replayed l where f.iteration = 1 and l.iteration = 3), '<', 300,
  'the request after the cut is as large as the first one, which is the task, and the stub');

select * from finish();
rollback;
