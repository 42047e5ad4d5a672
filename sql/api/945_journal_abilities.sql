-- What an agent outside the loop asks for, as abilities: an MCP client, psql, a faculty that names them.

create or replace function _ability_awareness_digest(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _digest_fenced('What else is going on', awareness_digest(_ability_work_item()));
$$;

comment on function _ability_awareness_digest(jsonb) is 'Ability awareness_digest.';

create or replace function _ability_checkpoint_create(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format(E'Checkpoint %s: %s\nOpen: %s', c.id, c.summary, coalesce((select string_agg(a, '; ') from jsonb_array_elements_text(c.pending_actions) a), 'nothing'))
    from checkpoint_create(_ability_work_item()) c;
$$;

comment on function _ability_checkpoint_create(jsonb) is 'Ability checkpoint_create.';

create or replace function _ability_resumption_context(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select export_for_resumption(_ability_work_item(), coalesce((p_input ->> 'target_tokens')::numeric, 4000)::integer);
$$;

comment on function _ability_resumption_context(jsonb) is 'Ability resumption_context.';
