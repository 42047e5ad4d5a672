-- Retention: what the ledger erases automatically, in small transactions that any worker or a cron job continues.

create or replace function work_retention_run(p_is_dry_run boolean default false, p_limit integer default null)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root uuid;
  v_item uuid;
  v_did jsonb;
begin
  if p_limit < 1 then
    perform _raise_invalid(format('p_limit must be 1 or more, not %s', p_limit));
  elsif p_is_dry_run then
    return jsonb_build_object('is_done', true, 'due', (
      select coalesce(jsonb_agg(to_jsonb(d)), '[]') from _retention_due(1000) d), 'transcripts', (select count(*) from _transcripts_due()));
  end if;
  if not _lock_try('retention') then
    return '{"is_done": true, "is_busy": true}';
  end if;
  insert into erasing values (pg_current_xact_id());
  select work_item_id into v_item from erasures where erased_at is null order by began_at, work_item_id limit 1;
  if found then
    v_did := jsonb_build_object('is_done', false, 'rows', _retention_batch(v_item, p_limit));
  else
    select d.root_id into v_root from _retention_due(1) d;
    v_did := case when v_root is null then _retention_tidy(coalesce(p_limit, 200)) else _retention_take(v_root) end;
  end if;
  delete from erasing where xid = pg_current_xact_id();
  return v_did;
end
$$;

comment on function work_retention_run(boolean, integer) is
  'Does the next small part of what retention_policy_save() and work_erase() left to do, in one short transaction: call it until is_done. A part is a tree that is taken (its tombstone written), some 40 ms of erasing (at most p_limit rows), transcripts that were never read into work and are old enough, quotes in the digests of other work that is over by now, or artifacts that nothing uses. Trees go as a whole, when all of it is over and old enough and no fork shares its turns; a journal session that nobody ends counts as completed when its program paused it last or its heartbeat stopped, if nothing was recorded since. Returns {is_done, rows}, {is_done, root_id, items} or {is_done, root_id, error}. p_is_dry_run: {due: [{root_id, items, resolved_at, keep, policy_id}], transcripts}, at most 1,000 trees, the number of such transcripts, and nothing is erased. One at a time; another returns at once with is_busy. Workers call it when they start and once an hour. Raises WL002.';

create or replace function _retention_policy(p_state text, p_faculty text)
  returns setof retention_policies
  language sql
  stable
  rows 1
begin atomic
  select p.*
    from retention_policies p
   where (p.state is null or p.state = p_state) and (p.faculty is null or p.faculty = p_faculty)
   order by p.faculty is not null desc, p.state is not null desc
   limit 1;
end;

comment on function _retention_policy(text, text) is 'Of the policies that fit a root in this state, of this faculty, the one that counts.';

