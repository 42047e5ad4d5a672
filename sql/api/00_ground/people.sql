-- The person in whose name a session acts. The role determines what the session may do; the person says who did it. Two settings of a session
-- or a transaction name the person. Since anybody can set them, they are verified here each time a name is written.

create or replace function person_add(p_name text)
  returns table (name text, token text)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_token text := 'wlp_' || translate(encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_');
begin
  perform _check_person(p_name);
  insert into people (name, token_hash) values (p_name, sha256(sha256(convert_to(v_token, 'UTF8'))))
  on conflict do nothing;
  if not found then
    raise exception using
      errcode = 'WL006',
      message = format('person "%s" already exists', p_name),
      hint = 'To give them a new token, call person_revoke(), then person_add() again.';
  end if;
  return query select p_name, v_token;
end
$$;

comment on function person_add(text) is
  'Adds a person, and returns the name and a token, which is shown this once: only its hash is stored. Whoever has the token acts in that name, with the privileges of the role that is logged in: on the console, or see person_current(). Raises WL002, WL006 (the name has a valid token).';

-- Volatile, like everything that reads people: if there are roles, only volatile functions run with the owner's privileges.
create or replace function person_list()
  returns table (name text, created_at timestamptz, revoked_at timestamptz)
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p.name, p.created_at, p.revoked_at from people p order by p.revoked_at is not null, p.name, p.created_at;
$$;

comment on function person_list() is 'Who has a token, or had one until it was revoked.';

create or replace function person_revoke(p_name text)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_at timestamptz;
begin
  update people set revoked_at = _now() where name = p_name and revoked_at is null returning revoked_at into v_at;
  v_at := coalesce(v_at, (select max(revoked_at) from people where name = p_name));
  if v_at is null then
    raise exception using
      errcode = 'WL001',
      message = format('there is no person "%s"', _one_line(p_name, 100)),
      hint = 'person_list() lists the people that there are.';
  end if;
  return v_at;
end
$$;

comment on function person_revoke(text) is
  'Revokes the token of a person, from the next thing that is done with it, and returns when it was revoked. What was decided in that name stays signed with it. Revoking again changes nothing. Raises WL001.';

create or replace function person_current()
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _person();
$$;

comment on function person_current() is
  'In whose name this session acts; null: in nobody''s. That is the person whose token''s SHA-256, in hexadecimal, is in setting work_ledger.person_token: select set_config(''work_ledger.person_token'', encode(sha256(''wlp_…''), ''hex''), true). Or, for a role that may vouch (PREFIXconsole, the owner), whoever is in setting work_ledger.person. Decisions, messages, pauses and cancellations are signed with it. Raises 42501 (an unknown or revoked token; a role that may not vouch), WL002 (not a name).';

create or replace function _person()
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_token text := nullif(current_setting('work_ledger.person_token', true), '');
  v_vouched text := nullif(current_setting('work_ledger.person', true), '');
  v_name text;
begin
  if v_token is not null then
    -- Compares hashes, so that timing reveals nothing about a token.
    select name into v_name from people where v_token ~ '^[0-9a-f]{64}$' and token_hash = sha256(decode(v_token, 'hex')) and revoked_at is null;
    if not found then
      raise exception using
        errcode = 'insufficient_privilege',
        message = 'this token belongs to nobody: it is wrong or was revoked',
        hint = 'Run "work-ledger person add NAME" to create another.';
    end if;
  elsif v_vouched is not null then
    if not _vouches() then
      raise exception using
        errcode = 'insufficient_privilege',
        message = format('role %s may not vouch for people', session_user),
        hint = 'That requires the console role of work_roles_create(). People act in their own name with a token, see person_add().';
    end if;
    perform _check_person(v_vouched);
    v_name := v_vouched;
  end if;
  return v_name;
end
$$;

comment on function _person() is 'Who this session acts for, verified; null: nobody. Raises 42501, WL002.';

create or replace function _vouches()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select has_function_privilege(session_user, '_vouches()', 'execute');
$$;

comment on function _vouches() is
  'Whether whoever is logged in may say in whose name it acts (setting work_ledger.person): who was granted this function. Those are the owner, and the role console.';

create or replace function _check_person(p_name text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- A proxy's two headers arrive as one, joined by a comma.
  if coalesce(p_name, '') = '' or p_name <> _spaced(p_name) or char_length(p_name) > 100 or strpos(p_name, ',') > 0 then
    perform _raise_invalid(format('"%s" cannot be the name of a person', _one_line(p_name, 60)),
      'Use at most 100 characters on one line, without commas, invisible characters, or spaces at either end.');
  end if;
end
$$;

comment on function _check_person(text) is 'Refuses what cannot stand for a person. Raises WL002.';

create or replace function _signed(p_words text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_words || coalesce(' (' || _person() || ')', '');
$$;

comment on function _signed(text) is 'Words, and the person in whose name this session acts, if any. Raises 42501, WL002.';
