-- Notes as models see them: a file with numbered lines, a folder with the sizes of its contents.

create or replace function _memory_view(p_hand memory_hand, p_path text, p_range jsonb)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files := _memory_file(p_hand.project, p_path);
  v_lines text[];
  v_from integer := 1;
  v_to integer := 999999;
begin
  if v_file.id is null then
    if p_path <> '/memories' and not exists (select from _memory_below(p_hand.project, p_path)) then
      perform _raise_no_memory(p_path, '. Please provide a valid path.');
    end if;
    return _memory_listed(p_hand.project, p_path);
  end if;
  if p_range is not null then
    if jsonb_typeof(p_range) <> 'array' or jsonb_array_length(p_range) <> 2 then
      perform _raise_invalid('Invalid `view_range` parameter: it should be two line numbers, such as [1, 10]; [11, -1] is from there to the end');
    end if;
    v_from := greatest(_integer('`view_range`', p_range ->> 0, -2147483648, 2147483647), 1);
    v_to := _integer('`view_range`', p_range ->> 1, -2147483648, 2147483647);
    v_to := case when v_to = -1 then 999999 else v_to end;
  end if;
  v_lines := _memory_lines(_memory_content(v_file));
  perform _memory_seen(p_hand, v_file.id, v_file.version);
  return format(E'Here''s the content of %s with line numbers:\n%s', p_path, _memory_numbered(v_lines, v_from, v_to));
end
$$;

comment on function _memory_view(memory_hand, text, jsonb) is 'Command view. Raises WL001, WL002.';

create or replace function _memory_listed(p_project text, p_path text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with file as (
    select string_to_array(substr(f.path, length(p_path) + 2), '/') as names, octet_length(_memory_content(f)) as bytes from _memory_below(p_project, p_path) f
  ),
  -- Hidden files and folders are not listed, nor anything below them.
  shown as (
    select f.names[:d] as names, d < cardinality(f.names) as is_folder, sum(f.bytes) as bytes
      from file f cross join generate_series(1, 2) d
     where d <= cardinality(f.names) and not exists (select from unnest(f.names[:d]) n where n ~ '^\.' or n = 'node_modules')
     group by 1, 2
  )
  select format(E'Here''re the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n%s\t%s',
                p_path, _memory_size(coalesce((select sum(bytes) from file), 0)::bigint), p_path)
         || coalesce(E'\n' || (
              select string_agg(format(E'%s\t%s/%s%s', _memory_size(s.bytes::bigint), p_path, array_to_string(s.names, '/'),
                                       case when s.is_folder then '/' else '' end),
                                E'\n' order by s.names[1] collate "C", s.names[2] collate "C" nulls first)
                from shown s), '');
$$;

comment on function _memory_listed(text, text) is 'The files and folders in a folder of notes, two levels deep, with their sizes, as models know such a list.';

create or replace function _memory_size(p_bytes bigint)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when p_bytes < 1024 then p_bytes || 'B'
    when p_bytes < 1048576 then case when p_bytes % 1024 = 0 then (p_bytes / 1024)::text else round(p_bytes / 1024.0, 1)::text end || 'K'
    else case when p_bytes % 1048576 = 0 then (p_bytes / 1048576)::text else round(p_bytes / 1048576.0, 1)::text end || 'M' end;

comment on function _memory_size(bigint) is 'Bytes as people read them: 512B, 5.5K, 1.2M.';

create or replace function _memory_lines(p_content text)
  returns text[]
  language sql
  immutable
  parallel safe
  return case when p_content = '' then array[''] else string_to_array(p_content, E'\n') end;

comment on function _memory_lines(text) is 'The lines of a note, as models count them: a line break at its end is followed by an empty one.';

create or replace function _memory_numbered(p_lines text[], p_from integer, p_to integer)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(lpad(n::text, 6) || E'\t' || l.line, E'\n' order by n), '')
    from unnest(p_lines) with ordinality as l(line, n)
   where n between p_from and p_to;
$$;

comment on function _memory_numbered(text[], integer, integer) is 'Lines of a note, with their numbers in six columns.';
