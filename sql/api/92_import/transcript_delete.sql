-- Erases transcripts that other programs stored in the ledger, with what was made from them.

create or replace function transcript_delete(p_project_key text, p_session_id text, p_subpath text default null)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := '{}';
  v_item work_items;
begin
  -- Repeat if one was begun, or imported into an item, in the meantime.
  loop
    v_ids := v_ids || array(select _transcripts_left(p_project_key, p_session_id, p_subpath, v_ids));
    perform _transcript_check(t) from transcripts t where t.id = any (v_ids);
    for v_item in select w.* from _transcript_items(v_ids, coalesce(p_subpath, '') = '') i join work_items w on w.id = i order by w.id loop
      perform journal_session_status(v_item.id, 'completed') where v_item.resolved_at is null;
      perform count(*) from work_erase(v_item.id, 'deleted by its program');
    end loop;
    perform from transcripts t where t.id = any (v_ids) order by t.id for no key update;
    exit when not exists (select from _transcript_items(v_ids, coalesce(p_subpath, '') = ''))
      and not exists (select from _transcripts_left(p_project_key, p_session_id, p_subpath, v_ids));
  end loop;
  delete from transcript_entries e where e.transcript_id = any (v_ids);
  update transcripts t set summary = null, problem = null, deleted_at = coalesce(t.deleted_at, _now()) where t.id = any (v_ids);
  return cardinality(v_ids);
end
$$;

comment on function transcript_delete(text, text, text) is
  'Erases a transcript for good, with the work item that was made of it (see work_erase()), and returns how many transcripts went. p_subpath: only that one; null: the whole session, with its subagents. What stays is that it was: nothing can be appended to it any more, and its file is not imported. A session under way is completed first. Erasing again finds nothing, and does no harm. Raises WL008 (its turns are shared by forks: erase those first), 42501.';

create or replace function _transcripts_left(p_project_key text, p_session_id text, p_subpath text, p_but uuid[])
  returns setof uuid
  language sql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.id
    from transcripts t
   where t.session_id = p_session_id and t.project_key = p_project_key and coalesce(p_subpath, '') in ('', t.subpath)
     and t.deleted_at is null and t.id <> all (p_but)
   order by t.id;
$$;

comment on function _transcripts_left(text, text, text, uuid[]) is 'The transcripts of a session (p_subpath: only that one) that are not erased, but some.';

create or replace function _transcript_items(p_ids uuid[], p_with_agents boolean)
  returns setof uuid
  language sql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with own as (
    select w.id, w.external_id
      from work_items w
     where w.id in (select _transcript_work(t) from transcripts t where t.id = any (p_ids))
       and not exists (select from transcripts o where o.work_item_id = w.id and o.id <> all (p_ids) and o.deleted_at is null)
  )
  select w.id
    from work_items w
   where w.erased_at is null and w.id in (
     select o.id from own o
      union
     select f.work_item_id
       from own o
       join sessions s on s.parent_session_label = substr(o.external_id, 8) and s.is_subagent
       join foci f on f.session_label = s.label
      where p_with_agents);
$$;

comment on function _transcript_items(uuid[], boolean) is 'The work items, not erased, that these transcripts alone were read into; p_with_agents: and those of their subagents.';

create or replace function _transcript_work(p_of transcripts)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(p_of.work_item_id, (
    select w.id
      from work_items w
     where w.external_id = 'import:claude-code:' || p_of.session_id || coalesce('#' || substring(p_of.subpath from '^subagents/agent-(.+)$'), '')
       and p_of.subpath ~ '^$|^subagents/agent-.' and w.submitted_by = p_of.submitted_by
       and not exists (
         select from transcripts o
          where o.session_id = p_of.session_id and o.subpath = p_of.subpath and o.project_key <> p_of.project_key and o.deleted_at is null)
  ), (
    select w.id
      from work_items w
     where w.params ? 'conversationId' and w.params ->> 'conversationId' = p_of.session_id and p_of.subpath = '' and w.work_type = 'journal'
       and w.external_id is null and w.submitted_by = p_of.submitted_by and w.erased_at is null
     order by w.created_at desc, w.id desc
     limit 1));
$$;

comment on function _transcript_work(transcripts) is
  'The work item of the session that a transcript is of: that which it was read into, else that of its file or of its hooks, which reading it would have made its own (_import_adopt()). One whose session another scope keeps, too, has only the first.';
