-- A worker claims an item: the current attempt continues, or a new one begins.

create or replace function focus_claim(
    p_work_item_id uuid,
    p_worker_id text,
    p_lease_seconds integer default 30)
  returns json
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select answer from _focus_claim(p_work_item_id, p_worker_id, p_lease_seconds);
$$;

comment on function focus_claim(uuid, text, integer) is
  'Claims the right to drive a work item for p_lease_seconds, to be renewed by lease_renew(). Starts an attempt if none is running; takes over one whose lease has expired. Returns {kind: claimed, work_item_id, focus_id, lease, lease_generation, attempt, iteration, faculty, directory}. lease (a uuid) is the fencing token that every writing function requires. faculty is the configuration. directory is the workspace_dir of item or faculty: {path, named_by (a role), is_administered (that role is the owner or an administrator)}; the worker uses it only if its own settings allow it, else it calls iteration_fail() with class workspace. If the item cannot be claimed, returns the reason: {kind: busy | finished | not_due | unroutable, ...}. busy: another worker has it. finished: it is final. not_due: it has to wait, is paused or finds no free slot. unroutable: no faculty accepts it. An item that this worker may not drive, because it serves another project, the item''s faculty lists other hosts or its files are on another Docker daemon (see lease_renew()), is also not_due, with reason, and host: the host whose workers its job was given to; null: no living worker may drive it, and it waits for one. Raises WL001, WL002.';

