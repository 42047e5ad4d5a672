create or replace function focus_claim(
    p_work_item_id uuid,
    p_worker_id text,
    p_lease_seconds integer default 30)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_item work_items;
  v_focus foci;
  v_lease uuid := gen_random_uuid();
  v_waits_until timestamptz;
begin
  if coalesce(p_worker_id, '') = '' or coalesce(p_lease_seconds, 0) < 1 then
    perform _raise_invalid('a claim needs a worker id and a lease of at least one second');
  end if;
  select * into v_item from work_items where id = p_work_item_id for update;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  if v_item.lease_token is not null then
    select * into v_focus from foci where id = v_item.focus_id;
    if v_focus.lease_expires_at > v_now then
      return jsonb_build_object('kind', 'busy', 'lease_owner', v_focus.lease_owner);
    end if;
    v_item := _lease_lost(v_item, v_focus);
  end if;
  if v_item.resolved_at is not null then
    return jsonb_build_object('kind', 'finished', 'state', v_item.state);
  end if;
  if v_item.is_pausing then
    update work_items set state = 'paused', is_pausing = false, slot_faculty = null where id = v_item.id;
    perform _slot_ring(v_item.slot_faculty);
    select * into v_item from work_items where id = v_item.id;
    return jsonb_build_object('kind', 'not_due', 'state', v_item.state, 'run_at', v_item.run_at);
  end if;
  if v_item.state = 'waiting' then
    v_waits_until := _waits_settle(v_item);
    update work_items
       set state = case when v_waits_until is null then 'queued' else state end,
           state_reason = case when v_waits_until is not null then state_reason end,
           run_at = coalesce(v_waits_until, v_now)
     where id = v_item.id
    returning * into v_item;
  end if;
  if v_item.state not in ('queued', 'claimed', 'running') or v_item.run_at > v_now then
    return jsonb_build_object('kind', 'not_due', 'state', v_item.state, 'run_at', v_item.run_at);
  end if;

  if not _slot_take(v_item, coalesce((select faculty from foci where id = v_item.focus_id), (_faculty_for(v_item.faculty, v_item.work_type)).name)) then
    return jsonb_build_object('kind', 'not_due', 'state', 'queued', 'run_at', v_item.run_at);
  end if;
  if v_item.focus_id is null then
    v_focus := _focus_create(v_item);
    if v_focus.id is null then
      return jsonb_build_object('kind', 'unroutable', 'work_type', v_item.work_type);
    end if;
  end if;
  update foci
     set lease_owner = p_worker_id,
         lease_generation = lease_generation + 1,
         lease_seconds = p_lease_seconds,
         leased_at = v_now,
         lease_expires_at = v_now + make_interval(secs => p_lease_seconds)
   where id = coalesce(v_focus.id, v_item.focus_id)
  returning * into v_focus;
  update work_items
     set focus_id = v_focus.id,
         lease_token = v_lease,
         attempts = v_focus.attempt,
         state = case state when 'queued' then 'claimed' else state end,
         state_reason = null,
         started_at = coalesce(started_at, v_now)
   where id = v_item.id;
  return jsonb_build_object(
    'kind', 'claimed',
    'work_item_id', v_item.id,
    'focus_id', v_focus.id,
    'lease', v_lease,
    'lease_generation', v_focus.lease_generation,
    'attempt', v_focus.attempt,
    'iteration', v_focus.iteration + 1,
    'faculty', (select config from faculties where content_hash = v_focus.faculty_hash));
end
$$;

comment on function focus_claim(uuid, text, integer) is
  'Takes the right to drive a work item for p_lease_seconds, renewed by lease_renew(); starts a focus where none is under way, and takes over one whose lease has expired. Returns {kind: claimed, focus_id, lease, iteration, faculty, ...}, lease being the fencing token that every writing function wants, or why not: {kind: busy | finished | not_due | unroutable}. Raises WL001, WL002.';

create or replace function _focus_create(p_item work_items)
  returns foci
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_faculty faculties := _faculty_for(p_item.faculty, p_item.work_type);
  v_attempt integer := p_item.attempts + 1;
  v_label text := p_item.id || case when p_item.attempts > 0 then '/' || p_item.attempts + 1 else '' end;
  v_focus foci;
begin
  if v_faculty.name is null then
    update work_items
       set state_reason = case
             when faculty is not null then format('there is no faculty "%s"', faculty)
             else format('no faculty accepts work type "%s"', work_type)
           end
     where id = p_item.id;
    return null;
  end if;
  if v_attempt > 1 and v_faculty.config -> 'recover' ->> 'mode' = 'fresh' then
    update work_items set ledger_epoch = ledger_count where id = p_item.id;
  end if;
  insert into budgets (work_item_id, resource, amount)
  select p_item.id, b.key, b.value::numeric from jsonb_each_text(v_faculty.config -> 'budget') b where b.value is not null
  on conflict do nothing;
  insert into sessions (label, task_description, parent_session_label, parent_turn_id)
  values (v_label, _one_line(p_item.description, 240), _session_of(p_item.fork_turn_id), p_item.fork_turn_id);
  if v_attempt = 1 and p_item.fork_turn_id is not null then
    perform _session_advance(v_label, p_item.fork_turn_id);
  end if;
  insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens)
  values (p_item.id, v_attempt, v_faculty.name, v_faculty.content_hash, v_label,
          (v_faculty.config -> 'engage' ->> 'max_output_tokens')::integer)
  returning * into v_focus;
  return v_focus;
end
$$;

comment on function _focus_create(work_items) is 'Starts the next attempt on a work item with the faculty it is routed to, in a session of its own, and with recover.mode = fresh without the ledger of those before; null, with the reason on the item, where no faculty is.';

create or replace function _lease_lost(p_item work_items, p_focus foci)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  perform _budget_close(p_item.id, p_focus);
  update foci
     set lease_owner = null, lease_expires_at = null, crash_count = crash_count + 1
   where id = p_focus.id
  returning crash_count into p_focus.crash_count;
  update work_items set lease_token = null where id = p_item.id returning * into v_item;
  -- The count starts again with each finished iteration: an item dies of crashes only when it makes no progress.
  if p_focus.crash_count >= _max_attempts(v_item, p_focus) then
    v_item := _focus_end(v_item, 'crashed', 'dead',
      format('its worker died %s times in iteration %s', p_focus.crash_count, p_focus.iteration + 1), null);
  end if;
  return v_item;
end
$$;

comment on function _lease_lost(work_items, foci) is
  'Takes an expired lease away and counts the crash; a work item whose iteration keeps killing its worker dies. The caller holds the item''s row lock.';

create or replace function _max_attempts(p_item work_items, p_focus foci)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(p_item.max_attempts, (config -> 'recover' ->> 'max_attempts')::integer)
    from faculties
   where content_hash = p_focus.faculty_hash;
$$;

comment on function _max_attempts(work_items, foci) is 'How often a work item is tried: its own max_attempts, else its faculty''s.';
