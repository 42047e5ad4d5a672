-- The tombstone of work that was erased for a secret in it does not keep the secret in its reason.
begin;
select plan(1);

create function pg_temp.key() returns text language sql immutable as $$ select 'sk-' || 'ant-api03-' || repeat('aB3_', 10) $$;

select from work_cancel((select id from work_submit('other', 'Rotate the key')));
select from work_erase((select id from work_items), 'it held ' || pg_temp.key());
select is((select reason from erasures), 'it held [redacted]', 'the reason is kept without it');

select * from finish();
rollback;
