-- Finds the lines that a name like path:80-140 or path#symbol means. Definitions are found by patterns of the usual languages, their ends by indentation
-- and headings.

create or replace function _keep_part(p_lines text[], p_part text, inout first_line integer, inout last_line integer, out part text)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_part like '#%' then
    select l.first_line, l.last_line into first_line, last_line from _symbol_lines(p_lines, substr(p_part, 2)) l;
  end if;
  if first_line <= cardinality(p_lines) and exists (select from unnest(p_lines[first_line : last_line]) l(line) where l.line is not null) then
    first_line := greatest(first_line - 5, 1);
    last_line := least(last_line + 5, cardinality(p_lines));
    part := _numbered_lines(p_lines, first_line, last_line);
  else
    first_line := null;
    last_line := null;
  end if;
end
$$;

comment on function _keep_part(text[], text, integer, integer) is
  'The lines that a part of a name, :80-140 or #symbol, means in a file with these lines, with 5 lines around them; null: there is no such part, or that cannot be told. first_line, last_line: where numbered lines stand now. part: the lines as they are shown.';

create or replace function _numbered_lines(p_lines text[], p_first integer, p_last integer)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(case when l.line is null then '…' else p_first + l.n - 1 || E'\t' || l.line end, E'\n' order by l.n)
    from (select n, line, lag(line, 1, '') over (order by n) is null as is_after_gap
            from unnest(p_lines[p_first : p_last]) with ordinality as u(line, n)) l
   where l.line is not null or not l.is_after_gap;
$$;

comment on function _numbered_lines(text[], integer, integer) is 'Some lines of a file, each with its number; … for those that nobody has seen.';

create or replace function _symbol_lines(p_lines text[], p_symbol text, out first_line integer, out last_line integer)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_names text[] := regexp_split_to_array(btrim(p_symbol, ' ()'), '\.|::|#|/');
  v_from integer := 1;
  v_to integer := cardinality(p_lines);
begin
  -- A name of several parts is searched for as a whole, then part by part, each within the previous one.
  for v_names in select * from (values (array[btrim(p_symbol, ' ()')]), (v_names)) as n(names) loop
    select 1, cardinality(p_lines) into v_from, v_to;
    for v_n in 1 .. cardinality(v_names) loop
      first_line := _definition_line(p_lines[v_from : v_to], v_names[v_n]) + v_from - 1;
      last_line := first_line + _definition_length(p_lines[first_line : least(v_to, first_line + 3000)]) - 1;
      exit when first_line is null;
      select first_line + 1, last_line into v_from, v_to;
    end loop;
    exit when first_line is not null;
  end loop;
end
$$;

comment on function _symbol_lines(text[], text) is
  'Where a function, a class, a heading or whatever else a symbol (parse, Parser.parse, Parser::parse) defines stands in these lines; null: nowhere.';

create or replace function _definition_line(p_lines text[], p_name text)
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select l.n::integer
    from (select regexp_replace(p_name, '[^\w\s]', '\\\&', 'g') as name) s
   cross join lateral (
     select '^#{1,6}\s+(\d[\d.]*\s+)?' || regexp_replace(btrim(p_name), '\W+', '\\W+', 'g') || '\W*$' as heading,
            '^\s*([\w@*&<>,\[\]().:]+\s+){0,6}(function\*?|class|interface|type|enum|struct|union|trait|impl|def|fn|func|fun|sub|procedure|'
              'module|namespace|object|record|protocol|extension|macro|package|table|view|trigger|index|defp?|defmodule)\s+'
              '(if\s+not\s+exists\s+)?(\([^)]*\)\s*)?([\w.]+[.:]+)?"?' || s.name || '(?![\w$])' as defined,
            '^\s*((export|default|public|private|protected|internal|static|async|get|set|override|final|abstract|readonly|virtual|inline|extern|'
              'const|let|var|val|local|pub|unsafe|declare)\s+)*([\w<>\[\],.*&:?]+\s+[*&]*)?[#*"''.\[]*' || s.name
              || '["''\]]*\s*(<[^>]*>\s*)?([:=](?!=)|\([^;]*$|\(\)\s*\{|\{|$)' as assigned) e
   cross join lateral (
     select r.n, char_length(substring(r.line from '^\s*')) as indent,
            case when left(r.line, 1) = '#' and r.line ~* e.heading then 1
                 when strpos(r.line, p_name) = 0 then null
                 when left(r.line, 1000) ~ e.defined then 2
                 when left(r.line, 1000) ~ e.assigned then 3 end as rank
       from unnest(p_lines) with ordinality as r(line, n)) l
   where s.name <> '' and l.rank is not null
   order by l.rank, l.indent, l.n
   limit 1;
$$;

comment on function _definition_line(text[], text) is 'The first line that looks like the definition of a name in one of the usual languages, or like a heading; null: none.';

create or replace function _definition_length(p_lines text[])
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with line as (
    select l.n, l.line, char_length(substring(l.line from '^\s*')) as indent,
           substring(p_lines[1] from '^(#{1,6})\s') as heading,
           char_length(substring(p_lines[1] from '^\s*')) as outer_indent,
           -- In dollar-quoted text, such as the body of an SQL function, indentation means nothing.
           sum(regexp_count(l.line, '\$\w*\$')) over (order by l.n) % 2 = 1 as is_quoted
      from unnest(p_lines) with ordinality as l(line, n)
  )
  select greatest(1, (
    select max(b.n) from line b
     where b.n < coalesce((
             select min(e.n) from line e
              where e.n > 1 and e.line ~ '\S' and not e.is_quoted
                and case
                  when e.heading is not null then char_length(substring(e.line from '^(#{1,6})\s')) <= char_length(e.heading)
                  else e.indent < e.outer_indent
                       or e.indent = e.outer_indent
                          and e.line !~ '^\s*([)}\]{]|\$\w*\$|(as|begin|language|returns|end|else|elif|catch|except|finally|rescue)\M)'
                end), 2147483647)
       and b.line ~ '\S'))::integer;
$$;

comment on function _definition_length(text[]) is 'How many lines the definition or section has that begins with the first of these, as their indentation or headings tell.';
