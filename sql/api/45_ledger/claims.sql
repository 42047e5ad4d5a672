-- Claims: what work is busy with, so that others keep away from it. They never block: if a thing is already claimed, the caller is told by whom
-- and does something else.

create or replace function claim_take(
    p_work_item_id uuid,
    p_key text,
    p_mode text default 'exclusive',
    p_ttl interval default '1 hour',
    p_why text default null,
    p_lease uuid default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid));
  v_claim claims;
  v_found record;
begin
  perform _check_word('a mode', p_mode, '{exclusive,shared}');
  if coalesce(p_ttl, '0') not between interval '1 second' and interval '7 days' then
    perform _raise_invalid(format('a claim must be for 1 second to 7 days, not %s', p_ttl));
  end if;
  perform _claimant_check(v_item, _journal_state(v_item) = 'active' and (v_item.focus_id is not null or v_item.state = 'created'));
  v_claim := _claim_new(v_item, _config_of(v_item), p_key, p_ttl);
  v_claim.mode := p_mode;
  v_claim.why := nullif(_one_line(p_why, 500), '');
  perform _lock('claims', _claim_place(v_claim.key));
  select * into v_found from _claim_look(v_claim);
  if (v_found.taken_by).key is not null then
    return json_build_object('kind', 'taken', 'key', v_claim.key, 'work_item_id', (v_found.taken_by).work_item_id, 'ends_at', (v_found.taken_by).ends_at,
                             'says', _claim_refusal(v_claim, v_found.taken_by));
  end if;
  v_claim := _claim_store(v_claim, v_found.own, v_found.is_free, v_found.newer <> '{}');
  return json_build_object('kind', 'claimed', 'key', v_claim.key, 'mode', v_claim.mode, 'ends_at', v_claim.ends_at,
                           'says', _claim_warning(v_claim, v_found.newer));
end
$$;

comment on function claim_take(uuid, text, text, interval, text, uuid) is
  'Claims something for the running attempt at a work item, or for a live journal session: select claim_take(''…'', ''file:src/money.js'', p_why => ''Rounding''). p_key: file: and a path (absolute, or from the directory of the work), record: or url: and a name as calls have it, or any other name. Names are scoped to a project, except for files in a known directory. p_mode: exclusive, or shared, which several may hold at once. p_ttl: the claim lapses after this time, at most 7 days, unless it is claimed again. It also ends with the attempt, with a pause, when the lease or heartbeat is lost, or by claim_release() and claim_break(); a fork does not inherit it. Never waits. Returns {kind: claimed, key, mode, ends_at, says}, where says is null or mentions others who work on it without a binding claim; or {kind: taken, key, work_item_id, ends_at, says}: another item holds it, and says is for a model. A claim of an item does not bind the items below it. p_lease: required while a worker drives the item. Raises WL001, WL002, WL003, WL004, WL005, WL008 (nobody works on the item), 42501.';

create or replace function claim_release(p_work_item_id uuid, p_key text, p_lease uuid default null)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid));
begin
  delete from claims where work_item_id = v_item.id and key = (_claim_new(v_item, _config_of(v_item), p_key, '0')).key;
  return found;
end
$$;

comment on function claim_release(uuid, text, uuid) is
  'Releases a claim of a work item; p_key as for claim_take(). Returns false if it had no such claim. p_lease: required while a worker drives the item. Raises WL001, WL002, WL003, WL004, WL005, 42501.';

create or replace function claim_check(p_work_item_id uuid, p_paths text[], p_roots text[] default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, nullif(current_setting('work_ledger.lease', true), '')::uuid);
  v_setting text := _claims_setting(v_item, _config_of(v_item));
  v_claims claims[] := array(
    select _claim_new(v_item, _config_of(v_item), 'file:' || coalesce(f.path, ''), _claim_ttl(), nullif(f.root, ''))
      from unnest(coalesce(p_paths, '{""}'), p_roots[:cardinality(p_paths)]) f(path, root));
  v_claim claims;
  v_found record;
  v_says text;
