-- Removes what belongs to nothing, once no tree is left to erase: see work_retention_run().

create or replace function _retention_tidy(p_limit integer)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hour_ago timestamptz := _now() - interval '1 hour'; -- a constant to the planner
  v_items bigint;
  v_count bigint;
begin
  delete from linked_digests where heard_at < _now() - interval '1 hour';
  delete from daily_spending where day < _today() - 400;
  v_count := _transcripts_forget(p_limit);
  if v_count > 0 then
    return jsonb_build_object('is_done', false, 'rows', v_count);
  end if;
  v_count := _memory_forget();
  if v_count > 0 then
    return jsonb_build_object('is_done', false, 'rows', v_count);
  end if;
  select count(*), coalesce(sum(_quotes_erase(e.work_item_id)), 0)
    into v_items, v_count
    from ((select e.work_item_id
             from erasures e
            where e.is_quoted and e.erased_at <= v_hour_ago and (not exists (select from _quotes(array[e.work_item_id])) or _has_quotes_to_go(e.work_item_id))
            order by e.began_at
            limit p_limit)
          union all
          -- Of those just erased only a few, since nearly all of them are quoted nowhere, and are looked at again later.
          select n.work_item_id
            from (select * from erasures where is_quoted and erased_at > v_hour_ago order by began_at limit p_limit) n
           where _has_quotes_to_go(n.work_item_id)) e;
  if v_items > 0 then
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

comment on function _retention_tidy(integer) is 'Collects what belongs to nothing: transcripts without work, quotes of erased work in digests of work that is over by now, artifacts that nothing uses, streams of turns that are stored, what was used of budgets by day 400 days ago.';

create or replace function _transcripts_due()
  returns setof uuid
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.id
    from _retention_policy('completed', 'imported') p
    join transcripts t on t.updated_at < _now() - p.age
   where p.keep <> 'all' and t.work_item_id is null
     and (t.deleted_at is null or exists (select from transcript_entries e where e.transcript_id = t.id))
   order by t.updated_at;
$$;

comment on function _transcripts_due() is
  'Transcripts that a policy erases now: of no work item (they were never read, or could not be), as a session would be that was imported from its file when something was appended last.';

create or replace function _transcripts_forget(p_limit integer)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid;
  v_count bigint;
begin
  -- Check again under its lock: it may have been appended to, or imported, in the meantime.
  select d into v_id from _transcripts_due() d limit 1;
  perform from transcripts t where t.id = v_id for no key update;
  update transcripts t
     set summary = null, problem = null, deleted_at = coalesce(t.deleted_at, _now())
   where t.id = v_id and t.id in (select _transcripts_due())
  returning t.id into v_id;
  if not found then
    return 0;
  end if;
  delete from transcript_entries e
   where e.transcript_id = v_id and e.seq in (select x.seq from transcript_entries x where x.transcript_id = v_id limit p_limit);
  get diagnostics v_count = row_count;
  return greatest(v_count, 1);
end
$$;

comment on function _transcripts_forget(integer) is 'Erases at most p_limit entries of a transcript that is due, which is gone for readers with the first of them; returns how many rows, 0: none is due.';

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
