-- Retention: what the ledger erases by itself, in small transactions that any worker, or a cron job, continues.

create or replace function retention_policy_save(
    p_age interval,
    p_state text default null,
    p_faculty text default null,
    p_keep text default 'nothing',
    p_export regprocedure default null)
  returns retention_policies
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_policy retention_policies;
  v_faculty text;
begin
  perform _check_word('a final state', coalesce(p_state, 'completed'), '{completed,failed,dead,cancelled}');
  perform _check_word('what is kept', p_keep, '{nothing,ledger,all}'), _check_key('a faculty', p_faculty);
  v_faculty := _retention_faculty(p_faculty);
  if p_age is null then
    delete from retention_policies where state is not distinct from p_state and faculty is not distinct from v_faculty returning * into v_policy;
    return v_policy;
  end if;
  perform _check_span('p_age', p_age);
  if p_export is not null and (select oidvectortypes(p.proargtypes) from pg_proc p where p.oid = p_export) is distinct from 'uuid' then
    perform _raise_invalid('an export function takes one uuid: the root of the tree that is about to go');
  end if;
  if not (select pg_has_role(session_user, c.relowner, 'usage') or p.proowner = c.relowner
            from pg_class c, pg_proc p where c.oid = 'retention_policies'::regclass and p.oid = p_export) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('%s does not belong to the ledger''s owner, as whom it would run', p_export),
      hint = 'The owner names functions of others.';
  end if;
  insert into retention_policies (state, faculty, age, keep, export_function)
  values (
    p_state, v_faculty, p_age, p_keep,
    (select format('%I.%I', n.nspname, p.proname) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.oid = p_export))
  on conflict (state, faculty) do update
     set age = excluded.age, keep = excluded.keep, export_function = excluded.export_function, updated_at = _now()
  returning * into v_policy;
  return v_policy;
end
$$;

comment on function retention_policy_save(interval, text, text, text, regprocedure) is
  'Says what is erased by itself: select retention_policy_save(''90 days''), or select retention_policy_save(''30 days'', ''failed'', ''engineer'', ''ledger''). p_age: since the last item of a tree ended; null: removes the policy. p_state: completed, failed, dead or cancelled, of the root; null: any. p_faculty: that worked on the root last (if none did, that it was submitted to); null: any. A name is that of the ledger''s faculty or, if only one project has one of it and the ledger none, of that project''s; name@project is a project''s. A policy is for that one faculty, never for another of its name. Of several policies that fit, the one that names the faculty counts, then the one that names the state. p_keep: nothing; ledger (task, outcome and ledger entries stay, the conversation goes); all (an exception). p_export: a function f(uuid), called with the root before its tree goes; an error keeps the tree, and it is tried again after an hour. The policy for any state and any faculty, if it keeps nothing, is also that of versions of notes which no work item wrote: their words go so long after another version followed. Without a policy nothing is erased. Returns the retention_policies row. Raises WL002 (several projects have one of that name), 42501 (a function that does not belong to the ledger''s owner, by somebody else).';

create or replace function _retention_faculty(p_faculty text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_at integer := strpos(p_faculty, '@');
  v_refs text[];
begin
  if v_at > 0 then
    return concat_ws('@', left(p_faculty, v_at - 1), _project_check(substr(p_faculty, v_at + 1)));
  end if;
  v_refs := array(select _faculty_ref(f) from faculties f where f.is_current and f.name = p_faculty order by f.project nulls first);
  -- What a policy is listed by names it.
  if cardinality(v_refs) = 0 or v_refs[1] = p_faculty or exists (select from retention_policies p where p.faculty = p_faculty) then
    return p_faculty;
  elsif cardinality(v_refs) > 1 then
    perform _raise_invalid(format('several projects have a faculty "%s"', p_faculty), format('Name one: %s.', array_to_string(v_refs[:9], ', ')));
  end if;
  return v_refs[1];
end
$$;

comment on function _retention_faculty(text) is 'The reference of the faculty that is meant, see retention_policy_save(); null for null. Raises WL002.';

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
      select coalesce(jsonb_agg(to_jsonb(d)), '[]') from _retention_due(1000) d));
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
  'Does the next small part of what retention_policy_save() and work_erase() left to do, in one short transaction: call it until is_done. A part is a tree that is taken (its tombstone written), some 40 ms of erasing (at most p_limit rows), quotes in the digests of other work that is over by now, or artifacts that nothing uses. Trees go as a whole, when all of it is over and old enough and no fork shares its turns; a journal session that nobody ends counts as completed when its program paused it last or its heartbeat stopped, if nothing was recorded since. Returns {is_done, rows}, {is_done, root_id, items} or {is_done, root_id, error}. p_is_dry_run: {due: [{root_id, items, resolved_at, keep, policy_id}]}, at most 1,000 trees, and nothing is erased. One at a time; another returns at once with is_busy. Workers call it when they start and once an hour. Raises WL002.';

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
  -- From the oldest on, by their index: whether a tree is forked is asked only until p_limit are found.
  select w.id, c.items, c.resolved_at, p.keep, p.id
    from (select i.id, i.state, i.faculty, i.resolved_at from work_items i
           where i.parent_id is null and i.resolved_at is not null and i.erased_at is null
          union all
          select i.id, 'completed', i.faculty, s.since from work_items i cross join lateral (select _silent_since(i) as since) s
           where i.parent_id is null and i.resolved_at is null and i.work_type = 'journal'
             and (i.state = 'paused' or i.state = 'created' and i.work_type = 'journal')) w
    -- Not _faculty_of(): a policy holds for what was submitted to its faculty, though there is none of that name any more.
    left join lateral (
      select concat_ws('@', f.faculty, c.project) as ref -- as _faculty_ref()
        from foci f
        join faculties c on c.content_hash = f.faculty_hash
       where f.work_item_id = w.id
       order by f.attempt desc
       limit 1) f on true
    cross join lateral (
      select * from retention_policies p
       where (p.state is null or p.state = w.state)
         and (p.faculty is null or p.faculty = coalesce(f.ref, (select _asked_ref(i) from work_items i where i.id = w.id)))
       order by p.faculty is not null desc, p.state is not null desc
       limit 1) p
    cross join lateral (
      select count(*) as items, max(coalesce(i.resolved_at, w.resolved_at)) as resolved_at,
             bool_and(i.resolved_at is not null or i.id = w.id) as is_over, array_agg(i.id) as ids
        from work_items i where i.root_id = w.id) c
   where exists (select from retention_policies) and p.keep <> 'all' and w.resolved_at < _now() - p.age and c.is_over and c.resolved_at < _now() - p.age
     and not exists (select from retention_runs r where r.root_id = w.id and r.tried_at > _now() - interval '1 hour')
     and _erase_forks(c.ids) = '{}'
   order by w.resolved_at
   limit p_limit;