begin
  perform _claimant_check(v_item, v_item.state in ('created', 'paused'));
  -- The session was thought to be over (another program left it, its end was told late), and its claim would hold nobody.
  if v_item.work_type = 'journal' and _journal_state(v_item) <> 'active' then
    v_item := journal_session_status(v_item.id, 'active');
  end if;
  if v_setting = 'off' then
    return json_build_object('kind', 'allow');
  end if;
  -- All or none: a change that is refused for one file changes none.
  perform _lock_all('claims', array(select _claim_place(c.key) from unnest(v_claims) c));
  v_says := case when v_setting = 'refuse' then _claims_refused(v_claims) end;
  if v_says is not null then
    return json_build_object('kind', 'refuse', 'says', v_says);
  end if;
  foreach v_claim in array v_claims loop
    v_claim.changed_at := _now();
    select * into v_found from _claim_look(v_claim);
    perform _claim_store(v_claim, v_found.own, v_found.is_free, v_found.newer <> '{}');
    v_says := nullif(concat_ws(E'\n', v_says, _claim_warning(v_claim, v_found.newer)), '');
  end loop;
  return json_build_object('kind', case when v_says is null then 'allow' else 'warn' end, 'says', v_says);
end
$$;

comment on function claim_check(uuid, text[], text[]) is
  'For a session of another program that is about to change files: checks whether others are working on them, and claims them for the session: select claim_check(''…'', ''{/srv/shop/src/money.js}''). p_paths: the paths of all files of the change, absolute or from the session''s directory. p_roots: for each of them the root of the working tree of the session''s repository that it is in, so that the same file on another branch is known; null or empty: it is in none, or unknown. A file''s location decides, not where the session works. A session that was paused, or that counted as crashed, is active again. Returns {kind: allow}; {kind: warn, says}: others are working on one of them or have changed it since, so continue and tell the model; {kind: refuse, says}: change none of them, and tell the model why; none is claimed then. The project''s setting chooses between warn and refuse; without one, it is warn. Raises WL001, WL002, WL003, WL005 (a worker drives it), WL008 (it waits for a worker), 42501.';

create or replace function _claimant_check(p_item work_items, p_is_at_work boolean)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not p_is_at_work then
    raise exception using errcode = 'WL008', message = format('work item %s is not running: only running work can claim', p_item.id);
  end if;
end
$$;

comment on function _claimant_check(work_items, boolean) is 'Rejects a claim for an item that nobody works on. Raises WL008.';

create or replace function _claim_by(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case p_item.work_type when 'journal' then 'Another ' else '' end || _source_label(d.driver, p_item.work_type)
    from _driver(p_item.id, p_item.faculty) d;
$$;

comment on function _claim_by(work_items) is 'Who works on an item, as claims are told: faculty/work type, or that it is a session.';

create or replace function _claim_ttl()
  returns interval
  language sql
  immutable
  parallel safe
  return interval '15 minutes';

comment on function _claim_ttl() is 'How long what a call changed is claimed for its work, from the newest such call on.';

create or replace function _claims_setting(p_item work_items, p_config jsonb)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select j.claims from projects j where j.name = _project_now(p_item.project)),
                  p_config ->> 'claims', 'warn'); -- a faculty saved by an older version lacks this key
$$;

comment on function _claims_setting(work_items, jsonb) is 'What happens to a call that changes what others claimed: off, warn or refuse.';

create or replace function _claim_new(p_item work_items, p_config jsonb, p_key text, p_ttl interval, p_root text default null)
  returns claims
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_is_copy boolean := p_item.focus_id is not null and p_config #>> '{engage,workspace}' = 'container';
  v_directory text := substring(_works_in(p_item, p_config) from '^/.*$');
  v_key text := btrim(p_key, E' \t\r\n');
  v_claim claims;
begin
  perform _check_key('the key of a claim', p_key);
  if coalesce(v_key, '') in ('', 'file:') then
    perform _raise_invalid('a claim needs a key', 'Use file: and a path, record: or url: and a name, or any other name.');
  end if;
  if v_key ~ '^file:' then
    v_key := _path_clean(substr(v_key, 6));
    if v_key !~ '^/' and v_directory is not null then
      v_key := _path_clean(v_directory || '/' || v_key);
    end if;
    v_claim.place := case when v_key ~ '^/' and not v_is_copy then lower(v_key) end;
    if v_directory is not null and starts_with(lower(v_key), _path_plain(v_directory) || '/') then
      v_key := substr(v_key, length(_path_plain(v_directory)) + 2);
    end if;
    v_key := 'file:' || v_key;
  end if;
  perform _check_key('the key of a claim', v_key), _check_key('the path of a claim', v_claim.place);
  v_claim.work_item_id := p_item.id;
  v_claim.key := v_key;
  v_claim.name := case when starts_with(v_claim.place, _path_plain(p_root) || '/') then 'file:' || substr(v_claim.place, length(_path_plain(p_root)) + 2)
                       else lower(v_key) end;
  v_claim.scope := coalesce(_project_now(p_item.project), v_directory, '');
  v_claim.mode := 'exclusive';
  v_claim.is_binding := not (v_is_copy and v_key ~ '^file:');
  v_claim.focus_id := p_item.focus_id;
  v_claim.claimed_at := _now();
  v_claim.ends_at := v_claim.claimed_at + p_ttl;
  return v_claim;
