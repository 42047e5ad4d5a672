-- What names a server or the variable with its key holds no key itself, and a key that is given by mistake is not repeated.
begin;
select plan(4);

create function pg_temp.says(p_engage jsonb) returns text language sql as
  $$ select string_agg(says, '; ') from faculty_problems(jsonb_build_object('name', 'a', 'engage', p_engage)) $$;

select is(pg_temp.says('{"base_url": "https://gate.example:4000/v1", "api_key_env": "GATEWAY_KEY"}'), null, 'an address and a name of a variable are taken');
select is_empty(
  $$ select u from unnest(array['https://me:secret@gate.example', 'https://gate.example/?key=secret', 'gate.example', 'ftp://gate.example', 'http://', '']) u
      where pg_temp.says(jsonb_build_object('base_url', u)) is distinct from 'engage.base_url must be an http or https address without a password' $$,
  'an address with a password, with a query, or of another kind is refused');
select is_empty(
  $$ select v from unnest(array['sk-ant-secret', 'secret', 'A B', '1A', '']) v
      where pg_temp.says(jsonb_build_object('api_key_env', v)) is distinct from 'engage.api_key_env must be the name of an environment variable like "GATEWAY_KEY"' $$,
  'what is not a name in capitals is refused, and not repeated');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"api_key_env": "sk-ant-secret"}}') $$, 'WL002', null, 'and not saved');

select * from finish();
rollback;
