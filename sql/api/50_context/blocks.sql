-- Blocks: the turns between two steps. Which turns make a block follows from rows that never change (the steps in the ledger and the calls
-- next to them), so that any request can be rebuilt.

create or replace function _boundaries(p_turn_id uuid, p_work_item_id uuid)
  returns table (boundary text)
  language sql
  stable
  rows 1
begin atomic
  select case
         -- Looked up by turn alone (offset 0), since a turn recorded few steps and an item may have many.
         when not exists (select from (select work_item_id from work_ledger where turn_id = p_turn_id and entry_type = 'step' offset 0) s
                           where s.work_item_id = p_work_item_id) then null
         when exists (select from tool_calls where turn_id = p_turn_id and (tool_name <> 'ledger_append' or status <> 'completed')) then 'before'
         else 'after' end;
end;

comment on function _boundaries(uuid, uuid) is '_boundary() of a turn of an item, inlined in the query that asks for it.';

create or replace function _boundary(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select b.boundary from turns t cross join lateral _boundaries(t.id, t.work_item_id) b where t.id = p_turn_id;
$$;

comment on function _boundary(uuid) is
  'Where a turn closes a block. after: its steps came alone or only with other ledger entries. before: they came with other calls, or with entries that were refused, whose results the model has yet to see; so the turn''s own exchange opens the next block. Null: it recorded no step. Several steps of one turn close one block.';

create or replace function _exchange_blocks(p_turn_id uuid, p_work_item_id uuid, p_block integer)
  returns table (block integer)
  language sql
  stable
  rows 1
begin atomic
  select p_block + case b.boundary when 'before' then 1 else 0 end from _boundaries(p_turn_id, p_work_item_id) b offset 0; -- evaluated once
end;

comment on function _exchange_blocks(uuid, uuid, integer) is '_block_of() a turn, inlined in the query that asks it of several.';

create or replace function _block_of(p_turn turns)
  returns integer
  language sql
  stable
  return (select b.block from _exchange_blocks(p_turn.id, p_turn.work_item_id, p_turn.block) b);

comment on function _block_of(turns) is 'The block of a turn''s exchange (its response and the results of its calls).';

create or replace function _next_block(p_head turns, p_boundary text)
  returns integer
  language sql
  immutable
  parallel safe
  return p_head.block + case when p_boundary is null then 0 else 1 end;

comment on function _next_block(turns, text) is 'The block that is open after turn p_head, whose _boundary() is p_boundary.';

create or replace function _first_block(p_focus_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select _block_of(t) + 1 from _asking_turn(_earlier_head(p_focus_id)) t where t.id is not null), 1);
$$;

comment on function _first_block(uuid) is 'The first block of a focus without a turn: numbered on from the previous attempt, so that a number means one block of a work item.';

create or replace function _shown_turns(p_head turns, p_cut elisions)
  returns turns[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive shown(turn) as (
    select h from turns h where h.id = p_head.id and h.id is distinct from p_cut.last_turn_id
    union all
    select p from shown s join turns p on p.id = (s.turn).parent_turn_id where p.id is distinct from p_cut.last_turn_id
  )
  select coalesce(array_agg(s.turn order by (s.turn).depth), '{}') from shown s where (s.turn).turn_type = 'normal';
$$;

comment on function _shown_turns(turns, elisions) is 'The turns up to p_head that are shown verbatim after a cut (null: all), oldest first. Turns that are left out are not walked, so the cost does not grow with history.';

create or replace function _turns_of_block(p_head_id uuid, p_block integer)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain(turn, age) as (
    select t, 1 from turns t where t.id = p_head_id
    union all
    select t, c.age + 1 from chain c join turns t on t.id = coalesce((c.turn).parent_turn_id, _earlier_head((c.turn).focus_id))
     -- The walk ends at a turn of an earlier block, whose ancestors are in earlier blocks as well. A compaction does not end it: the block stored in its turn
     -- may have been closed afterwards, by a step that the engine drafted.
     where (c.turn).block >= p_block or (c.turn).turn_type = 'compaction'
  )
  select coalesce(array_agg((c.turn).id order by c.age desc), '{}')
    from chain c
   where (c.turn).turn_type = 'normal' and (c.turn).block between p_block - 1 and p_block and _block_of(c.turn) = p_block;
$$;

comment on function _turns_of_block(uuid, integer) is 'The turns of a block, oldest first, in the conversation that ends with p_head_id and in earlier attempts.';

create or replace function _newest_turn(p_work_item_id uuid)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(_head_of(f), _earlier_head(f.id), w.fork_turn_id)
    from work_items w
    left join foci f on f.id = (select n.id from foci n where n.work_item_id = w.id order by n.attempt desc limit 1)
   where w.id = p_work_item_id;
$$;

comment on function _newest_turn(uuid) is 'The newest turn of a work item''s conversation; for a fork that has not run yet, the turn where it was forked. Null: there is none yet.';

create or replace function _earlier_head(p_focus_id uuid)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select h.turn_id
    from foci f
    join foci e on e.work_item_id = f.work_item_id and e.attempt < f.attempt
    cross join lateral _head_of(e) h(turn_id)
   where f.id = p_focus_id and h.turn_id is not null
   order by e.attempt desc
   limit 1;
$$;

comment on function _earlier_head(uuid) is 'The newest turn of the attempt before a focus (of the last one that had any); null: there was none.';

create or replace function _asking_turn(p_turn_id uuid)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  select * into v_turn from turns where id = p_turn_id;
  while v_turn.turn_type = 'compaction' loop
    select * into v_turn from turns where id = v_turn.parent_turn_id;
  end loop;
  return v_turn;
end
$$;

comment on function _asking_turn(uuid) is 'The turn or, if it is a compaction, its nearest ancestor that is not.';
