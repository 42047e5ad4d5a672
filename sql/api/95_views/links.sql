-- Other ledgers that a reader may ask: in this database, in others or on other servers. A link is a foreign table that reads v_awareness there, so a
-- digest is one query, run there with the rights of the user mapping. That view is all that ledgers of different versions know of each other: its two
-- columns never change.

create or replace view v_awareness with (security_invoker = true) as
  select work_ledger_version() as version, awareness_digest() as digest;
comment on view v_awareness is 'What is going on in this ledger, as awareness_digest() reports it without a work item, in one row. Linked ledgers of any version read it.';
comment on column v_awareness.version is 'The version of this ledger.';
comment on column v_awareness.digest is 'The digest with the default limits.';

create or replace view v_ledger_links with (security_invoker = true) as
  select substr(c.relname::text collate "default", length('linked_') + 1) as name, s.srvname::text collate "default" as server,
         (select o.option_value from pg_options_to_table(t.ftoptions) o where o.option_name = 'schema_name') as ledger_schema
    from pg_foreign_table t
    join pg_class c on c.oid = t.ftrelid
    join pg_foreign_server s on s.oid = t.ftserver
   where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and starts_with(c.relname::text, 'linked_');
comment on view v_ledger_links is 'The ledgers that awareness_digest_across() includes in addition to this one, created by ledger_link().';
comment on column v_ledger_links.name is 'The name shown to readers.';
comment on column v_ledger_links.server is 'The foreign server (postgres_fdw) it is on.';
comment on column v_ledger_links.ledger_schema is 'Its schema there.';

create or replace function ledger_link(
  p_name text,
  p_server text,
  p_schema text default 'work_ledger')
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_server pg_foreign_server;
  v_problem text;
begin
  if coalesce(p_name, '') !~ '^[a-z_][a-z0-9_]{0,49}$' then
    perform _raise_invalid('p_name names a linked ledger: lower-case letters, digits and _, 50 characters at most');
  elsif coalesce(p_schema, '') = '' then
    perform _raise_invalid('p_schema is the schema of the linked ledger');
  elsif exists (select from v_ledger_links where name = p_name) then
    perform _raise_invalid(format('a ledger is already linked as "%s"', p_name), 'ledger_unlink() drops that link.');
  end if;
  select s.* into v_server
    from pg_foreign_server s
    join pg_foreign_data_wrapper w on w.oid = s.srvfdw
   where s.srvname = left(p_server, 64) and w.fdwname = 'postgres_fdw';
  if not found then
    perform _raise_invalid(format('"%s" is not a server of postgres_fdw', _one_line(p_server, 60)),
                           'create extension postgres_fdw; create server …; create user mapping …');
  elsif not has_server_privilege(v_server.oid, 'usage') then
    perform _raise_invalid(format('role "%s" may not use server "%s"', current_user, p_server),
                           format('grant usage on foreign server %I to %I;', p_server, current_user));
  elsif not exists (select from pg_options_to_table(v_server.srvoptions) where option_name = 'connect_timeout') then
    -- A server that is cut off would hold up every reader for minutes.
    perform _raise_invalid(format('server "%s" has no connect_timeout', p_server), format('alter server %I options (add connect_timeout ''3'');', p_server));
  end if;
  -- The name is an identifier, so it is formatted into the statement.
  execute format(
    'create foreign table %I.%I (version text, digest text) server %I options (schema_name %L, table_name %L, updatable %L, truncatable %L)',
    _ledger_schema(), 'linked_' || p_name, p_server, p_schema, 'v_awareness', 'false', 'false');
  v_problem := (_linked_digest(p_name)).problem;
  if v_problem is not null then
    perform _raise_invalid(v_problem);
  end if;
end
$$;

comment on function ledger_link(text, text, text) is
  'Links another ledger, which awareness_digest_across() includes from then on: select ledger_link(''shop'', ''shop_server''). p_name: the name shown to readers. p_server: a foreign server of postgres_fdw, with connect_timeout among its options; it may lead to this database. p_schema: the ledger''s schema there. The ledger is read at once, with the user mapping of the role that reads: the ledger''s owner where work_roles_create() made roles, else the caller. That user needs only to be a reader there; its password is stored in the user mapping and nowhere else. The linked ledger may have any version from 0.2.0 on. Raises WL002, also if the ledger does not answer, in which case no link is created.';

create or replace function ledger_unlink(p_name text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from v_ledger_links where name = p_name) then
    perform _raise_invalid(format('no ledger is linked as "%s"', _one_line(p_name, 60)), 'select * from v_ledger_links');
  end if;
  -- The name is an identifier, so it is formatted into the statement.
  execute format('drop foreign table %I.%I', _ledger_schema(), 'linked_' || p_name);
  delete from linked_digests where name = p_name;
end
$$;

comment on function ledger_unlink(text) is
  'Drops the link to a ledger, see ledger_link(). The server and its user mappings are kept. Raises WL002.';
