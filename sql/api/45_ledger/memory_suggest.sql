-- Suggestions for notes: findings and decisions that several agents were told and that no note quotes yet.

create or replace function memory_suggest(p_project text default null, p_limit integer default 20)
  returns table (content text, entry_type text, work_item_id uuid, seq integer, told bigint, since timestamptz)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_project text := coalesce(_project_check(nullif(p_project, '')), '');
begin
  perform _check_page(p_limit, 100);
  return query
    with noted as materialized (
      select (select _squashed(string_agg(v.content, E'\n'))
                from memory_files f join memory_versions v on v.file_id = f.id and v.version = f.version
               where f.project = v_project) as words,
             (select string_agg(distinct v.why, E'\n')
                from memory_files f join memory_versions v on v.file_id = f.id
               where f.project = v_project) as reasons
    ),
    known as (
      select e.*, k.entry_type
        from unnest('{finding,decision}'::text[]) k(entry_type)
       cross join unnest('{true,false}'::boolean[]) c(is_child)
       cross join unnest(case when v_project = '' then '{""}' else _project_names(v_project) end) p(name)
       cross join lateral _entries_of(p.name, c.is_child, k.entry_type, '{}', null, '-infinity', 500) e
    )
    select e.content, e.entry_type, e.work_item_id, e.seq, t.told, t.since
      from known e
     cross join lateral (
       select count(distinct coalesce(f.work_item_id, a.focus_id)) as told, min(a.shown_at) as since
         from awareness_shown a left join foci f on f.id = a.focus_id
        where a.work_item_id = e.work_item_id and a.seq = e.seq) t
     cross join noted n
     where t.told > 1 and e.content <> '[erased]'
       and coalesce(strpos(n.words, _squashed(e.content)), 0) = 0
       and coalesce(strpos(n.reasons, format('%s/%s', e.work_item_id, e.seq)), 0) = 0
     order by t.told desc, t.since, e.work_item_id, e.seq
     limit p_limit;
end
$$;

comment on function memory_suggest(text, integer) is
  'Suggests what might become a note: findings and decisions of a project (null: of work without one) that the agents of at least two other work items were told, and that no note quotes, those told most often first: select content, told from memory_suggest(''github.com/acme/shop''). told: to how many work items. since: when first. It writes nothing; use memory_write(). A note quotes an entry if it contains its words, ignoring line breaks and case, or if the reason for a version (p_why) cites it as WORK_ITEM_ID/SEQ. An entry cited like that is not suggested again, even if the note words it differently or someone removed it. Considers the newest 500 of each kind. What an agent found by searching is not recorded and does not count. Raises WL002.';

create or replace function _squashed(p_text text)
  returns text
  language sql
  immutable
  parallel safe
  return btrim(regexp_replace(lower(p_text), '\s+', ' ', 'g'));

comment on function _squashed(text) is 'A text to be compared: in small letters, with single blanks.';
