-- What models and tools write is Unicode: a database in another encoding would refuse some of it in the middle of the work, or garble it.
-- The first statement of all, for itself and in ASCII: in such a database the others do not even arrive.

do $do$
begin
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception using
      errcode = 'feature_not_supported',
      message = format('Work Ledger needs a database whose encoding is UTF8, and that of %s is %s', current_database(), current_setting('server_encoding')),
      hint = 'create database NAME encoding ''UTF8'' template template0';
  end if;
end
$do$;
