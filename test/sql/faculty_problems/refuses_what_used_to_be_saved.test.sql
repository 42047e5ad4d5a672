-- Each of these was taken by one of the two checks that there were, and refused by the other.
begin;
select plan(12);

create function pg_temp.says(p_keys jsonb) returns text language sql as
  $$ select string_agg(says, E'\n') from faculty_problems('{"name": "a"}' || p_keys) $$;

select is(pg_temp.says('{"engage": {"workspace_cpus": 1.5, "code_execution_cpus": 0.5}}'), null, 'half a processor is no problem');
select is(pg_temp.says('{"engage": {"workspace": "hots"}}'), 'engage.workspace must be host, container or none, not "hots"; did you mean "host"?', 'an unknown workspace is a problem');
select is(pg_temp.says('{"recover": {"mode": "frehs"}}'), 'recover.mode must be resume or fresh, not "frehs"; did you mean "fresh"?', 'an unknown mode of recovery is a problem');
select is(pg_temp.says('{"recover": {"backoff": "exponental"}}'), 'recover.backoff must be exponential or constant, not "exponental"; did you mean "exponential"?', 'an unknown backoff is a problem');
select is(pg_temp.says('{"engage": {"compact_threshold": 70}}'), 'engage.compact_threshold must be a number from 0 to 1, not 70', 'a threshold over 1 is a problem');
select is(pg_temp.says('{"engage": {"workspace_size": "huge"}}'), 'engage.workspace_size must be a size like "512m", not "huge"', 'a size that is a word is a problem');
select is(pg_temp.says('{"accepts": [1, {"x": 2}]}'), E'accepts[0] must be a string, not 1\naccepts[1] must be a string, not a table', 'work types that are no strings are problems');
select is(pg_temp.says('{"engage": {"tools": [1]}}'), 'engage.tools[0] must be a string, not 1', 'tools that are no strings are problems');
select is(pg_temp.says('{"awareness": {"lookback_hours": 1.5}}'), 'awareness.lookback_hours must be a whole number from 0, not 1.5', 'hours with a fraction are a problem');
select is(pg_temp.says('{"engage": {"context_window": 0}}'), 'engage.context_window must be a whole number from 1000, not 0', 'a context window of 0 is a problem');
select is(pg_temp.says('{"persona": " ", "engage": {"model": ""}}'), E'engage.model must be a string that is not blank, not ""\npersona must be a string that is not blank, not " "', 'blank names are problems');
select is(pg_temp.says(jsonb_build_object('name', repeat('n', 64))), 'name must be a string of at most 63 characters, not "' || repeat('n', 60) || '…"', 'a name that no row holds is a problem');

select * from finish();
rollback;
