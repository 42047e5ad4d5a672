-- A file's content as far as a conversation has seen it: what was read or written, and every edit since. So a named part of the file is found as
-- it is now, wherever it was when it was named. Lines that nobody has seen are null.

create or replace function _file_seen(
    p_calls uuid[],
    p_path text,
    p_depth integer,
    inout first_lines integer[],
    inout last_lines integer[],
    out lines text[])
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call record;
  v_edit record;
  v_after record;
  v_read text[];
  v_text text;
begin
  for v_call in
    select k as call, _jsonb_of(k.input) as input, x.action, t.depth >= p_depth as is_later
      from unnest(p_calls) with ordinality as c(id, n)
      join tool_calls k on k.id = c.id
      join turns t on t.id = k.turn_id
     cross join lateral (
       select x.action from touches x
        where x.tool_call_id = k.id and x.action <> 'search' and _is_same_file(p_path, x.target) order by x.ordinal limit 1) x
     order by c.n
  loop
    if v_call.action = 'read' then
      v_read := _lines_shown(v_call.call);
      if v_text is not null and _is_partial(v_call.call) then
        v_read := _lines_laid(string_to_array(v_text, E'\n', E'\x01'), v_read);
      end if;
      v_text := array_to_string(v_read, E'\n', E'\x01');
    elsif v_call.action = 'create' then
      v_text := _file_written(v_call.input, p_path);
      v_text := case when char_length(v_text) <= 300000 then v_text end;
    else
      for v_edit in select * from _edits_of(v_call.input, p_path) e order by e.n loop
        v_after := _text_edited(v_text, v_edit.old, v_edit.new, v_edit.is_all, first_lines, last_lines);
        v_text := v_after.text;
        if v_call.is_later then
          first_lines := v_after.first_lines;
          last_lines := v_after.last_lines;
        end if;
      end loop;
      if not found then
        v_text := null; -- the effect of the edit is not known
      end if;
    end if;
    exit when v_text is null;
  end loop;
  lines := string_to_array(v_text, E'\n', E'\x01');
end
$$;

comment on function _file_seen(uuid[], text, integer, integer[], integer[]) is
  'The lines of a file after these calls, oldest first, and where some lines, first_lines to last_lines, stand then if they were named before the calls of turns from p_depth on; null: one of the calls does not say what it read or changed. Elements that are null were never seen.';

create or replace function _lines_shown(p_call tool_calls)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with shown as (
    select _unwrapped(coalesce(a.content, _result_text(p_call.result)), w.work_type) as text
      from work_items w
      left join artifacts a on a.content_hash = p_call.artifact_hash
     where w.id = p_call.work_item_id and not p_call.is_truncated
  ),
  line as (
    select l.n, l.line, regexp_match(l.line, '^\s*(\d{1,7})(?:→|\t|: ?|\s*\| ?)(.*)$') as numbered
      from shown s cross join lateral string_to_table(s.text, E'\n') with ordinality as l(line, n)
     where char_length(s.text) <= 300000
  ),
  numbers as (
    -- Many tools print a number before each line, and a note or two after the lines.
    select count(*) - count(l.numbered) <= 5 and count(l.numbered) > 0
           and max((l.numbered[1])::integer) - min((l.numbered[1])::integer) = count(l.numbered) - 1 as are_there
      from line l
  ),
  -- Materialized: a nested loop would search the whole text for each of its lines.
  begun as materialized (
    select coalesce((regexp_match(s.text, E'\n\\[lines (\\d{1,7}) to \\d+ of \\d+; [^\n]*\\]$'))[1]::integer,
                    (select r.line_start from _lines_read(p_call.tool_name, _jsonb_of(p_call.input)) r), 1) as first,
           _is_command(p_call.input) as is_command
      from shown s
  ),
  placed as (
    select (l.numbered[1])::integer as n, l.numbered[2] as line from line l, numbers where are_there and l.numbered is not null
    union all
    select l.n + b.first - 1, l.line
      from line l, numbers, begun b
     where not are_there and not b.is_command and l.line !~ '^\[lines \d+ to \d+ of \d+; .*\]$'
  )
  -- Grouped, not joined: the plan would join line by line.
  select array_agg(l.line order by l.n)
    from (select n, max(line) as line
            from (select n, line from placed
                  union all
                  select n, null from generate_series(1, (select max(n) from placed having max(n) <= 200000)) as g(n)) a
           where (select max(n) from placed) <= 200000
           group by n) l;
$$;

comment on function _lines_shown(tool_calls) is
  'The lines of a file that a call has read, each at its place, without the numbers that the tool printed before them; null: that cannot be told, as where a shell printed them, or of more than 300,000 characters. A result that is shown as head and tail is read whole.';

create or replace function _lines_read(p_tool_name text, p_input jsonb, out line_start integer, out line_end integer)
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Claude Code's Read and pi's read count the offset from 1; that of read_file is the number of lines skipped.
  select o.first, o.first + (substring(p_input ->> 'limit' from '^\d{1,9}$'))::integer - 1
    from (select (substring(p_input ->> 'offset' from '^\d{1,9}$'))::integer + case when lower(p_tool_name) = 'read' then 0 else 1 end) as o(first);
$$;

comment on function _lines_read(text, jsonb) is 'The lines that a call reads, from its offset and limit; null: not given.';

create or replace function _lines_laid(p_lines text[], p_read text[])
  returns text[]
  language sql
  immutable
  parallel safe
  return (select array_agg(l.line order by l.n)
            from (select n, coalesce(max(line) filter (where is_new), max(line)) as line
                    from (select n, line, false as is_new from unnest(p_lines) with ordinality as b(line, n)
                          union all
                          select n, line, true from unnest(p_read) with ordinality as r(line, n)) a
                   group by n) l
           where p_read is not null);

