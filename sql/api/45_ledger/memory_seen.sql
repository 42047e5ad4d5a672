-- Tracks which reader was shown which version of a note. A reader cannot overwrite what others have changed since; the error says what that is.

create or replace function _memory_fresh(p_hand memory_hand, p_file memory_files)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_seen integer := (select s.version from memory_views s where s.file_id = p_file.id and s.reader = p_hand.reader);
begin
  if v_seen is null and p_hand.is_fork then
    raise exception using errcode = 'WL008',
      message = format('You are on a branch and have not viewed %s on it: nothing was changed. View it, then decide again.', p_file.path);
  elsif v_seen < p_file.version then
    perform _raise_memory_changed(p_file, v_seen);
  end if;
end
$$;

comment on function _memory_fresh(memory_hand, memory_files) is 'Refuses to change what others changed since this reader was shown it. Raises WL008.';

create or replace function _raise_memory_changed(p_file memory_files, p_seen integer)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_said text := (select v.content from memory_versions v where v.file_id = p_file.id and v.version = p_seen);
  v_by text := (
    select string_agg(distinct coalesce(v.person, _agent_name(w), v.written_by), ', ')
      from memory_versions v left join work_items w on w.id = v.work_item_id
     where v.file_id = p_file.id and v.version > p_seen);
begin
  raise exception using errcode = 'WL008', message = concat_ws(E'\n',
    format('File %s was changed since you viewed it (version %s; it is version %s now), by %s. Nothing was done. What changed:',
           p_file.path, p_seen, p_file.version, v_by),
    _memory_changes(v_said, _memory_content(p_file)), 'View it again, then decide.');
end
$$;

comment on function _raise_memory_changed(memory_files, integer) is 'Raises WL008: a file is not what it was in the version that a reader knows; says what changed.';

create or replace function _memory_changes(p_before text, p_after text)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before text[] := case when p_before is null then '{}' else _memory_lines(p_before) end;
  v_after text[] := case when p_after is null then '{}' else _memory_lines(p_after) end;
  v_most integer := least(cardinality(v_before), cardinality(v_after));
  v_head integer := coalesce(least(v_most, (
    select min(l.n) - 1 from unnest(v_before, v_after) with ordinality as l(b, a, n) where l.b is distinct from l.a)), v_most);
  -- Counted from the ends, since the lines there have other numbers.
  v_tail integer := coalesce(least(v_most - v_head, (
    select min(l.n) - 1
      from unnest(array(select b from unnest(v_before) with ordinality as o(b, n) order by n desc),
                  array(select a from unnest(v_after) with ordinality as o(a, n) order by n desc)) with ordinality as l(b, a, n)
     where l.b is distinct from l.a)), v_most - v_head);
begin
  return concat_ws(E'\n', _memory_side('-', v_before, v_head, v_tail), _memory_side('+', v_after, v_head, v_tail));
end
$$;

comment on function _memory_changes(text, text) is 'What differs between two versions of a note: the lines between their common beginning and end, before (-) and after (+), at most 20 of each.';

create or replace function _memory_side(p_mark text, p_lines text[], p_head integer, p_tail integer)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(p_mark || ' ' || case when n > p_head + 20 then format('… and %s more lines', cardinality(p_lines) - p_tail - p_head - 20)
                                           else _one_line(l.line, 200) end, E'\n' order by n)
    from unnest(p_lines) with ordinality as l(line, n)
   where n between p_head + 1 and least(cardinality(p_lines) - p_tail, p_head + 21);
$$;

comment on function _memory_side(text, text[], integer, integer) is 'One side of _memory_changes(). Null: it has no line of its own.';
