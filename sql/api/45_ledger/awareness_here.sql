-- What an interactive session is told when it starts: the work of its directory, and that there is other work.

create or replace function awareness_here(p_work_item_id uuid, p_directory text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_here text;
  v_ids uuid[];
  v_elsewhere integer;
begin
  if p_directory is null or p_directory !~ '^/' then
    perform _raise_invalid('p_directory must be an absolute path');
  end if;
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select string_agg(n.line, E'\n' order by n.place), array_agg(n.id) into v_here, v_ids
    from _work_in(rtrim(p_directory, '/'), p_work_item_id) n;
  select count(*) into v_elsewhere
    from (select from work_items where state = 'running' and id <> p_work_item_id and id <> all (coalesce(v_ids, '{}')) limit 1000) w;
  return _digest_fenced('What else is going on', concat_ws(E'\n\n', '== AWARENESS ==',
    coalesce(E'In this directory or its repository:\n' || v_here, 'There is no other work in this directory or its repository.'),
    case when v_elsewhere > 0 then format('Work items running elsewhere: %s. awareness_digest tells of them.', v_elsewhere) end));
end
$$;

comment on function awareness_here(uuid, text) is
  'What an interactive session is told when it starts, as data between markers: of the newest 1,000 work items up to 8 in this directory or below it (those that somebody works on first), each with its newest three plans, findings, decisions and errors, a line each; of work elsewhere only how much is running. p_work_item_id: the session''s own, which is left out. p_directory: absolute; of a repository its root. Raises WL001, WL002.';

create or replace function _work_in(p_directory text, p_but_id uuid)
  returns table (place bigint, id uuid, line text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with near as (
    select w.*, d.is_alive
      from (select id from work_items order by created_at desc, id desc limit 1000) newest
      join work_items w on w.id = newest.id
      left join faculties f on f.name = _faculty_of(w) and f.is_current
      cross join lateral (
        select coalesce(w.workspace_dir, _session_directory(w), f.config #>> '{engage,workspace_dir}') as directory,
               case w.work_type when 'journal' then _journal_state(w) = 'active' else w.resolved_at is null and w.state <> 'paused' end as is_alive) d
     where w.id <> p_but_id and (d.directory = p_directory or starts_with(d.directory, p_directory || '/'))
     order by d.is_alive desc, coalesce(w.resolved_at, w.started_at, w.created_at) desc
     limit 8)
  select row_number() over (order by n.is_alive desc, coalesce(n.resolved_at, n.started_at, n.created_at) desc), n.id,
         format('- [%s] %s (%s)', _source_label(d.driver, n.work_type), _one_line(n.description, 240),
                concat_ws(', ', case n.work_type when 'journal' then _journal_state(i) else n.state end, _ago(n.resolved_at, _now())))
         || coalesce((
           select string_agg(format(E'\n  %s: %s', l.entry_type, _one_line(l.content, 200)), '' order by l.seq)
             from (select * from work_ledger e
                    where e.work_item_id = n.id and e.entry_type in ('plan', 'finding', 'decision', 'error')
                      and not _is_retracted(e.work_item_id, e.seq)
                    order by e.seq desc
                    limit 3) l), '')
    from near n
    join work_items i on i.id = n.id
   cross join lateral _driver(n.id, n.faculty) d;
$$;

comment on function _work_in(text, uuid) is 'Work items in a directory or below it, but one, as lines for a digest, in the order of place.';
