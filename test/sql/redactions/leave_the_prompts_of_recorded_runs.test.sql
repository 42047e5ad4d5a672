-- What a program told its model before the conversation, such as files that it had read, is kept without secrets, and counted once.
begin;
select plan(5);

create function pg_temp.key() returns text language sql immutable as $$ select 'sk-' || 'ant-api03-' || repeat('aB3_', 10) $$;
create function pg_temp.import(p_said text) returns void language sql as $$
  select from session_import(json_build_object('format', 'codex', 'sessionId', p_said, 'system', 'Use ' || pg_temp.key() || '. ' || p_said, 'prompt', 'Fix it',
    'exchanges', json_build_array(json_build_object('text', 'Done.', 'calls', json_build_array()))));
$$;

select pg_temp.import('Be brief.');
select is((select config #>> '{system,0,text}' from turn_configs), 'Use [redacted]. Be brief.', 'a prompt is kept without its secret');
select is((select content_hash = _content_hash(config::text) from turn_configs), true, 'its hash is that of what is kept');
select pg_temp.import('Be brief.');
select is((select sum(secrets)::integer from redactions where place = 'turn_configs'), 1, 'it is counted once, however often it is imported');
select is((select count(*)::integer from turn_configs), 1, 'and is one');
set local work_ledger.redact = off;
select pg_temp.import('Be long.');
select is((select config #>> '{system,0,text}' from turn_configs where config::text ~ 'long'), 'Use ' || pg_temp.key() || '. Be long.', 'unless the secrets are to be kept');

select * from finish();
rollback;
