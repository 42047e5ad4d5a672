-- Where a request adds more than twenty blocks, a cache breakpoint stands where the one before it ended: a provider looks no further back.
begin;
select plan(10);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create function pg_temp.looks(p_calls integer, p_more jsonb default '[]') returns void language sql as $$ select play(jsonb_build_array(to_jsonb(array_fill('["look"]'::jsonb, array[p_calls])) || p_more)) $$;
create function pg_temp.marked(p_n integer) returns bigint[] language sql as $$ select coalesce(array_agg(i order by i), '{}') from blocks(p_n) where block -> 'cache_control' is not null $$;
create function pg_temp.size(p_n integer) returns bigint language sql as $$ select count(*) from blocks(p_n) $$;

select pg_temp.looks(9);
select pg_temp.looks(10);
select pg_temp.looks(1);
select pg_temp.looks(11, '[["step", "Looked"]]');
select pg_temp.looks(12);
select pg_temp.looks(1);
-- A step alone: all leaves, and the request ends behind the stubs, with where the agent stands.
select play('[[["step", "Looked"]]]');
select pg_temp.looks(12);
select pg_temp.looks(1);
select is(pg_temp.marked(2), '{}', 'an exchange of 18 blocks needs no breakpoint: a provider looks back as far');
select is(array[pg_temp.size(3) - pg_temp.size(2), pg_temp.size(2)], array[20, 19]::bigint[], 'the third request adds 20 blocks');
select is(pg_temp.marked(3), array[pg_temp.size(2)], 'a breakpoint stands where the request before ended');
select is(pg_temp.marked(4), '{}', 'the next request has that breakpoint no more');
-- The step of turn 4 rides: the blocks before it leave, and the request begins anew.
select is((select array_agg(block ->> 'text') from blocks(5) where block -> 'cache_control' is not null), array['[completed step 1: see below]'], 'behind a cut the stubs alone have a breakpoint');
select is(cardinality(pg_temp.marked(6)), 2, 'in the request behind a cut, after 24 blocks, both breakpoints stand');
select is((select max(m) from unnest(pg_temp.marked(6)) m), pg_temp.size(5), 'the second one stands where the request with the stubs ended');
select is((select array_length(regexp_split_to_array(body::text, '"cache_control"'), 1) - 1 from request where n = 6), 4, 'with those of system prompt and request there are as many breakpoints as the API takes');
select is((select array_length(regexp_split_to_array((body -> 'messages')::text, '"cache_control"'), 1) - 1 from request where n = 9), 2, 'where the request before ended with where the agent stands, so does the second');
select is(rebuilt(), 9::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
