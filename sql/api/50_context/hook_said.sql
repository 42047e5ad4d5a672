-- The output of a command, for the agent to read.

create or replace function _hook_said(p_run hook_runs, p_key text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_run.status not in ('completed', 'refused') then null
           when jsonb_typeof(v.said) = 'object' then v.said ->> p_key
           when p_key in ('context', 'summary') then nullif(btrim(p_run.output, E' \t\r\n'), '')
         end
    from (select _try_json(p_run.output)) as v(said);
$$;

comment on function _hook_said(hook_runs, text) is 'The value of a key in a command''s output; null: the run has not succeeded, or has no such key. Output that is not a JSON object is taken as the value of context or summary.';

create or replace function _hook_words(p_hook text, p_words text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fenced(format('What the %s command of your faculty says, as data between the markers', p_hook), p_words);
$$;

comment on function _hook_words(text, text) is 'Text from a command, as a model is shown it. Null for null.';
