-- The ledger's own code: what was installed, and what is there now. A ledger's owner can replace its functions, so this only shows manual changes;
-- "work-ledger verify" compares with the package.

create or replace function _code_now()
  returns table (kind text, name text, digest text, is_new boolean)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  -- Definitions depend on the session's settings, and must read the same in every session.
  set standard_conforming_strings = on
  set quote_all_identifiers = off
  set intervalstyle = postgres
  set bytea_output = hex
as $$
  select c.kind, c.name, _content_hash(c.definition), c.xmin = pg_current_xact_id_if_assigned()::xid
    from (
      select 'function' as kind, p.oid::regprocedure::text as name, p.xmin,
             concat_ws(E'\n', l.lanname, p.provolatile, p.proisstrict, pg_get_function_result(p.oid), pg_get_function_arguments(p.oid),
               array_to_string(p.proconfig, ','), p.prosrc, pg_get_function_sqlbody(p.oid)) as definition
        from pg_proc p
        join pg_language l on l.oid = p.prolang
       where p.pronamespace = quote_ident(_ledger_schema())::regnamespace and p.proname !~ '^_js_(?!text)' and p.prokind = 'f'
      union all
      -- The pretty form omits the schema, which may be renamed.
      select 'trigger', format('%I on %s', t.tgname, t.tgrelid::regclass), t.xmin,
             concat_ws(E'\n', pg_get_triggerdef(t.oid, true), t.tgenabled)
        from pg_trigger t
        join pg_class c on c.oid = t.tgrelid
       where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and not t.tgisinternal
         and t.tgfoid <> '_refuse_moved()'::regprocedure -- these come and go with a move, and can only reject statements
      union all
      -- After a dump and restore, an unnamed constant is named after its type.
      select 'view', c.oid::regclass::text, r.xmin,
             regexp_replace(pg_get_viewdef(c.oid), '(::[a-z ]+) AS "?(text|int4|int8|bool|numeric|float8|uuid|jsonb?|timestamptz|interval)\M"?', '\1', 'g')
        from pg_class c
        join pg_rewrite r on r.ev_class = c.oid
       where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and c.relkind = 'v') c;
$$;

comment on function _code_now() is 'The functions, triggers and views in the schema of this ledger. is_new: this transaction made them. Without those that "work-ledger install --javascript" replaces.';

create or replace function _code_note()
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- After a change of PostgreSQL version: code that still reads the same counts as installed.
  update installed_code i
     set server = current_setting('server_version_num')::integer / 10000
    from _code_now() c
   where i.server <> current_setting('server_version_num')::integer / 10000 and (c.kind, c.name, c.digest) = (i.kind, i.name, i.digest);
  delete from installed_code i
   where not exists (select from _code_now() c where (c.kind, c.name) = (i.kind, i.name)) or i.server <> current_setting('server_version_num')::integer / 10000;
  insert into installed_code (kind, name, digest, server)
  select c.kind, c.name, c.digest, current_setting('server_version_num')::integer / 10000 from _code_now() c where c.is_new
  on conflict (kind, name) do update set digest = excluded.digest;
$$;

comment on function _code_note() is 'Notes what this transaction has installed, for ledger_verify(). What users keep in this schema is not noted.';

create or replace function _code_problems()
  returns table (place text, problem text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with installed as (
    select * from installed_code where server = current_setting('server_version_num')::integer / 10000
  )
  select concat_ws(' ', coalesce(i.kind, c.kind), coalesce(i.name, c.name)), case
      when c.name is null then 'missing'
      when i.name is null then 'was not installed with the ledger'
      when i.kind = 'trigger' and t.tgenabled = 'D' then 'disabled'
      else 'is not the one that was installed' end
    from installed i
    full join _code_now() c on (c.kind, c.name) = (i.kind, i.name)
    left join pg_trigger t on i.kind = 'trigger' and format('%I on %s', t.tgname, t.tgrelid::regclass) = i.name and not t.tgisinternal
   where i.digest is distinct from c.digest and exists (select from installed)
     -- Users may have other functions and views in this schema, but none that could be mistaken for one of ours.
     and (i.name is not null or c.kind = 'trigger' or c.kind = 'function' and exists (
       select from installed k where k.kind = 'function' and split_part(k.name, '(', 1) = split_part(c.name, '(', 1)))
  union all
  select 'code', 'cannot be compared: it was installed on another version of PostgreSQL, see "work-ledger verify"'
   where not exists (select from installed);
$$;

comment on function _code_problems() is 'Functions, triggers and views of this ledger that are not as they were installed.';
