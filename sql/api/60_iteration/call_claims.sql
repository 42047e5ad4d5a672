-- Claims that calls make automatically: an agent claims what it is about to change for a while, and is told of others that claimed it.

create or replace function _shares_files(p_item work_items, p_config jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_config #>> '{engage,workspace}' = 'host' or p_config #>> '{engage,workspace}' = 'container' and _works_in(p_item, p_config) is not null;

comment on function _shares_files(work_items, jsonb) is 'Whether an item works on files that others also use, or on a copy of them.';

create or replace function _claims_are_due(p_item work_items, p_config jsonb, p_kinds text[])
  returns boolean
  language sql
  immutable
  parallel safe
  -- With a before_tool hook, calls are claimed later, as the hook rewrote them.
  return p_kinds <> '{}' and p_config #>> '{hooks,before_tool}' is null
    and (p_kinds && '{record,url}'::text[] or _shares_files(p_item, p_config));

comment on function _claims_are_due(work_items, jsonb, text[]) is 'Whether calls that are being stored and change things of these kinds, see _touches_store(), must claim any of them.';

create or replace function _calls_claim(p_item work_items, p_config jsonb, p_turn_id uuid, p_call_id uuid default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_setting text := _claims_setting(p_item, p_config);
  -- A name that is too long for a key is not claimed: a response has to be stored, whatever its calls name.
  v_room integer := 500 - octet_length(coalesce(_works_in(p_item, p_config), ''));
  v_has_hook boolean := p_config #>> '{hooks,before_tool}' is not null;
  v_shares_files boolean := _shares_files(p_item, p_config);
  v_call tool_calls;
  v_claims claims[];
  v_refusal text;
begin
  if v_setting = 'off' then
    return null;
  end if;
  -- All of them at once, in the order of their places.
  perform _lock_all('claims', array(
    select _claim_place((_claim_new(p_item, p_config, case x.kind when 'path' then 'file' else x.kind end || ':' || x.target, _claim_ttl())).key)
      from tool_calls k join touches x on x.tool_call_id = k.id
     where k.turn_id = p_turn_id and k.completed_at is null and (p_call_id is null or k.id = p_call_id)
       and x.action not in ('read', 'search') and (v_shares_files or x.kind <> 'path') and octet_length(x.target) <= v_room
       and k.tool_name <> 'memory'));
  for v_call in
    select k.* from tool_calls k
     where k.turn_id = p_turn_id and k.status in ('pending', 'running')
       and case when p_call_id is null then not v_has_hook or _is_cleared(k.id) else k.id = p_call_id end
     order by k.parent_call_id is not null, k.ordinal
  loop
    v_claims := array(
      select _claim_new(p_item, p_config, case x.kind when 'path' then 'file' else x.kind end || ':' || x.target, _claim_ttl())
        from touches x
       -- Notes are not files of the host, and have their own version check.
       where x.tool_call_id = v_call.id and x.action not in ('read', 'search') and (v_shares_files or x.kind <> 'path')
         and octet_length(x.target) <= v_room and v_call.tool_name <> 'memory'
       order by x.ordinal);
    v_refusal := case when v_setting = 'refuse' then _claims_refused(v_claims) end;
    if v_refusal is not null then
      v_call.attempts := 0; -- it may have been stored as begun
      v_call.started_at := null;
      perform _call_settle(v_call, v_refusal, true);
    else
      perform _claims_made(v_call, v_claims);
    end if;
  end loop;
  return v_refusal;
end
$$;

comment on function _calls_claim(work_items, jsonb, uuid, uuid) is
  'Claims what calls of a turn, or one of them, are about to change: the item holds each file, record or URL that they touch for _claim_ttl(). Where others hold one, depending on the setting, the result begins with a line about them, or the call is settled without running. Called when a call is cleared to run: hooks and people have been asked. Returns the refusal of the last call; null: it can run. The caller holds fence and focus.';

create or replace function _claims_made(p_call tool_calls, p_claims claims[])
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_claim claims;
  v_found record;
  v_warning text;
begin
  foreach v_claim in array p_claims loop
    v_claim.changed_at := v_claim.claimed_at;
    select * into v_found from _claim_look(v_claim);
    perform _claim_store(v_claim, v_found.own, v_found.is_free, v_found.newer <> '{}');
    v_warning := concat_ws(E'\n', v_warning, _claim_warning(v_claim, v_found.newer));
  end loop;
  -- A model sees the result of its code, not the results of the calls that the code made.
  update tool_calls set warning = concat_ws(E'\n', warning, v_warning) where id = coalesce(p_call.parent_call_id, p_call.id) and v_warning <> '';
end
$$;

comment on function _claims_made(tool_calls, claims[]) is 'Makes the claims of a call, and records what its result, or that of the code that made it, must say about others.';
