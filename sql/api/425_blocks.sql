-- Blocks: the turns between two steps. What a block says is fixed by rows that never change, so that any request can be
-- rebuilt: the steps in the ledger, the calls beside them.

create or replace function _boundary(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when not exists (select from work_ledger l join turns t on t.work_item_id = l.work_item_id
                             where t.id = p_turn_id and l.turn_id = t.id and l.entry_type = 'step') then null
           when exists (select from tool_calls where turn_id = p_turn_id and tool_name <> 'ledger_append') then 'before'
           else 'after'
         end;
$$;

comment on function _boundary(uuid) is
  'Where a turn closes a block: after, when its steps came alone or beside other ledger entries; before, when they rode with other calls, whose results the model has yet to see: then the turn''s own exchange opens the next block; null, when it recorded no step. Several steps of one turn close one block.';

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

create or replace function _exchange_chars(p_turn_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select sum(char_length(content::text)) from messages where turn_id = p_turn_id and role = 'assistant'), 0)::integer
       + coalesce((select sum(char_length(result::text)) from tool_calls where turn_id = p_turn_id and parent_call_id is null), 0)::integer;
$$;

comment on function _exchange_chars(uuid) is 'Characters that a turn''s exchange takes in a request.';

create or replace function _tokens(p_chars bigint, p_model text)
  returns integer
  language sql
  immutable
  parallel safe
  return ceil(p_chars * case
    when p_model ~* '(sonnet|opus|fable|mythos|haiku)-5' then 0.43
    when p_model ~* 'claude' then 0.34
    when p_model ~* 'gemini' then 0.29
    else 0.25
  end)::integer;

comment on function _tokens(bigint, text) is
  'Tokens of so many characters, by the model''s family: 0.43 for Claude 5, 0.34 for Claude 4, 0.29 for Gemini, 0.25 for others (measured over 72,000 pairs of calls; characters / 4 is wrong by up to 40 % for Claude).';

create or replace function _block_stub(p_turns turns[], p_after_seq integer, p_block integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws(E'\n',
    -- A riding step stands in the turn after its block: that turn was asked while the block was open.
    (select string_agg(format('[completed step %s: %s]', p_block, _indent(l.content, '  ')), E'\n' order by l.seq)
       from unnest(p_turns) t
       join work_ledger l on l.work_item_id = t.work_item_id and l.seq > p_after_seq and l.turn_id = t.id
      where t.block = p_block and l.entry_type = 'step'),
    (select string_agg(format('- %s: %s', l.entry_type, _indent(l.content, '  ')), E'\n' order by l.seq)
       from unnest(p_turns) t
       join work_ledger l on l.work_item_id = t.work_item_id and l.seq > p_after_seq and l.turn_id = t.id
      where _block_of(t) = p_block and l.entry_type in ('finding', 'decision', 'error')));
$$;

comment on function _block_stub(turns[], integer, integer) is 'What stands for a closed block: its steps, then a line for each finding, decision and error that it recorded. p_turns: turns that it may lie in, its closing turn included; p_after_seq: a ledger entry that is older than the block.';

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
