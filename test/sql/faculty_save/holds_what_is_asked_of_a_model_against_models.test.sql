-- What a faculty asks of its model is held against what is known of the model when it is saved, so that no request fails for it.
begin;
select plan(21);

create function pg_temp.says(p_engage jsonb) returns text language sql as $$
  select string_agg(says, '; ' order by path, says) from faculty_problems(jsonb_build_object('name', 'x', 'engage', p_engage)) $$;

select is(pg_temp.says('{"thinking": "adaptive", "effort": "xhigh", "cache_ttl": "1h", "service_tier": "auto", "tool_choice": "any", "betas": ["context-1m-2025-08-07"]}'), null, 'the default model takes all of these');
select is(pg_temp.says('{"thinking": 8000}'), 'engage.thinking = "8000": claude-sonnet-5-5 accepts off or adaptive', 'no budget');
select is(pg_temp.says('{"thinking": 8000, "model": "claude-opus-4-6"}'), null, 'an older one takes a budget');
select is(pg_temp.says('{"thinking": "adaptive", "model": "claude-haiku-4-5-20251001"}'), 'engage.thinking = "adaptive": claude-haiku-4-5-20251001 accepts off or budget', 'and a still older one nothing else');
select is(pg_temp.says('{"thinking": "off", "model": "claude-opus-5-5"}'), 'engage.thinking = "off": claude-opus-5-5 accepts adaptive', 'one thinks always');
select is(pg_temp.says('{"thinking": 500}'), 'engage.thinking = "500": claude-sonnet-5-5 accepts off or adaptive; engage.thinking must be off, adaptive or a whole number from 1024, not 500', 'a budget has a least');
select is(pg_temp.says('{"thinking": "of"}'), 'engage.thinking must be off, adaptive or a whole number from 1024, not "of"; did you mean "off"?', 'a word that is none is told with the nearest');
select is(pg_temp.says('{"thinking": 32000, "model": "claude-opus-4-6"}'), 'engage.thinking must be less than engage.max_output_tokens (32000), not 32000', 'and is less than the response');
select is(pg_temp.says('{"thinking": "off", "effort": "max"}'), 'engage.effort = "max": with thinking off claude-sonnet-5-5 accepts low, medium or high', 'the highest effort needs thinking');
select is(pg_temp.says('{"effort": "low", "model": "claude-sonnet-4-5"}'), 'engage.effort: claude-sonnet-4-5 does not accept it', 'an older one has no effort');
select is(pg_temp.says('{"temperature": 0.2, "top_p": 0.9}'), 'engage.temperature: claude-sonnet-5-5 does not accept it; engage.top_p: claude-sonnet-5-5 does not accept it', 'newer ones take no sampling');
select is(pg_temp.says('{"temperature": 0.2, "top_p": 0.9, "model": "claude-haiku-4-5"}'), 'engage.top_p: claude-haiku-4-5 accepts temperature or top_p, not both', 'others one of the two');
select is(pg_temp.says('{"temperature": 0.2, "thinking": 2000, "model": "claude-haiku-4-5"}'), 'engage.temperature: with thinking on claude-haiku-4-5 accepts only 1', 'and none while they think');
select is(pg_temp.says('{"tool_choice": "any", "thinking": 2000, "model": "claude-haiku-4-5"}'), 'engage.tool_choice = "any": with a thinking budget claude-haiku-4-5 accepts auto or none', 'no call is forced from a budget');
select is(pg_temp.says('{"tool_choice": "nowhere"}'), 'engage.tool_choice = "nowhere" is not one of its tools; auto, any and none are also accepted', 'a tool that it does not have cannot be asked for');
select is(pg_temp.says('{"tool_choice": "look", "tools": ["look"]}'), null, 'one of its own can');
select is(pg_temp.says('{"betas": ["a b"]}'), 'engage.betas[0] must be the name of a beta feature like "context-1m-2025-08-07"', 'a beta has a name that a header can hold');
select is(pg_temp.says('{"thinking": "adaptive", "fallback_model": "claude-haiku-4-5"}'), 'engage.thinking = "adaptive": claude-haiku-4-5 accepts off or budget', 'the fallback model is asked the same');
select is(pg_temp.says('{"thinking": 8000, "temperature": 0.2, "top_p": 0.2, "effort": "max", "model": "another-provider/large"}'), null, 'of what is not known nothing is refused');
select from model_save('another-provider/large', p_takes => '{"thinking": ["off"], "cache_ttl": ["5m"]}');
select is(pg_temp.says('{"thinking": 8000, "cache_ttl": "1h", "model": "another-provider/large"}'), 'engage.cache_ttl = "1h": another-provider/large accepts 5m; engage.thinking = "8000": another-provider/large accepts off', 'what is saved of a model counts');
select is(pg_temp.says('{"thinking": [], "effort": 1, "temperature": "x", "tool_choice": 1, "betas": 1, "tools": 1}') ~ 'thinking must be.*tools must be', true, 'values of a wrong type are told, not raised');

select * from finish();
rollback;
