-- Detects an agent that repeats the same calls with the same results: it is told so, and then paused.

create or replace function _stalled(p_focus foci, p_turn_id uuid, p_limit integer)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_limit = 0 or p_focus.round_count < p_limit then
    return null;
  end if;
  -- An agent that polls running children is not stuck: they will end.
  if exists (select from tool_calls where turn_id = p_turn_id and tool_name = 'check_child_work')
    and exists (select from work_items where parent_id = p_focus.work_item_id and resolved_at is null) then
    return null;
  end if;
  return format('stalled: %s iterations in a row had the same calls with the same results (%s), and nothing was recorded',
    p_focus.round_count, _called(p_turn_id));
end
$$;

comment on function _stalled(foci, uuid, integer) is 'Why an item is paused after a turn: the same calls had the same results p_limit times in a row (the faculty''s stall_limit). Null: it is not paused.';

create or replace function _stall_words(p_focus foci, p_head turns, p_limit integer)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_limit = 0 or p_focus.round_count < 3 then
    return null;
  end if;
  return format('[engine] You made the same call with the same result %s times in a row: %s. Repeating it will not change that. ',
                p_focus.round_count, _called(p_head.id))
           || case when exists (select from tool_calls where turn_id = p_head.id and tool_name = 'check_child_work')
                   then 'To wait for children, call await_child_work, or do something else in the meantime.'
                   else format('Do something else, or record what blocks you with ledger_append; '
                     'after %s times without an entry the work pauses until a person resumes it.', p_limit) end;
end
$$;

comment on function _stall_words(foci, turns, integer) is 'What the model is told from the third time on that the same calls had the same results; null before, and if stall_limit is 0.';

create or replace function _round_hash(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select md5(string_agg(k.hash, ',' order by k.hash))
    from (select distinct md5(concat_ws(E'\n', tool_name, input::text, is_error::text, regexp_replace(result::text, '</?data-[0-9a-f]{12}>', '', 'g'))) as hash
            from tool_calls
           where turn_id = p_turn_id and parent_call_id is null) k
   where not exists (select from tool_calls
                      where turn_id = p_turn_id and (
                        _is_wait(tool_name) and wait_ends_at is not null or (tool_name = 'ledger_append' and status = 'completed')));
$$;

comment on function _round_hash(uuid) is
  'Hash of a turn''s calls and results, whatever their order and random markers; null if it made no call, or one that means progress: an entry in the ledger, a wait.';

create or replace function _called(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _one_line(string_agg(format('%s %s', tool_name, _one_line(input::text, 100)), ', ' order by ordinal), 300)
    from tool_calls
   where turn_id = p_turn_id and parent_call_id is null;
$$;

comment on function _called(uuid) is 'The calls of a turn on one line, shortened.';
