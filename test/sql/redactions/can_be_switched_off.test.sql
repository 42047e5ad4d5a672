-- A faculty whose work is with what looks like secrets keeps it; so does a session that says so.
begin;
select plan(4);

create function pg_temp.key() returns text language sql as $$ select 'sk-' || 'ant-api03-' || repeat('aB3_', 10) $$;

select agent('{"tools": ["look"]}', '{"redact": false}');
select submit();
select drive();
select from ledger_append(item(), 'note', pg_temp.key(), p_lease => lease());
select from turn_record(item(), lease(), turn(), format('{"content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"a": "%s"}}], "stop_reason": "tool_use"}', pg_temp.key())::json);
select is((select content from work_ledger), pg_temp.key(), 'redact = false: an entry of its agent stays as it is');
select is((select input ->> 'a' from tool_calls), pg_temp.key(), 'and the input of its calls');
select is((select content from ledger_append((select id from work_submit('other', 'Of nobody''s')), 'note', pg_temp.key())), '[redacted]', 'entries of others do not');
set local work_ledger.redact = off;
select is((select content from ledger_append((select id from work_submit('other', 'Of nobody''s, too')), 'note', pg_temp.key())), pg_temp.key(), 'but where the session says so');

select * from finish();
rollback;
