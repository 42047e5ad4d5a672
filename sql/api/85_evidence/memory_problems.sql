-- Checks the notes of projects for anything that is not as it was written.

create or replace function _memory_problems()
  returns table (place text, problem text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with chain as (
    select f.id, format('note %s%s', f.path, coalesce(' of ' || nullif(f.project, ''), '')) as place, f.path, f.is_chained, f.version as newest, f.is_deleted,
           v as version_row, v.version, v.link, v.content, v.why, v.erased_hash, lag(v.version, 1, 0) over w as before, lag(v.link) over w as previous
      from memory_files f
      left join memory_versions v on v.file_id = f.id
    window w as (partition by f.id order by v.version)
  )
  select c.place, format('version %s is missing', c.before + 1) from chain c where c.version > c.before + 1
  union all
  select c.place, format('version %s is not as it was written', c.version)
    from chain c
   where c.version = c.before + 1 and (c.is_chained or c.link is not null)
     and c.link is distinct from _memory_link(c.previous, c.version_row)
  union all
  select c.place, format('version %s says that it was erased, but has words', c.version)
    from chain c where c.erased_hash is not null and (coalesce(c.content, '[erased]') <> '[erased]' or c.why is not null)
  union all
  select c.place, format('version %s was erased, but the salt that its words can be guessed with was not', c.version)
    from chain c where c.erased_hash is not null and (c.version_row).salt is not null
  union all
  select c.place, format('has %s versions, and should have %s', coalesce(max(c.version), 0), max(c.newest))
    from chain c group by c.id, c.place having coalesce(max(c.version), 0) <> max(c.newest)
  union all
  select c.place, 'has another path than its newest version' from chain c where c.version = c.newest and c.path <> (c.version_row).path
  union all
  select c.place, 'is deleted while its newest version is not, or the reverse'
    from chain c where c.version = c.newest and c.is_deleted <> (c.content is null) and c.erased_hash is null;
$$;

comment on function _memory_problems() is 'What of the notes is not as it was written.';