create or replace function _asked_ref(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_item.faculty is not null
              then coalesce(nullif(_faculty_ref(_faculty_for(p_item.faculty, p_item.work_type, _project_now(p_item.project))), ''), p_item.faculty) end;
$$;

comment on function _asked_ref(work_items) is 'The reference of the faculty to which an item was submitted, whether there is one of it or not; null: to none.';

create or replace function _retention_due(p_limit integer)
  returns table (root_id uuid, items bigint, resolved_at timestamptz, keep text, policy_id integer)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Oldest first. What is over is read by index, in a query of its own: trees are looked at only until p_limit are found.
  -- What could not be exported is tried again by a worker's next round, which begins an hour after the last one began, so less than an hour after the failure.
  select d.*
    from ((select i.id, r.items, r.resolved_at, r.keep, r.policy_id
             from work_items i
            cross join lateral _retention_of(i, i.state, i.resolved_at) r
            where i.parent_id is null and i.resolved_at < (select _now() - min(p.age) from retention_policies p where p.keep <> 'all')
              and i.erased_at is null
              and not exists (select from retention_runs t where t.root_id = i.id and t.tried_at > _now() - interval '50 minutes')
            order by i.resolved_at
            limit p_limit)
          union all
          (select i.id, r.items, r.resolved_at, r.keep, r.policy_id
             from work_items i
            cross join lateral (select _silent_since(i) as since) s
            cross join lateral _retention_of(i, 'completed', s.since) r
            where i.parent_id is null and i.resolved_at is null and i.work_type = 'journal'
              and (i.state = 'paused' or i.state = 'created' and i.work_type = 'journal') and exists (select from retention_policies)
              and not exists (select from retention_runs t where t.root_id = i.id and t.tried_at > _now() - interval '50 minutes')
            order by s.since
            limit p_limit)) d
   order by d.resolved_at
   limit p_limit;
$$;

comment on function _retention_due(integer) is 'Trees that a policy erases now, oldest first; those whose export failed once an hour. A session that nobody ends is over since its program was silent, see _silent_since().';

create or replace function _retention_of(p_root work_items, p_state text, p_since timestamptz)
  returns table (items bigint, resolved_at timestamptz, keep text, policy_id integer)
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c.items, c.resolved_at, p.keep, p.id
    from (select) one
    -- Not _faculty_of(): a policy covers work submitted to its faculty even if that faculty no longer exists.
    left join lateral (
      select concat_ws('@', f.faculty, c.project) as ref -- as _faculty_ref()
        from foci f
        join faculties c on c.content_hash = f.faculty_hash
       where f.work_item_id = p_root.id
       order by f.attempt desc
       limit 1) f on true
    cross join lateral _retention_policy(p_state, coalesce(f.ref, _asked_ref(p_root))) p
    cross join lateral (
      select count(*) as items, max(coalesce(i.resolved_at, p_since)) as resolved_at,
             bool_and(i.resolved_at is not null or i.id = p_root.id) as is_over, array_agg(i.id) as ids
        from work_items i where i.root_id = p_root.id) c
   where p.keep <> 'all' and p_since < _now() - p.age and c.is_over and c.resolved_at < _now() - p.age
     and _erase_forks(c.ids) = '{}';
$$;

comment on function _retention_of(work_items, text, timestamptz) is 'The tree of a root as _retention_due() lists it, if a policy erases it now; else no row. p_state, p_since: how and when the root ended, or counts as ended.';

create or replace function _silent_since(p_item work_items)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select greatest(
           coalesce(p_item.heartbeat_ends_at, p_item.started_at, p_item.created_at),
           (select max(l.created_at) from work_ledger l where l.work_item_id = p_item.id),
           (select max(j.created_at) from journal_entries j where j.work_item_id = p_item.id),
           (select t.completed_at from turns t where t.work_item_id = p_item.id order by t.id desc limit 1),
           (select max(t.updated_at) from transcripts t where t.id in (select _transcripts_of(p_item.id))))
   where p_item.work_type = 'journal' and p_item.state in ('created', 'paused') and _journal_state(p_item) <> 'active';
$$;

comment on function _silent_since(work_items) is
  'Since when nothing was heard of a session that is not over: its program paused it (as a client does that ends), or its heartbeat stopped, and nothing was recorded since. Null: it is at work, or over, or no session.';

create or replace function _retention_take(p_root_id uuid)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_policy retention_policies;
  v_ids uuid[];
  v_session work_items;
  v_error text;
begin
  select p.* into v_policy from _retention_due(1) d join retention_policies p on p.id = d.policy_id where d.root_id = p_root_id;
  -- Before anything is locked, since it may take any amount of time.
  if v_policy.export_function is not null then
    begin
      execute format('select %s($1)', v_policy.export_function) using p_root_id; -- dynamic: a user's function
    exception when others then
      v_error := _one_line(_redacted(sqlerrm), 500); -- it may quote what it was to export
      insert into retention_runs (root_id, error, tried_at) values (p_root_id, v_error, _now())
      on conflict (root_id) do update set error = excluded.error, tried_at = excluded.tried_at;
      return jsonb_build_object('is_done', false, 'root_id', p_root_id, 'error', v_error);
    end;
  end if;
  v_ids := _erase_lock(p_root_id, false);
  -- It may have been forked or extended in the meantime: the next run looks again.
  if _erase_forks(v_ids) = '{}' and not exists (
       select from work_items w
        where w.id = any (v_ids)
          and coalesce(coalesce(w.resolved_at, case when w.id = p_root_id then _silent_since(w) end) >= _now() - v_policy.age, true)) then
    select * into v_session from work_items w where w.id = p_root_id and w.resolved_at is null;
    if v_session.id is not null then
      v_session.resolved_at := _silent_since(v_session);
      v_session.heartbeat_ends_at := null;
      v_session.outcome_data := '{"summary": "The session ended without a word."}';
      v_session.state := 'completed';
      v_session := _work_move(v_session, '_retention_take');
    end if;
    perform _erase_begin(v_ids, v_policy.keep, format('retention: %s, %s, after %s',
      coalesce(v_policy.state, 'any state'), coalesce(v_policy.faculty, 'any faculty'), v_policy.age));
    delete from retention_runs where root_id = p_root_id;
    perform _enqueue_all(_to_wake(v_session)) where v_session.id is not null;
  end if;
  return jsonb_build_object('is_done', false, 'root_id', p_root_id, 'items', cardinality(v_ids));
end
$$;

comment on function _retention_take(uuid) is 'Exports a tree that is due and writes its tombstone; the words go in the batches that follow.';

create or replace function _retention_batch(p_work_item_id uuid, p_limit integer)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_keep text := (select keep from erasures where work_item_id = p_work_item_id);
  v_until timestamptz := clock_timestamp() + interval '40 milliseconds';
  v_step integer := least(coalesce(p_limit, 25), 25);
  v_rows bigint;
  v_count bigint := 0;
begin
  perform from fences where work_item_id = p_work_item_id for no key update;
  loop
    v_rows := (select coalesce(sum(r.row_count), 0) from _erase_rows(array[p_work_item_id], v_keep, v_step) r);
    v_count := v_count + v_rows;
    if v_rows < v_step then
      perform _erase_end(p_work_item_id, v_count), _quotes_erase(p_work_item_id);
      return v_count;
    end if;
    exit when v_count >= p_limit or clock_timestamp() > v_until;
  end loop;
  update erasures set row_count = row_count + v_count where work_item_id = p_work_item_id;
  return v_count;
end
$$;

comment on function _retention_batch(uuid, integer) is 'Erases for some 40 ms, or p_limit rows, of an item, and ends its erasure with the last one; returns how many rows.';