end
$$;

comment on function _claim_new(work_items, jsonb, text, interval, text) is
  'The row of a claim as it would be, its key in normal form. p_root: the root of the working tree that a file is in; null: unknown. A container has a copy of its directory: what it changes there is another file, and binds nobody. Raises WL002.';

create or replace function _claim_place(p_key text)
  returns text
  language sql
  immutable
  parallel safe
  return lower(regexp_replace(p_key, '^.*[/:]', ''));

comment on function _claim_place(text) is
  'What _lock(''claims'', …) locks for a key: the last name in it, which is the same however a file is named. To claim several things, lock them in one statement.';

create or replace function _claim_look(p_claim claims, out own claims, out newer claims[], out taken_by claims, out is_free boolean)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_others claims[] := array(
    select o
      from claims o
      join work_items w on w.id = o.work_item_id
     where (o.place = p_claim.place or o.name = p_claim.name and _project_now(o.scope) = _project_now(p_claim.scope))
       and o.work_item_id <> p_claim.work_item_id and 'exclusive' in (o.mode, p_claim.mode) and _claim_holds(o, w)
       and not exists (
         with recursive above(id) as (
           select i.parent_id from work_items i where i.id = p_claim.work_item_id
           union all
           select i.parent_id from above a join work_items i on i.id = a.id
         )
         select from above a where a.id = w.id)
     order by o.claimed_at desc);
begin
  own := (select c from claims c join work_items w on w.id = c.work_item_id
           where c.work_item_id = p_claim.work_item_id and c.key = p_claim.key and _claim_holds(c, w));
  newer := array(select o from unnest(v_others) o where o.claimed_at > own.claimed_at or own.key is null);
  -- The same name in another place is another branch or a copy: no call is rejected for it.
  is_free := p_claim.is_binding and not exists (select from unnest(v_others) o where o.is_binding and (o.place <> p_claim.place) is not true);
  taken_by := (
    select o from unnest(v_others) o
     where p_claim.is_binding and o.is_binding and (o.place <> p_claim.place) is not true
       -- If a claim lapsed and its holder came back to find another's claim, only one of the two is rejected.
       and not coalesce(own.is_binding and own.claimed_at > o.claimed_at, false)
     limit 1);
end
$$;

comment on function _claim_look(claims) is
  'Who else claimed a thing; the caller holds the lock on it. own: the claim that the item already has on it. newer: others that claimed or changed it since, all if the item has no claim. taken_by: the one because of which the claim is refused. is_free: nobody else has a binding claim. Nulls: none. A claim of an item above does not count: those below it work for it.';

create or replace function _claims_refused(p_claims claims[])
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_claim claims;
  v_taken_by claims;
begin
  foreach v_claim in array p_claims loop
    v_taken_by := (_claim_look(v_claim)).taken_by;
    if v_taken_by.key is not null then
      return _claim_refusal(v_claim, v_taken_by);
    end if;
  end loop;
  return null;
end
$$;

comment on function _claims_refused(claims[]) is 'Why a change that needs these claims is not made; null: they are free. The caller holds the locks on them.';

