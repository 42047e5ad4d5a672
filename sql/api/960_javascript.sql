-- What needs a JavaScript engine in the database. Where none is installed these stand in for the functions and say how to
-- get them; work-ledger javascript replaces them (plv8/build.ts makes their bodies), and nothing else depends on them.

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
    hint = 'create extension pljs (or plv8), then: work-ledger javascript. The command line and the TypeScript API do the same without one.';
end
$$;

comment on function _no_javascript(text) is 'Raises 0A000: the function is not installed.';

do $do$
declare
  v_function record;
begin
  for v_function in
    select * from (values
      ('json_schema_errors', 'p_schema jsonb, p_value jsonb', 'jsonb, jsonb', 'Why a value does not fit a JSON Schema (draft 2020-12): a list of texts, empty where it does. Needs work-ledger javascript, else raises 0A000.'),
      ('markdown_codeblocks', 'p_text text', 'text', 'The code blocks of a Markdown text: [{idx, language, content, filePath}]. Needs work-ledger javascript, else raises 0A000.'),
      ('markdown_file_references', 'p_text text', 'text', 'The files that a Markdown text names: [{filePath, lineStart, lineEnd}]. Needs work-ledger javascript, else raises 0A000.'),
      ('recorded_runs_parse', 'p_content text', 'text', 'The recorded runs in a file of another agent, the session first, then its subagents: a list of what session_import() takes. Needs work-ledger javascript, else raises 0A000.')) f(name, takes, types, says)
  loop
    -- One that was replaced already stays.
    if not exists (select from pg_proc p join pg_language l on l.oid = p.prolang where p.oid = to_regprocedure(format('%I(%s)', v_function.name, v_function.types)) and l.lanname in ('pljs', 'plv8')) then
      execute format('create or replace function %I(%s) returns jsonb language plpgsql immutable set search_path = pg_catalog, %s, pg_temp as $f$ begin return _no_javascript(%L); end $f$',
        v_function.name, v_function.takes, quote_ident(_ledger_schema()), v_function.name);
      execute format('comment on function %I(%s) is %L', v_function.name, v_function.types, v_function.says);
    end if;
  end loop;
end
$do$;

create or replace function session_import(p_format text, p_content text)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_runs jsonb := recorded_runs_parse(p_content);
begin
  if p_format <> v_runs #>> '{0,format}' then
    perform _raise_invalid(format('the content is of format %s, not %s', v_runs #>> '{0,format}', p_format));
  end if;
  return (select jsonb_agg(session_import((jsonb_build_object('sessionId', left(_content_hash(concat(r.value ->> 'prompt', r.value #> '{exchanges,0}')), 12)) || r.value)::json) order by r.n)
            from jsonb_array_elements(v_runs) with ordinality as r(value, n));
end
$$;

comment on function session_import(text, text) is
  'Stores the recorded runs in the content of a file, as work-ledger import does from the file: select session_import(''claude-code'', pg_read_file(''/tmp/session.jsonl'')). p_format: claude-code, codex, copilot, pi, mini-swe-agent, swe-agent, gemini-cli, atif; null: told by the content. Returns a list of what session_import(json) returns, the session first, then its subagents. Needs work-ledger javascript. Raises 0A000 without it, WL002.';