comment on function _lines_laid(text[], text[]) is 'Lines with what was read of them since; null: what was read cannot be told.';

create or replace function _file_written(p_input jsonb, p_path text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    (select string_agg(l.new, E'\n') from _patch_hunks(p_input, p_path, 'Add') l),
    jsonb_path_query_first(p_input, '$.keyvalue() ? (@.key like_regex "^(contents?|file_?text|text)$" flag "i").value ? (@.type() == "string")',
      silent => true) #>> '{}');
$$;

comment on function _file_written(jsonb, text) is 'What a call writes into a file as its whole content, from the call''s input; null: it does not say.';

create or replace function _edits_of(p_input jsonb, p_path text)
  returns table (n bigint, old text, new text, is_all boolean)
  language sql
  immutable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select row_number() over (order by e.n), v.old, v.new, v.is_all
    from (select * from jsonb_path_query(p_input, '$.edits[*]', silent => true) with ordinality
          union all select * from jsonb_path_query(p_input, '$.replacements[*]', silent => true) with ordinality
          union all select p_input, 0) as e(value, n)
   cross join lateral (
     select jsonb_path_query_first(e.value, '$.keyvalue() ? (@.key like_regex "^(old_?(str|string|text|source)|search|find)$" flag "i").value',
              silent => true) #>> '{}' as old,
            coalesce(jsonb_path_query_first(e.value, '$.keyvalue() ? (@.key like_regex "^(new_?(str|string|text|source)|replace(ment)?)$" flag "i").value',
              silent => true) #>> '{}', '') as new,
            jsonb_path_exists(e.value, '$.keyvalue() ? (@.key like_regex "^replace_?all$" flag "i" && @.value == true)', silent => true) as is_all,
            e.value ->> 'filePath' as path) v
   where v.old <> '' and (v.path is null or _is_same_file(p_path, v.path))
  union all
  select h.n, h.old, h.new, false from _patch_hunks(p_input, p_path, 'Update') h;
$$;

comment on function _edits_of(jsonb, text) is 'What a call replaces in a file, in order: passages, or the hunks of a patch in the format of apply_patch; no rows: it does not say.';

create or replace function _patch_hunks(p_input jsonb, p_path text, p_kind text)
  returns table (n bigint, old text, new text)
  language sql
  immutable
  rows 3
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select row_number() over (order by f.n, h.n), l.old, l.new
    from (select value #>> '{}' as patch from jsonb_path_query(p_input, '$.** ? (@.type() == "string")', silent => true) s(value)
           where value #>> '{}' like '%*** Begin Patch%' limit 1) p
   cross join lateral regexp_split_to_table(p.patch, E'(?:^|\n)(?=\\*\\*\\* )') with ordinality as f(part, n)
   cross join lateral regexp_split_to_table(substr(f.part, strpos(f.part, E'\n') + 1), '(?n)^@@.*\n') with ordinality as h(hunk, n)
   cross join lateral (
     select string_agg(substr(l.line, 2), E'\n' order by l.n) filter (where l.line ~ '^( |-|$)') as old,
            coalesce(string_agg(substr(l.line, 2), E'\n' order by l.n) filter (where l.line ~ '^( |\+|$)'), '') as new
       from string_to_table(rtrim(h.hunk, E'\n'), E'\n') with ordinality as l(line, n)) l
   where starts_with(f.part, '*** ' || p_kind || ' File: ')
     and _is_same_file(p_path, regexp_replace(btrim(substring(f.part from E'File: *([^\n]*)')), '^(\./+)+', ''))
     and (l.old <> '' or l.new <> '');
$$;

comment on function _patch_hunks(jsonb, text, text) is 'The hunks of a patch for a file: what stands before and after. p_kind: Update or Add.';

create or replace function _text_edited(
    p_text text, p_old text, p_new text, p_is_all boolean, inout first_lines integer[], inout last_lines integer[], out text text)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_rest text := p_text;
  v_done text := '';
  v_at integer := strpos(v_rest, p_old);
  v_breaks constant integer := regexp_count(p_old, E'\n');
  v_more constant integer := regexp_count(p_new, E'\n') - v_breaks;
  v_line integer := 1;
begin
  while v_at > 0 loop
    v_line := v_line + regexp_count(left(v_rest, v_at - 1), E'\n');
    for v_n in 1 .. coalesce(cardinality(first_lines), 0) loop
      if v_line + v_breaks < first_lines[v_n] then
        first_lines[v_n] := first_lines[v_n] + v_more;
        last_lines[v_n] := last_lines[v_n] + v_more;
      elsif v_line <= last_lines[v_n] then
        first_lines[v_n] := least(first_lines[v_n], v_line);
        last_lines[v_n] := greatest(last_lines[v_n], v_line + v_breaks) + v_more;
      end if;
    end loop;
    v_line := v_line + v_breaks + v_more;
    v_done := v_done || left(v_rest, v_at - 1) || p_new;
    v_rest := substr(v_rest, v_at + char_length(p_old));
    text := v_done || v_rest;
    exit when not p_is_all;
    v_at := strpos(v_rest, p_old);
  end loop;
end
$$;

comment on function _text_edited(text, text, text, boolean, integer[], integer[]) is
  'A text after a passage of it is replaced, once or wherever it stands, and where some of its lines, first_lines to last_lines, stand then; text null: it does not stand there.';