create or replace function _focus_claim(p_work_item_id uuid, p_worker_id text, p_lease_seconds integer, out answer json, out has_told boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_focus foci;
  v_slot_faculty text;
  v_lost record;
  v_due jsonb := '{}';
  v_claim record;
begin
  if coalesce(p_worker_id, '') = '' or coalesce(p_lease_seconds, 0) < 1 then
    perform _raise_invalid('a claim needs a worker id and a lease of at least one second');
  end if;
  v_item := _item_locked(p_work_item_id);
  if _is_driven(v_item.id) then
    select * into v_focus from foci where id = v_item.focus_id;
    if v_focus.lease_expires_at > _now() then
      answer := json_build_object('kind', 'busy', 'lease_owner', v_focus.lease_owner);
      return;
    end if;
    v_slot_faculty := v_item.slot_faculty;
    select * into v_lost from _lease_lost(v_item, v_focus);
    v_item := v_lost.item;
    v_due := v_lost.due;
  end if;
  if v_item.resolved_at is not null then
    perform _budget_charge(v_due);
    -- The item became dead in this call, or ended before it could take the slot that it was enqueued for: that slot goes to the next item.
    perform _enqueue_all(case when v_due <> '{}' then _to_wake(v_item) else '{}' end, array[coalesce(v_slot_faculty, _slot_wanted(v_item))]);
    answer := json_build_object('kind', 'finished', 'state', v_item.state);
    return;
  end if;
  select * into v_claim from _claim(v_item, p_worker_id, p_lease_seconds);
  perform _budget_charge(v_due);
  perform _enqueue_all(array[v_claim.next_id], array[v_claim.free_slot]);
  answer := v_claim.answer;
  has_told := v_due <> '{}' or v_claim.next_id is not null or v_claim.free_slot is not null;
end
$$;

comment on function _focus_claim(uuid, text, integer) is
  'What focus_claim() returns. has_told: budgets were charged or other items enqueued, which must be the last thing a transaction does.';

create or replace function _claim(p_item work_items, p_worker_id text, p_lease_seconds integer, out answer jsonb, out next_id uuid, out free_slot text)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_focus foci;
  v_faculty faculties;
  v_slot record;
  v_away record;
  v_grant record;
  v_waits_until timestamptz;
begin
  if p_item.state = 'paused' then
    free_slot := _slot_wanted(p_item); -- it may have been enqueued for a slot before it was paused
  end if;
  if p_item.state = 'waiting' then
    v_waits_until := _waits_settle(p_item);
    p_item.run_at := coalesce(v_waits_until, v_now);
    if v_waits_until is null then
      p_item.state := 'queued';
      p_item.state_reason := null;
    end if;
  end if;
  answer := jsonb_build_object('kind', 'not_due', 'state', p_item.state, 'run_at', p_item.run_at);
  if p_item.state in ('queued', 'claimed', 'running') and p_item.run_at <= v_now then
    p_item.is_stranded := false;
    select * into v_focus from foci where id = p_item.focus_id;
    v_faculty := _faculty_now(p_item);
    select * into v_away from _away(p_item, p_worker_id);
    if v_away.answer is null then
      select * into v_slot from _slot_take(p_item, v_faculty);
      next_id := v_slot.next_id;
    end if;
    if v_faculty.name is null and v_focus.id is null then
      p_item.state_reason := _why_unroutable(p_item.faculty, p_item.work_type);
      answer := jsonb_build_object('kind', 'unroutable', 'work_type', p_item.work_type);
    elsif v_away.answer is not null then
      -- The slot that it had, or one that it was enqueued for.
      free_slot := case when (v_away.item).is_stranded then coalesce(p_item.slot_faculty, _slot_wanted(p_item)) end;
      p_item := v_away.item;
      answer := v_away.answer;
      next_id := case when not p_item.is_stranded then p_item.id end;
    elsif v_slot.lack is not null then
      p_item.state := 'queued';
      p_item.state_reason := v_slot.lack;
      answer := jsonb_build_object('kind', 'not_due', 'state', 'queued', 'run_at', p_item.run_at);
    else
      if v_focus.id is null then
        v_focus := _focus_create(p_item);
      end if;
      p_item.slot_faculty := v_slot.slot_faculty;
      select * into v_grant from _lease_grant(p_item, v_focus, p_worker_id, p_lease_seconds);
      p_item := v_grant.item;
      answer := v_grant.answer;
    end if;
  end if;
  perform _work_move(p_item, '_claim');
end
$$;

comment on function _claim(work_items, text, integer) is
  'What focus_claim() returns for an item that no worker drives; the caller holds its fence. The caller then enqueues next_id and, if free_slot is set, the next item for the free slot of that faculty.';

create or replace function _away(p_item work_items, p_worker_id text, out item work_items, out answer jsonb)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hosts text[] := _item_hosts(p_item);
  v_asks workers := (select k from workers k where k.id = p_worker_id);
  v_there workers;
  v_reason text;
begin
  item := p_item;
  if _may_drive(p_item, v_hosts, v_asks) then
    return;
  end if;
  v_reason := concat_ws(' ', 'waits for a worker',
    case when not _serves(v_asks, p_item.project) then format('for project "%s"', _project_now(p_item.project)) end,
    'on host ' || (select string_agg(format('"%s"', h.name), ' or ' order by h.n) from unnest(v_hosts) with ordinality as h(name, n)),
    case when p_item.workspace_daemon is not null then format('at the Docker daemon of host "%s", where its files are', p_item.workspace_host) end);
  v_there := _worker_for(p_item, v_hosts);
  if v_there.id is null then
    item := _set_aside(p_item, 'waiting', v_reason, 'infinity');
    item.is_stranded := true;
  elsif _job_task_for(p_item) = any (_worker_tasks(v_asks)) then
    item.run_at := _now() + interval '1 second'; -- not every worker that looks for this job may drive it: without a pause it would be claimed in a loop
  end if;
  answer := jsonb_build_object('kind', 'not_due', 'state', item.state, 'run_at', item.run_at, 'reason', v_reason, 'host', v_there.host);
end
$$;

comment on function _away(work_items, text) is
  'The answer of focus_claim() to a worker that may not drive an item, and the item''s row, which the caller stores. If a living worker may (host), the caller enqueues the item for that one and others like it. Otherwise the item is stranded: it waits without a job and without a slot, until the sweep finds a worker that may. answer null: the worker may drive it.';

create or replace function _lease_grant(p_item work_items, p_focus foci, p_worker_id text, p_lease_seconds integer, out item work_items, out answer jsonb)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_lease uuid := gen_random_uuid();
begin
  update foci
     set lease_owner = p_worker_id,
         lease_generation = lease_generation + 1,
         lease_seconds = p_lease_seconds,
         leased_at = v_now,
         lease_expires_at = v_now + make_interval(secs => p_lease_seconds)
   where id = p_focus.id
  returning * into p_focus;
  update fences set focus_id = p_focus.id, attempt = p_focus.attempt, lease_hash = sha256(uuid_send(v_lease)) where work_item_id = p_item.id;
  item := p_item;
  item.focus_id := p_focus.id;
  item.attempts := p_focus.attempt;
  item.state := case p_item.state when 'queued' then 'claimed' else p_item.state end;
  item.state_reason := null;
  item.started_at := coalesce(p_item.started_at, v_now);
  answer := jsonb_build_object(
    'kind', 'claimed',
    'work_item_id', p_item.id,
    'focus_id', p_focus.id,
    'lease', v_lease,
    'lease_generation', p_focus.lease_generation,
    'attempt', p_focus.attempt,
    'iteration', p_focus.iteration + 1,
    'faculty', (select _at_home(config, p_item.workspace_dir) from faculties where content_hash = p_focus.faculty_hash),
    'directory', _directory_named(p_item, p_focus.faculty_hash));
end
$$;

comment on function _lease_grant(work_items, foci, text, integer) is 'Gives a worker the lease on an item, whose fence the caller holds. item: its row as it is then, for the caller to store; answer: for focus_claim().';

create or replace function _focus_create(p_item work_items)
  returns foci
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_faculty faculties := _faculty_for(p_item.faculty, p_item.work_type, _project_now(p_item.project));
  v_attempt integer := p_item.attempts + 1;
  v_same text := case when v_attempt = 1 then _session_gone_on(p_item) end;
  v_label text := coalesce(v_same, p_item.id || case when p_item.attempts > 0 then '/' || p_item.attempts + 1 else '' end);
  v_focus foci;
begin
  if v_attempt > 1 and v_faculty.config -> 'recover' ->> 'mode' = 'fresh' then
    update work_items w set ledger_epoch = ledger_count(w) where w.id = p_item.id;
  end if;
  insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens)
  values (p_item.id, v_attempt, v_faculty.name, v_faculty.content_hash, v_label,
          (v_faculty.config -> 'engage' ->> 'max_output_tokens')::integer)
  returning * into v_focus;
  insert into sessions (label, persona_id, task_description, is_subagent, spawn_tool_call_id, parent_turn_id, parent_session_label)
  select v_label, coalesce(v_faculty.config ->> 'persona', v_faculty.name), _one_line(p_item.description, 240),
         p_item.parent_id is not null, p_item.spawn_tool_call_id, f.turn_id,
         -- If no call submitted the item: the session of the parent's current or last attempt.
         coalesce(_session_of(f.turn_id), (select session_label from foci where work_item_id = p_item.parent_id order by attempt desc limit 1))
    from (select coalesce(p_item.fork_turn_id, (select turn_id from tool_calls where id = p_item.spawn_tool_call_id))) as f(turn_id)
   where v_same is null;
  if v_attempt = 1 and p_item.fork_turn_id is distinct from (select head_turn_id from sessions where label = v_label) then
    perform _session_advance(v_label, p_item.fork_turn_id);
  end if;
  perform _budgets_by_default(p_item.id, v_faculty.config);
  return v_focus;
end
$$;

comment on function _focus_create(work_items) is 'Starts the next attempt at a work item with the faculty to which it is routed, in a new session, or in that of the item it continues; with recover.mode = "fresh", without the ledger of earlier attempts.';

create or replace function _session_gone_on(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.session_label
    from foci f join sessions s on s.label = f.session_label
   where f.work_item_id = p_item.continues_id and s.head_turn_id is not null
   order by f.attempt desc
   limit 1;
$$;

comment on function _session_gone_on(work_items) is 'The session in which an item continues another one: that of the last attempt that had turns. Null: it continues none, or that one had none.';
