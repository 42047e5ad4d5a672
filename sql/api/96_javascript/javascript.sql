-- Functions that need a JavaScript engine in the database. Until one is installed, the functions named _js_ are stand-ins that say how to get them;
-- "work-ledger install --javascript" replaces them (plv8/build.ts generates their bodies). Nothing else depends on them.

create or replace function _no_javascript(p_function text)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using
    errcode = 'feature_not_supported',
    message = format('%s() needs a JavaScript engine in the database', p_function),
    hint = 'Run create extension pljs (or plv8), then work-ledger install --javascript. The command line and the TypeScript API do the same without one.';
end
$$;

comment on function _no_javascript(text) is 'Raises 0A000: the function is not installed.';

do $do$
declare
  v_function record;
begin
  for v_function in
    select * from (values
      ('json_schema_errors', 'p_schema text, p_value text', 'text, text'), ('markdown_codeblocks', 'p_text text', 'text'),
      ('markdown_file_references', 'p_text text', 'text'), ('recorded_runs_parse', 'p_content text', 'text')) f(name, takes, types)
  loop
    -- Leave functions that were already replaced.
    if not exists (
      select from pg_proc p join pg_language l on l.oid = p.prolang
       where p.oid = to_regprocedure(format('_js_%s(%s)', v_function.name, v_function.types)) and l.lanname in ('pljs', 'plv8')) then
      execute format('create or replace function _js_%s(%s) returns jsonb language plpgsql immutable '
        'set search_path = pg_catalog, %s, pg_temp as $f$ begin return _no_javascript(%L); end $f$',
        v_function.name, v_function.takes, quote_ident(_ledger_schema()), v_function.name);
      execute format('comment on function _js_%s(%s) is %L', v_function.name, v_function.types, v_function.name || '() in JavaScript: {value} or {error}.');
    end if;
  end loop;
end
$do$;

create or replace function _js_text(p_what text, p_text text, p_max_chars integer)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_text is null then
    perform _raise_invalid(format('%s is missing', p_what));
  elsif char_length(p_text) > p_max_chars then
    perform _raise_invalid(
      format('%s has %s characters; at most %s are allowed', p_what, char_length(p_text), p_max_chars),
      'No timeout can stop JavaScript in a database. The command line and the TypeScript API have no such limit.');
  end if;
  return p_text;
end
$$;

comment on function _js_text(text, text, integer) is 'Checks the length of a text for JavaScript, which no timeout can stop, and returns it. Raises WL002.';

create or replace function _js_answer(p_answer jsonb)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_answer ? 'error' then
    perform _raise_invalid(p_answer ->> 'error');
  end if;
  return p_answer -> 'value';
end
$$;

comment on function _js_answer(jsonb) is 'The value that JavaScript returned. Raises WL002 with its error, if it returned one.';

create or replace function json_schema_errors(p_schema jsonb, p_value jsonb)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _js_answer(_js_json_schema_errors(_js_text('the schema', p_schema::text, 1000000), _js_text('the value', p_value::text, 10000000)));
$$;

comment on function json_schema_errors(jsonb, jsonb) is
  'Why a value does not fit a JSON Schema (draft 2020-12, or draft 7 if $schema says so): a list of strings, each naming the place in the value; empty if it fits. Refused are schemas that refer to other documents ($ref) or take more than about a second. format is not checked. At most 1,000,000 characters of schema, 10,000,000 of value. Needs "work-ledger install --javascript". Raises 0A000 without it, WL002.';

create or replace function markdown_codeblocks(p_text text)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _js_answer(_js_markdown_codeblocks(_js_text('the text', p_text, 1000000)));
$$;

comment on function markdown_codeblocks(text) is
  'The code blocks of a Markdown text of at most 1,000,000 characters: [{idx, language, content, filePath}]. Needs "work-ledger install --javascript". Raises 0A000 without it, WL002 (too long, or nested too deeply).';

create or replace function markdown_file_references(p_text text)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _js_answer(_js_markdown_file_references(_js_text('the text', p_text, 1000000)));
$$;

comment on function markdown_file_references(text) is
  'The files that a Markdown text of at most 1,000,000 characters names: [{filePath, lineStart, lineEnd}]. Needs "work-ledger install --javascript". Raises 0A000 without it, WL002 (too long, or nested too deeply).';

create or replace function recorded_runs_parse(p_content text)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _js_answer(_js_recorded_runs_parse(_js_text('the content', p_content, 100000000)));
$$;

comment on function recorded_runs_parse(text) is
  'The recorded runs in the content of another agent''s file, at most 100,000,000 characters: a list of arguments for session_import(), the session first, then its subagents. Needs "work-ledger install --javascript". Raises 0A000 without it, WL002 (too long, or an unknown format).';
