-- Records a request that ended without an answer, since its turn does not show that.

create or replace function _request_unanswered(
    p_turn turns, p_ended_at timestamptz, p_class text, p_status integer default null, p_request_id text default null)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into model_calls (turn_id, attempt, model, started_at, ended_at, error_class, status, request_id)
  select p_turn.id, p_turn.call_count, (select model from turn_configs where content_hash = p_turn.config_hash), p_turn.started_at,
         p_ended_at, p_class, p_status, p_request_id
   where p_turn.call_count > 0
  on conflict (turn_id, attempt) do update
    set ended_at = excluded.ended_at, error_class = excluded.error_class, status = excluded.status, request_id = excluded.request_id
  where model_calls.ended_at is null;
$$;

comment on function _request_unanswered(turns, timestamptz, text, integer, text) is
  'Records that the newest request of a turn ended without an answer, if it is running. A request that was sent with its turn has no row of its own before that.';
