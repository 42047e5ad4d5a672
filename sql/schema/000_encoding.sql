-- Models and tools write Unicode: a database in another encoding would reject or garble some of it in the middle of the work. This is the first statement
-- of all, separate and in ASCII: in such a database the others could not even be read.

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
