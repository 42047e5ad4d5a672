-- Reads a large output again, by range or pattern.

create or replace function artifact_read(
    p_handle text,
    p_range text default null,
    p_pattern text default null)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_artifact artifacts := _artifact(p_handle);
  v_text text := v_artifact.content;
  v_from bigint;
  v_to bigint;
  v_lines text[];
  v_found text;
begin
  if v_artifact.media_type is not null then
    return format('[image %s: %s, %s bytes]', left(v_artifact.content_hash, 16), v_artifact.media_type, char_length(v_text) * 3 / 4);
  end if;
  if p_range is not null then
    if p_range !~ '^c?\d{1,9}(-\d{1,9})?$' then
      perform _raise_invalid(format('"%s" is not a range', p_range), 'Pass lines such as "100-180", or characters such as "c4000-8000".');
    end if;
    v_from := split_part(ltrim(p_range, 'c'), '-', 1)::bigint;
    v_to := coalesce(nullif(split_part(p_range, '-', 2), '')::bigint, v_from);
    if v_from < 1 or v_to < v_from then
      perform _raise_invalid(format('"%s" is not a range: ranges count from 1 and go upwards', p_range));
    end if;
    if p_range like 'c%' then
      v_text := substr(v_text, v_from::integer, (v_to - v_from + 1)::integer);
      return _cap_text(coalesce(nullif(v_text, ''), format('(it has fewer than %s characters)', v_from)), 65536);
    end if;
  end if;
  v_lines := string_to_array(v_text, E'\n');
  if v_from > cardinality(v_lines) then
    return format('(it has only %s lines)', cardinality(v_lines));
  end if;
  if p_pattern is null or p_pattern = '' then
    return _cap_text(array_to_string(v_lines[coalesce(v_from, 1) : coalesce(v_to, cardinality(v_lines))], E'\n'), 65536);
  end if;
  if char_length(p_pattern) > 1000 then
    perform _raise_invalid(format('a pattern can have at most 1,000 characters, not %s', char_length(p_pattern)));
  end if;
  begin
    select string_agg(format('%s: %s', l.n, _around(l.line, p_pattern)), E'\n' order by l.n)
      into v_found
      from unnest(v_lines) with ordinality as l(line, n)
     where l.n between coalesce(v_from, 1) and coalesce(v_to, l.n) and l.line ~* p_pattern;
  exception when invalid_regular_expression then
    perform _raise_invalid(format('"%s" is not a regular expression: %s', _one_line(p_pattern, 100), sqlerrm));
  end;
  return _cap_text(coalesce(v_found, format('(no line matches "%s")', _one_line(p_pattern, 100))), 65536);
end
$$;

comment on function artifact_read(text, text, text) is
  'Reads an output that was too large for a model''s context: select artifact_read(''9f86d081884c7d65'', ''100-180''). p_handle: the 16 digits shown with its head and tail, or more digits of its hash. p_range: lines "from-to", or characters "cfrom-to". p_pattern: only the lines that match this regular expression (ignoring case), numbered; long lines are shortened around the match. With both, matches within those lines; with neither, the whole output. For an image it returns one line; an agent that calls it is shown the image. Returns at most about 64 KiB: head and tail of longer text. Raises WL001, WL002.';

create or replace function _around(p_line text, p_pattern text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when char_length(p_line) <= 400 then p_line
           else case when v.start > 1 then '…' else '' end || substr(p_line, v.start, 400)
             || case when v.start + 400 <= char_length(p_line) then '…' else '' end
         end
    from (select greatest(1, regexp_instr(p_line, p_pattern, 1, 1, 0, 'i') - 150) as start) v;
$$;

comment on function _around(text, text) is 'A line; of a long line, 400 characters around the match.';