$$;

comment on function _retention_due(integer) is 'Trees that a policy erases now, oldest first. A session that nobody ends is over since its program was silent, see _silent_since().';

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
           (select max(t.updated_at) from transcripts t where t.work_item_id = p_item.id))
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
begin
  select p.* into v_policy from _retention_due(1) d join retention_policies p on p.id = d.policy_id where d.root_id = p_root_id;
  -- Before anything is locked: it may take as long as it likes.
  if v_policy.export_function is not null then
    begin
      execute format('select %s($1)', v_policy.export_function) using p_root_id; -- dynamic: a user's function
    exception when others then
      insert into retention_runs (root_id, error, tried_at) values (p_root_id, _one_line(sqlerrm, 500), _now())
      on conflict (root_id) do update set error = excluded.error, tried_at = excluded.tried_at;
      return jsonb_build_object('is_done', false, 'root_id', p_root_id, 'error', _one_line(sqlerrm, 500));
    end;
  end if;
  v_ids := _erase_lock(p_root_id, false);
  -- Somebody may have forked it, or added to it, meanwhile: the next run looks again.
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
    v_rows := _erase_rows(p_work_item_id, v_keep, v_step);
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

create or replace function _retention_tidy(p_limit integer)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count bigint;
begin
  delete from linked_digests where heard_at < _now() - interval '1 hour';
  v_count := _memory_forget();
  if v_count > 0 then
    return jsonb_build_object('is_done', false, 'rows', v_count);
  end if;
  select coalesce(sum(_quotes_erase(e.work_item_id)), 0)
    into v_count
    from (select e.work_item_id
            from erasures e
           where e.is_quoted and e.erased_at is not null
             and (not exists (select from _quotes(array[e.work_item_id])) or exists (
               select from _quotes(array[e.work_item_id]) q where _is_told_over(q.work_item_id)))
           order by e.began_at
           limit p_limit) e;
  if v_count > 0 then
    return jsonb_build_object('is_done', false, 'rows', v_count);
  end if;
  v_count := _artifacts_collect(array(
    select a.content_hash
      from artifacts a
     where a.created_at < _now() - interval '1 hour' and not exists (select from artifact_uses u where u.content_hash = a.content_hash)
       and not exists (select from tool_calls k where k.artifact_hash = a.content_hash)
     limit p_limit));
  with gone as (
    delete from turn_streams s using turns t where t.id = s.turn_id and t.completed_at < _now() - interval '1 hour' returning 1
  )
  select v_count + count(*) into v_count from gone;
  return jsonb_build_object('is_done', v_count = 0, 'rows', v_count);
end
$$;

comment on function _retention_tidy(integer) is 'Collects what belongs to nothing: quotes of erased work in digests of work that is over by now, artifacts that nothing uses, streams of turns that are stored.';

create or replace function _memory_forget()
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_age interval := (select p.age from retention_policies p where p.state is null and p.faculty is null and p.keep = 'nothing');
  v_count bigint;
  v_more bigint;
begin
  update memory_versions v
     set erased_hash = _memory_words(v), content = '[erased]', why = null, salt = null
    from memory_versions n
    join memory_files f on f.id = n.file_id
   where n.file_id = v.file_id and n.version = v.version + 1 and v.content <> '[erased]' and _memory_is_past(v)
     and case when v.work_item_id is null then n.created_at < _now() - v_age and f.pinned_version is distinct from v.version
              else exists (select from erasures e where e.work_item_id = v.work_item_id and e.keep = 'nothing' and e.erased_at is not null) end;
  get diagnostics v_count = row_count;
  delete from memory_views where work_item_id is null and viewed_at < _now() - interval '30 days';
  get diagnostics v_more = row_count;
  return v_count + v_more;
end
$$;

comment on function _memory_forget() is
  'Erases the words of versions that erased work wrote and that were the newest of their file until now; of versions that no work wrote, and that have been history for longer than the policy for work of any state and faculty says, but for those that are pinned; and forgets what readers without an item were shown 30 days ago. Returns how many rows.';

create or replace view v_retention_policies with (security_invoker = true) as
  select p.*
    from retention_policies p
   order by p.faculty, p.state;

comment on view v_retention_policies is 'What is erased by itself, see retention_policy_save().';
