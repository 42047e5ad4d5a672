-- What was added between two requests is measured only where the second begins with the first: not where a block left between them.
begin;
select plan(4);

select agent('{"tools": ["look"], "model": "some-model", "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
-- A response, the input tokens of its request, and a step beside its call or none; how often the model was measured by then.
create function pg_temp.say(p_input integer, p_has_step boolean) returns integer language plpgsql as $$
begin
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', repeat('x', 9998))) || case when p_has_step then '[["step", "Looked"]]' else '[]'::jsonb end),
    p_more => jsonb_build_object('model', 'some-model', 'usage', jsonb_build_object('input_tokens', p_input, 'output_tokens', 100)));
  return coalesce((select sample_count from models where name = 'some-model'), 0);
end
$$;

select is(pg_temp.say(3000, false), 0, 'one request measures nothing');
select is(pg_temp.say(3000 + 100 + 5000, true), 1, 'the next request measures the result');
select is(pg_temp.say(8100 + 100 + 5000, false), 1, 'behind a cut no count is one of results alone, however plausible');
select is(pg_temp.say(13200 + 100 + 5000, false), 2, 'behind a cut the next two requests measure again');

select * from finish();
rollback;
