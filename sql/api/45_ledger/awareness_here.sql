-- The first digest of an interactive session: the work in its directory, then its team and project.

create or replace function awareness_here(p_work_item_id uuid, p_directory text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select h.said from _awareness_here(p_work_item_id, p_directory) h;
$$;

comment on function awareness_here(uuid, text) is
  'What an interactive session is told when it starts, as data between markers. First, up to 8 of the newest 1,000 work items, those in this directory or below it (the ones being worked on first; none that is a session of another program that ended without a prompt or an entry), each with its state, what it waits for, the files that it changed, and its newest three plans, findings, decisions and errors, one line each. Then, in two fifths of a digest''s room, what awareness_digest() says about other items: the session''s team, unfinished items of its project, decisions, findings, errors, and unread messages that it sent; for other projects, only how much is running there. p_work_item_id: the session''s own item, which is left out. p_directory: absolute; for a repository, its root. Raises WL001, WL002.';

create or replace function _awareness_here(p_work_item_id uuid, p_directory text, out said text, out shown jsonb)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_here record;
  v_elsewhere integer;
  v_item work_items := (select w from work_items w where w.id = p_work_item_id);
  v_settings jsonb;
  v_rest record;
begin
  if p_directory is null or p_directory !~ '^/' then
    perform _raise_invalid('p_directory must be an absolute path');
  end if;
  if v_item.id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select string_agg(n.line, E'\n' order by n.place) as lines, array_agg(n.id) as ids, jsonb_path_query_array(jsonb_agg(n.shown), '$[*][*]') as shown into v_here
    from _work_in(rtrim(p_directory, '/'), p_work_item_id) n;
  v_settings := _awareness_settings(_config_of(v_item));
  -- The directory has used most of the room.
  v_settings := v_settings || jsonb_build_object('max_chars', (v_settings ->> 'max_chars')::numeric * 0.4);
  v_rest := _awareness(p_work_item_id, v_settings, p_but => coalesce(v_here.ids, '{}'));
  select count(*) into v_elsewhere
    from (select from work_items
           where state = 'running' and coalesce(project, '') <> all (_awareness_projects(v_item.project, v_settings ->> 'scope')) limit 1000) w;
  said := _digest_fenced('What else is going on', concat_ws(E'\n\n', '== AWARENESS ==',
    coalesce(E'In this directory or its repository:\n' || v_here.lines, 'There is no other work in this directory or its repository.'),
    case when v_rest.shown is not null then regexp_replace(v_rest.said, '^== AWARENESS ==\n\n', '') end,
    case when v_elsewhere > 0 then format('Work items running in other projects: %s.', v_elsewhere) end));
  shown := coalesce(v_here.shown, '[]') || coalesce(v_rest.shown, '[]');
end
$$;

comment on function _awareness_here(uuid, text) is 'awareness_here(), and what it tells of, as _awareness() lists it.';

create or replace function _work_in(p_directory text, p_but_id uuid)
  returns table (place bigint, id uuid, line text, shown jsonb)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with near as (
    select w.*, d.is_alive
      from (select id from work_items order by created_at desc, id desc limit 1000) newest
      join work_items w on w.id = newest.id
      left join lateral _faculty_now(w) f on true
      cross join lateral (
        select _works_in(w, f.config) as directory,
               case w.work_type when 'journal' then _journal_state(w) = 'active' else w.resolved_at is null and w.state <> 'paused' end as is_alive) d
     where w.id <> p_but_id and w.description <> '[erased]'
       and (d.is_alive or w.work_type <> 'journal' or not w.params ? 'isUnnamed' or exists (select from work_ledger l where l.work_item_id = w.id))
       and (d.directory = p_directory or starts_with(d.directory, p_directory || '/'))
     order by d.is_alive desc, coalesce(w.resolved_at, w.started_at, w.created_at) desc
     limit 8)
  select row_number() over (order by n.is_alive desc, coalesce(n.resolved_at, n.started_at, n.created_at) desc), n.id,
         format('- [%s] %s (%s)', _source_label(d.driver, n.work_type), _one_line(n.description, 240),
                concat_ws(', ', case when n.work_type = 'journal' or n.state in ('waiting', 'paused') then _state_words(i) else n.state end,
                          _ago(n.resolved_at, _now())))
         || coalesce(E'\n  changed: ' || _files_changed(n.id), '')
         || coalesce(e.lines, ''),
         -- For a session that is not alive, it will be news when it continues; for one that was not asked anything yet, what it is asked.
         coalesce(e.shown, '[]') || case
           when i.resolved_at is null and i.work_type = 'journal' and (not n.is_alive or i.params ? 'isUnnamed') then '[]'
           else jsonb_build_array(jsonb_build_array(n.id, case when i.resolved_at is not null then 0 when i.state = 'queued' then -3 else -1 end, '')) end
    from near n
    join work_items i on i.id = n.id
   cross join lateral _driver(n.id, n.faculty) d
   cross join lateral (
     select string_agg(format(E'\n  %s: %s', l.entry_type, _one_line(l.content, 200)), '' order by l.seq) as lines,
            jsonb_agg(jsonb_build_array(l.work_item_id, l.seq, '')) as shown
       from (select * from work_ledger x
              where x.work_item_id = n.id and x.entry_type in ('plan', 'finding', 'decision', 'error')
                and not _is_retracted(x.work_item_id, x.seq)
              order by x.seq desc
              limit 3) l) e;
$$;

comment on function _work_in(text, uuid) is 'Work items in a directory or below it, but one, as lines for a digest, in the order of place. shown: what each tells of, as _awareness() lists it.';
