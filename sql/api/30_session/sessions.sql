-- Sessions: stable names for heads in the tree of turns. Forking creates a pointer and rolling back moves one. Every move is logged, so that any
-- earlier state can be looked up.

create or replace function session_create(
    p_label text,
    p_turn_id uuid default null,
    p_persona_id text default 'default',
    p_origin text default 'work-ledger',
    p_origin_session_id text default null)
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions;
begin
  if coalesce(p_label, '') !~ '\S' or char_length(p_label) > 500 then
    perform _raise_invalid('a session needs a label of at most 500 characters');
  end if;
  if p_turn_id is not null and not exists (select from turns where id = p_turn_id) then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  if exists (select from session_aliases where alias = p_label) then
    raise exception using errcode = 'WL006', message = format('"%s" is an alias of session "%s"', p_label, (session_find(p_label)).label);
  end if;
  perform _check_key('a persona id', p_persona_id), _check_key('an origin', p_origin), _check_key('an origin session id', p_origin_session_id);
  insert into sessions (label, persona_id, origin, origin_session_id)
  values (p_label, coalesce(p_persona_id, 'default'), coalesce(p_origin, 'work-ledger'), p_origin_session_id)
  on conflict (label) do nothing;
  if not found then
    raise exception using errcode = 'WL006', message = format('there is already a session "%s"', p_label);
  end if;
  if p_turn_id is not null then
    perform _session_advance(p_label, p_turn_id);
  end if;
  select * into v_session from sessions where label = p_label;
  return v_session;
end
$$;

comment on function session_create(text, uuid, text, text, text) is
  'Creates a session and returns its row: select session_create(''main''). p_turn_id: its head; null: it has no turns yet. p_persona_id: who speaks in it. p_origin and p_origin_session_id: where it was imported from. Raises WL001 (turn), WL002, WL006 (label taken).';

create or replace function session_open(p_name text)
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := session_find(p_name);
begin
  while v_session.label is null loop
    begin
      return session_create(p_name);
    exception when sqlstate 'WL006' then
      v_session := session_find(p_name); -- another transaction has just created it
    end;
  end loop;
  return v_session;
end
$$;

comment on function session_open(text) is 'Returns the session with this label, else the one with this alias, else a new one. Raises WL002.';

create or replace function session_find(p_name text)
  returns sessions
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select s
    from sessions s
   where s.label = coalesce((select label from sessions where label = p_name), (select session_label from session_aliases where alias = p_name));
$$;

comment on function session_find(text) is 'Returns the session with this label, else the one with this alias; null if there is neither.';

create or replace function session_alias(p_alias text, p_session text, p_reason text default 'manual')
  returns session_aliases
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session(p_session);
  v_alias session_aliases;
begin
  if coalesce(p_alias, '') !~ '\S' then
    perform _raise_invalid('an alias must not be blank');
  end if;
  perform _check_key('an alias', p_alias), _check_word('a reason for an alias', p_reason, '{identity_promotion,identity_merge,manual}');
  if exists (select from sessions where label = p_alias) then
    raise exception using errcode = 'WL006', message = format('there is already a session "%s", which would hide an alias of that name', p_alias);
  end if;
  insert into session_aliases (alias, session_label, reason) values (p_alias, v_session.label, p_reason)
  on conflict (alias) do update set session_label = excluded.session_label, reason = excluded.reason
  returning * into v_alias;
  return v_alias;
end
$$;

comment on function session_alias(text, text, text) is
  'Gives a session an additional name; an existing alias is moved to this session. Returns the session_aliases row. p_reason: identity_promotion, identity_merge or manual. Raises WL001, WL002, WL006 (a session has that label).';

create or replace function session_archive(p_session text, p_status text default 'archived')
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session(p_session, true);
begin
  perform _check_word('the status of a session', p_status, '{active,archived,deleted}');
  update sessions set status = p_status, updated_at = _now() where label = v_session.label returning * into v_session;
  return v_session;
end
$$;

comment on function session_archive(text, text) is 'Marks a session as archived, deleted or active again, and returns its row. Its turns are kept. Raises WL001, WL002.';

create or replace function _session_named(p_name text)
  returns sessions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := session_find(p_name);
begin
  if v_session.label is null then
    raise exception using errcode = 'WL001', message = format('there is no session "%s"', p_name);
  end if;
  return v_session;
end
$$;

comment on function _session_named(text) is 'The session that session_find() finds. Raises WL001.';

create or replace function _session(p_name text, p_is_locked boolean default false)
  returns sessions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session_named(p_name);
begin
  if p_is_locked then
    select * into v_session from sessions where label = v_session.label for no key update;
  end if;
  return v_session;
end
$$;

comment on function _session(text, boolean) is '_session_named(), its row locked if p_is_locked. Raises WL001.';
