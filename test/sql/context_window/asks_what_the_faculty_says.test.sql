-- What a faculty asks of its model stands in each request, and nowhere where it says nothing.
begin;
select plan(12);

create function pg_temp.asked(p_engage jsonb) returns jsonb language plpgsql as $$
begin
  perform agent('{"tools": ["look"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}' || p_engage, '{"awareness": {"enabled": false}}'), submit('Fix it'), drive();
  return (select body::jsonb - array['model', 'max_tokens', 'system', 'tools', 'messages', 'stream'] from request order by n desc limit 1);
end $$;

select is(pg_temp.asked('{}'), '{"cache_control": {"type": "ephemeral"}}', 'a faculty that says nothing asks nothing');
select is(pg_temp.asked('{"thinking": "adaptive", "effort": "low", "tool_choice": "look", "service_tier": "standard_only", "betas": ["one-2026-01-01", "two-2026-01-01"]}'),
  '{"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}, "tool_choice": {"type": "tool", "name": "look"}, "service_tier": "standard_only", "betas": ["one-2026-01-01", "two-2026-01-01"], "cache_control": {"type": "ephemeral"}}', 'all of it is asked');
select is(pg_temp.asked('{"thinking": "off"}') -> 'thinking', '{"type": "between_tools"}', 'off is said as the model takes it');
select is(pg_temp.asked('{"thinking": "off", "model": "claude-sonnet-5"}') -> 'thinking', '{"type": "disabled"}', 'to another as that one does');
select is(pg_temp.asked('{"thinking": 4000, "model": "claude-opus-4-6"}') -> 'thinking', '{"type": "enabled", "budget_tokens": 4000}', 'a budget is in tokens');
select is(pg_temp.asked('{"temperature": 0.5, "model": "claude-haiku-4-5"}') -> 'temperature', '0.5', 'a temperature is a number');
select is((select config ->> 'temperature' from turn_configs where content_hash = (select config_hash from turns where id = turn())), '0.5', 'it is in turn_configs');

-- An hour: every breakpoint lives as long.
select pg_temp.asked('{"cache_ttl": "1h"}');
select answer(format('[["look"], ["finding", "Seen %s"]]', repeat('x', 2000))::jsonb), run(), iteration_finish(item(), lease());
select play('[[["step", "Looked"]]]'), drive();
select is((select count(*)::integer from request, regexp_matches(body::text, '"cache_control":\{"type":"ephemeral","ttl":"1h"\}', 'g') where n = (select max(n) from request)), 3, 'the breakpoints of the request, its prompt and its stubs');
select is((select count(*)::integer from request, regexp_matches(body::text, '"cache_control":\{"type":"ephemeral"\}', 'g') where n = (select max(n) from request)), 0, 'none lives shorter');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');
select is((select request ->> 'cache_control' from context_window(focus())), '{"type":"ephemeral","ttl":"1h"}', 'and told beforehand');
select is((select cache_ttl from turn_configs where content_hash = (select config_hash from turns where id = turn())), '1h', 'it is known of each turn');

select * from finish();
rollback;
