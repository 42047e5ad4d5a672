-- The span of a request has what its faculty asks of the model, under the names of the documentation; what it does not ask is not there.
begin;
select plan(3);

create function pg_temp.asked(p_engage jsonb) returns jsonb language plpgsql as $$
begin
  perform agent('{"tools": ["look"]}' || p_engage, '{"awareness": {"enabled": false}}'), submit(), play('[["Done."]]');
  return (select jsonb_object_agg(a.key, a.value) from work_trace(item()) t, jsonb_each(t.attributes) a
           where t.attributes ->> 'work.span' = 'gen_ai.chat' and a.key ~ '^(work\.request\.(?!id)|gen_ai\.request\.(temp|top))');
end
$$;
select is(pg_temp.asked('{"thinking": "adaptive", "effort": "low", "tool_choice": "auto", "cache_ttl": "1h", "service_tier": "standard_only", "betas": ["one-2026-01-01"]}'),
  '{"work.request.thinking": "adaptive", "work.request.effort": "low", "work.request.tool_choice": "auto", "work.request.cache_ttl": "1h", "work.request.service_tier": "standard_only", "work.request.betas": ["one-2026-01-01"]}', 'all of it');
select is(pg_temp.asked('{"model": "claude-haiku-4-5", "temperature": 0.5}'), '{"gen_ai.request.temperature": 0.5}', 'a temperature');
select is(pg_temp.asked('{"model": "claude-haiku-4-5", "top_p": 0.9}'), '{"gen_ai.request.top_p": 0.9}', 'or top_p');

select * from finish();
rollback;
