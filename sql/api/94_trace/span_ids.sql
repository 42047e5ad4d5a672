-- The ids of spans and traces: derived from the ids of rows, so that every process gives a span the same id, before and after it ends.

create or replace function _trace_id(p_root_id uuid)
  returns text
  language sql
  immutable
  parallel safe
  return replace(p_root_id::text, '-', '');

comment on function _trace_id(uuid) is 'The trace of a tree of work items: the id of its root.';

create or replace function _span_id(p_name text, p_row text)
  returns text
  language sql
  immutable
  parallel safe
  return left(_content_hash(p_name || ' ' || p_row), 16);

comment on function _span_id(text, text) is
  'The id of a span: cut from its name and the id of the row that it shows. Of work.item: the item; of work.execute: item and attempt, so that it is known before the attempt begins; of work.engage.iteration: focus and iteration; of gen_ai.chat: turn and attempt; of a call of a tool (call): the call.';

create or replace function _execute_span_id(p_work_item_id uuid, p_attempt integer)
  returns text
  language sql
  immutable
  parallel safe
  return _span_id('work.execute', p_work_item_id || '/' || p_attempt);

comment on function _execute_span_id(uuid, integer) is 'The id of the work.execute span of an attempt.';

create or replace function _iteration_span_id(p_focus_id uuid, p_iteration integer)
  returns text
  language sql
  immutable
  parallel safe
  return _span_id('work.engage.iteration', p_focus_id || '/' || p_iteration);

comment on function _iteration_span_id(uuid, integer) is 'The id of the work.engage.iteration span of an iteration.';

create or replace function _span_link(p_root_id uuid, p_span_id text, p_as text)
  returns jsonb
  language sql
  immutable
  parallel safe
  return jsonb_build_object('trace_id', _trace_id(p_root_id), 'span_id', p_span_id, 'attributes', jsonb_build_object('work.link', p_as));

comment on function _span_link(uuid, text, text) is 'A link to a span; p_as: what it is to the span that has the link.';

create or replace function _span_event(p_name text, p_at timestamptz, p_attributes jsonb)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'name', p_name, 'at', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'attributes', jsonb_strip_nulls(p_attributes))
   where p_at is not null;
$$;

comment on function _span_event(text, timestamptz, jsonb) is 'An event of a span; null without a time.';
