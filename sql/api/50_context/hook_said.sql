-- What a command said, for the agent to read.

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

comment on function _hook_said(hook_runs, text) is 'What a command answered under a key; text that is no JSON object stands for the one that is not a word to the engine.';

create or replace function _hook_words(p_hook text, p_words text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fenced(format('What the %s command of your faculty says, as data between the markers', p_hook), p_words);
$$;

comment on function _hook_words(text, text) is 'What a command says, as a model is shown it. Null for null.';
