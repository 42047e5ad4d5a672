-- Blocks: the turns between two steps. What a block says is fixed by rows that never change, so that any request can be
-- rebuilt: the steps in the ledger, the calls beside them.
--
-- What walks the conversation goes from row to row through indexes, whatever the statistics say: a plan that was made
-- for a small table, or by a wrong guess at how far a recursion goes, would read ever more of a large one.

create or replace function _boundary(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select case
           when not exists (select from work_ledger l join turns t on t.work_item_id = l.work_item_id
                             where t.id = p_turn_id and l.turn_id = t.id and l.entry_type = 'step') then null
           when exists (select from tool_calls where turn_id = p_turn_id and (tool_name <> 'ledger_append' or status <> 'completed')) then 'before'
           else 'after'
         end;
$$;

comment on function _boundary(uuid) is
  'Where a turn closes a block: after, when its steps came alone or beside other ledger entries; before, when they rode with other calls or with entries that were refused, whose results the model has yet to see: then the turn''s own exchange opens the next block; null, when it recorded no step. Several steps of one turn close one block.';

create or replace function _block_of(p_turn turns)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_turn.block + case _boundary(p_turn.id) when 'before' then 1 else 0 end;
$$;

comment on function _block_of(turns) is 'The block that a turn''s exchange (its response and the results) belongs to.';

create or replace function _next_block(p_head turns)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_head.id is null then 1
              else p_head.block + case when _boundary(p_head.id) is null then 0 else 1 end
         end;
$$;

comment on function _next_block(turns) is 'The block that is open after a turn.';

create or replace function _results_chars(p_turn_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select coalesce(sum(_content_chars(result)), 0)::integer from tool_calls where turn_id = p_turn_id and parent_call_id is null;
$$;

comment on function _results_chars(uuid) is 'Characters that the results of a turn''s calls take in a request.';

create or replace function _exchange_chars(p_turn_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select coalesce((select sum(_content_chars(content)) from messages where turn_id = p_turn_id and role = 'assistant'), 0)::integer
       + _results_chars(p_turn_id);
$$;

comment on function _exchange_chars(uuid) is 'Characters that a turn''s exchange takes in a request.';

create or replace function _shown_turns(p_head turns, p_cut elisions)
  returns turns[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  with recursive shown(turn) as (
    select h from turns h where h.id = p_head.id and h.id is distinct from p_cut.last_turn_id
    union all
    select p from shown s join turns p on p.id = (s.turn).parent_turn_id where p.id is distinct from p_cut.last_turn_id
  )
  select coalesce(array_agg(s.turn order by (s.turn).depth), '{}') from shown s where (s.turn).turn_type = 'normal';
$$;

comment on function _shown_turns(turns, elisions) is 'The turns up to p_head that are shown verbatim behind a cut (or null), oldest first. What is cut off already is not walked, so the cost does not grow with history.';

create or replace function _result_text(p_result json)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case json_typeof(p_result)
           when 'array' then (
             select string_agg(coalesce(b.value ->> 'text', '[image]'), E'\n' order by b.n) from json_array_elements(p_result) with ordinality as b(value, n))
           else p_result #>> '{}'
         end;
$$;

comment on function _result_text(json) is 'The text of a result; an image is [image].';

create or replace function _block_stub(p_turns turns[], p_after_seq integer, p_block integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select concat_ws(E'\n',
    -- A riding step stands in the turn after its block: that turn was asked while the block was open.
    (select string_agg(format('[completed step %s: %s]', p_block, _indent(l.content, '  ')), E'\n' order by l.seq)
       from unnest(p_turns) t
       join work_ledger l on l.work_item_id = t.work_item_id and l.seq > p_after_seq and l.turn_id = t.id
      where t.block = p_block and l.entry_type = 'step'),
    (select string_agg(format('- you were told: %s', _indent(_result_text(m.content), '  ')), E'\n' order by t.depth, m.sequence)
       from unnest(p_turns) t
       join messages m on m.turn_id = t.id and m.role = 'user' and m.source <> 'engine'
      where _block_of(t) = p_block),
    (select string_agg(format('- %s: %s', l.entry_type, _indent(l.content, '  ')), E'\n' order by l.seq)
       from unnest(p_turns) t
       join work_ledger l on l.work_item_id = t.work_item_id and l.seq > p_after_seq and l.turn_id = t.id
      where _block_of(t) = p_block and l.entry_type in ('finding', 'decision', 'error')));
$$;

comment on function _block_stub(turns[], integer, integer) is 'What stands for a closed block: its steps, then a line for whatever a person or another agent said in it and for each finding, decision and error that it recorded. p_turns: turns that it may lie in, its closing turn included; p_after_seq: a ledger entry that is older than the block.';

create or replace function _without_thinking(p_content json)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(b.value::text, ',' order by b.n), '')
    from json_array_elements(p_content) with ordinality as b(value, n)
   where b.value ->> 'type' not in ('thinking', 'redacted_thinking');
$$;

comment on function _without_thinking(json) is 'The blocks of a message, commas between, without its thinking: a provider refuses thinking whose preceding messages were changed.';