create or replace function _claim_store(p_claim claims, p_own claims, p_is_free boolean, p_is_anew boolean)
  returns claims
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_own.key is not null then
    p_claim.is_binding := p_is_free or p_own.is_binding and p_claim.is_binding;
    p_claim.name := case when p_claim.name = lower(p_claim.key) then p_own.name else p_claim.name end; -- where the root was known, it still is
    p_claim.claimed_at := case when p_is_anew then p_claim.claimed_at else p_own.claimed_at end;
    p_claim.why := coalesce(p_claim.why, p_own.why);
    p_claim.ends_at := case when p_claim.changed_at is null then p_claim.ends_at else greatest(p_claim.ends_at, p_own.ends_at) end;
    p_claim.changed_at := coalesce(p_claim.changed_at, p_own.changed_at);
  else
    p_claim.is_binding := p_is_free;
  end if;
  insert into claims values (p_claim.*)
  on conflict (work_item_id, key) do update
     set scope = excluded.scope, place = excluded.place, mode = excluded.mode, is_binding = excluded.is_binding, why = excluded.why,
         focus_id = excluded.focus_id, claimed_at = excluded.claimed_at, changed_at = excluded.changed_at, ends_at = excluded.ends_at;
  return p_claim;
end
$$;

comment on function _claim_store(claims, claims, boolean, boolean) is 'Stores a claim, or renews the existing one; p_own, p_is_free as returned by _claim_look(). p_is_anew: others came since, and its work is told of them now.';

create or replace function _claim_why(p_claim claims, p_item work_items)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select translate(_one_line(coalesce(p_claim.why, p_item.description), 120), '"[]', '''()');
$$;

comment on function _claim_why(claims, work_items) is 'What a claim is for, as a quotation in a sentence of the engine: in one line, which cannot end the quotation or look like what the engine says.';

create or replace function _claim_words(p_claim claims, p_other claims)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('%s %s %s %s%s and is still working on it: "%s"', _claim_by(w), case when p_other.changed_at is null then 'claimed' else 'changed' end,
                _one_line(regexp_replace(p_claim.key, '^file:', ''), 200),
                case when v.seconds < 60 then v.seconds || ' s ago' else _ago(v.at, _now()) end,
                case when p_claim.place <> p_other.place then ' on another branch'
                     when (p_claim.place is null) <> (p_other.place is null) then ' in another copy' else '' end,
                _claim_why(p_other, w))
    from work_items w
    cross join lateral (select coalesce(p_other.changed_at, p_other.claimed_at) as at,
                               floor(extract(epoch from _now() - coalesce(p_other.changed_at, p_other.claimed_at)))::bigint as seconds) v
   where w.id = p_other.work_item_id;
$$;

comment on function _claim_words(claims, claims) is 'What someone else is doing with a claimed thing, in one line.';

create or replace function _claim_warning(p_claim claims, p_others claims[])
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg('[claim] ' || _claim_words(p_claim, p_others[n]), E'\n' order by n)
         || case when cardinality(p_others) > 3 then format(E'\n[claim] … and %s more', cardinality(p_others) - 3) else '' end
    from generate_series(1, least(cardinality(p_others), 3)) n;
$$;

comment on function _claim_warning(claims, claims[]) is 'The warning about others that work on the same thing, up to three lines. Null: there are none.';

create or replace function _claim_refusal(p_claim claims, p_other claims)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Clock times, not ages, so that repeating the call gives the same text, and an agent that only repeats itself is stopped.
  select format('[claim] Not executed: %s holds %s since %s UTC: "%s" (work item %s). It becomes free when that work ends, or at %s UTC if it is not renewed. '
                'Do other work first, or, where you can, wait_for "%s" or tell_agent %s what you need.',
                _claim_by(w), _one_line(regexp_replace(p_claim.key, '^file:', ''), 200), to_char(p_other.claimed_at at time zone 'UTC', 'HH24:MI'),
                _claim_why(p_other, w), w.id, to_char(p_other.ends_at at time zone 'UTC', 'HH24:MI'), p_claim.key, w.id)
    from work_items w
   where w.id = p_other.work_item_id;
$$;

comment on function _claim_refusal(claims, claims) is 'What a model is told when its call was not run because another item holds what it changes: who, since when, why, until when, and what it can do.';

create or replace view v_claims with (security_invoker = true) as
  select c.work_item_id, _claim_by(w) as by, c.key, c.scope, c.mode, c.is_binding, c.why, w.description, c.claimed_at, c.changed_at, c.ends_at
    from claims c
    join work_items w on w.id = c.work_item_id
   where _claim_holds(c, w);
comment on view v_claims is 'The claims that running work holds now. claim_break() removes one.';
comment on column v_claims.by is 'Who holds it: faculty/work type, or a session of another program.';
comment on column v_claims.description is 'The task of the work that holds it.';
