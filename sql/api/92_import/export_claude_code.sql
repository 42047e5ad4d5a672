-- Writes a session as Claude Code stores its own: a chain of records, one for each block of a response, each result and each message.

create or replace function _export_claude_code(p_pieces export_piece[], p_session uuid, p_cwd text)
  returns table (n bigint, record json)
  language sql
  stable
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with piece as (
    -- A message with images is one record; blocks of a response and results have their own.
    select p.*, case when p.role = 'user' and p.kind <> 'result' then -p.part else p.n end as unit
      from unnest(p_pieces) p
  ), unit as (
    select u.unit, min(u.n) as n, min(u.role) as role, min(u.kind) as kind, (array_agg(u.turn_id))[1] as turn_id, min(u.external_id) as external_id,
           min(u.model) as model, min(u.at) as at, bool_and(u.is_by_people) as is_by_people, json_agg(u.block order by u.n) as blocks
      from piece u
     group by u.unit
  ), named as (
    -- An exchange that came from Claude Code keeps its id, so that it is shared if it is imported again.
    select u.*, coalesce(
             case when u.external_id ~ '^claude-code:[0-9a-f-]{36}$' and row_number() over (partition by u.external_id order by u.n) = 1
                    then substr(u.external_id, 13)::uuid end,
             _export_id('claude-code', p_session || ' ' || u.n)) as uuid
      from unit u
  )
  select u.n, _export_claude_record(u.role, u.blocks, u.is_by_people or u.kind = 'result', u.model, replace(u.turn_id::text, '-', ''),
      lead(u.role) over w is distinct from 'assistant' and u.kind <> 'call' and u.role = 'assistant', json_build_object(
    'parentUuid', lag(u.uuid) over w, 'isSidechain', false, 'userType', 'external', 'cwd', coalesce(p_cwd, '/'), 'sessionId', p_session, 'version', '2.1.197',
    'gitBranch', '', 'type', u.role, 'uuid', u.uuid, 'timestamp', _export_at(u.at)))
    from named u
  window w as (order by u.n);
$$;

comment on function _export_claude_code(export_piece[], uuid, text) is 'The records of a Claude Code session that says these pieces.';

create or replace function _export_claude_record(
    p_role text, p_blocks json, p_is_by_people boolean, p_model text, p_turn text, p_is_end boolean, p_head json)
  returns json
  language sql
  stable
  parallel safe
  return (left(p_head::text, -1)
    || case when p_role = 'user' and not p_is_by_people then ', "isMeta": true' else '' end
    || ', "message": ' || case p_role
      when 'user' then json_build_object('role', 'user', 'content',
        case when json_array_length(p_blocks) = 1 and p_blocks #>> '{0,type}' = 'text' then p_blocks #> '{0,text}' else p_blocks end)
      else json_build_object('id', 'msg_' || p_turn, 'type', 'message', 'role', 'assistant', 'model', coalesce(p_model, 'unknown'), 'content', p_blocks,
        'stop_reason', case when p_is_end then 'end_turn' else 'tool_use' end, 'stop_sequence', null,
        -- What it cost is in the ledger, and would be counted twice if it were here as well.
        'usage', json_build_object('input_tokens', 0, 'cache_creation_input_tokens', 0, 'cache_read_input_tokens', 0, 'output_tokens', 0)) end::text
    || '}')::json;

comment on function _export_claude_record(text, json, boolean, text, text, boolean, json) is 'One record of a Claude Code session: p_head with its message.';
