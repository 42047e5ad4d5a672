-- Makes text from agents and tools safe to list: no text can imitate the structure around it.

create or replace function _indent(p_text text, p_prefix text)
  returns text
  language sql
  immutable
  parallel safe
  return regexp_replace(p_text, '\r\n|[\n\r\x0B\x0C\u0085\u2028\u2029]', E'\n' || p_prefix, 'g');

comment on function _indent(text, text) is 'The text with every line after the first prefixed, so that no line of it can be mistaken for a listed entry.';

create or replace function _is_blank(p_text text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_text !~ '[^\s\u001c-\u001f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]';

comment on function _is_blank(text) is 'Whether a text is nothing but white space. The API refuses a text block of it, whatever the locale of this database calls white space (\s).';

create or replace function _one_line(p_text text, p_max_chars integer)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_line text := _spaced(left(p_text, 4 * p_max_chars));
begin
  if char_length(v_line) <= p_max_chars and char_length(p_text) > 4 * p_max_chars then
    v_line := _spaced(p_text);
  end if;
  return case when char_length(v_line) > p_max_chars then left(v_line, p_max_chars - 1) || '…' else v_line end;
end
$$;

comment on function _one_line(text, integer) is 'The text on one line of at most p_max_chars: each run of white space, control and invisible characters becomes one space; longer text ends in an ellipsis.';

create or replace function _as_given(p_text text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(nullif(_one_line(p_text, 60), ''), '""');

comment on function _as_given(text) is 'What was given, for an error that refuses it: on one line, and "" where there is nothing to be seen.';

create or replace function _counted(p_count bigint, p_one text, p_more text)
  returns text
  language sql
  immutable
  parallel safe
  return concat(p_count, ' ', case p_count when 1 then p_one else p_more end);

comment on function _counted(bigint, text, text) is 'A number and what it counts: "1 item is", "2 items are".';

create or replace function _spaced(p_text text)
  returns text
  language sql
  immutable
  parallel safe
  -- Invisible characters (soft hyphen, joiners, directional marks, fillers including Hangul, variation selectors, tags) and no-break spaces,
  -- which only some servers treat as white space. A single space, as between words, does not match: replacing each with itself would take most of the time.
  return btrim(regexp_replace(
    p_text,
    ' ?(?:[^\S ]|[\x01-\x1F\x7F-\xA0\u00AD\u034F\u061C\u115F\u1160\u180B-\u180F'
    '\u2007\u200B-\u200F\u2028-\u202F\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\U000E0000-\U000E0FFF])'
    '[\s\x01-\x1F\x7F-\xA0\u00AD\u034F\u061C\u115F\u1160\u180B-\u180F'
    '\u2007\u200B-\u200F\u2028-\u202F\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\U000E0000-\U000E0FFF]*'
    '|  [\s\x01-\x1F\x7F-\xA0\u00AD\u034F\u061C\u115F\u1160\u180B-\u180F'
    '\u2007\u200B-\u200F\u2028-\u202F\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\U000E0000-\U000E0FFF]*',
    ' ', 'g'));

comment on function _spaced(text) is 'The text with each run of white space, control and invisible characters as one space, and none at its ends.';

create or replace function _fenced(p_says text, p_text text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format(E'%s:\n\n<%s>\n%s\n</%s>', p_says, v.marker, p_text, v.marker)
    from (select 'data-' || left(md5(gen_random_uuid()::text), 12)) as v(marker)
   where p_text is not null;
$$;

comment on function _fenced(text, text) is
  'Text of others (agents, commands, packets) as a model is shown it: p_says, the engine''s introduction, then the text between random markers that the text cannot contain. Null for null.';

create or replace function _content_hash(p_text text)
  returns text
  language sql
  immutable
  parallel safe
  return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');

comment on function _content_hash(text) is 'SHA-256 of a text in UTF-8, in hexadecimal.';

create or replace function _cap_text(p_text text, p_max_bytes integer)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_chars integer := char_length(p_text);
  v_keep integer;
  v_capped text;
begin
  if octet_length(p_text) <= p_max_bytes then
    return p_text;
  end if;
  v_keep := greatest(p_max_bytes * (v_chars::numeric / octet_length(p_text)) / 2 - 100, 0);
  loop
    v_capped := left(p_text, v_keep) || format(E'\n\n[engine: %s characters left out here]\n\n', v_chars - 2 * v_keep) || right(p_text, v_keep);
    exit when octet_length(v_capped) <= p_max_bytes or v_keep = 0;
    v_keep := v_keep * 9 / 10; -- head and tail have more bytes per character than the middle
  end loop;
  return v_capped;
end
$$;

comment on function _cap_text(text, integer) is 'The text shortened to about p_max_bytes: head and tail, and between them a note of how much was left out.';

create or replace function _list(p_items text[], p_max integer)
  returns text
  language sql
  immutable
  parallel safe
  return array_to_string(p_items[: p_max], ', ')
    || case when cardinality(p_items) > p_max then format(' and %s more', cardinality(p_items) - p_max) else '' end;

comment on function _list(text[], integer) is 'The items separated by commas; beyond p_max only their number. Null if there are none.';
