-- Checkpoints: the progress of a work item, derived from what it recorded.

create or replace function checkpoint_create(p_work_item_id uuid, p_trigger text default 'manual')
  returns work_checkpoints
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _check_submitter(p_work_item_id);
  perform _hold_off_erasing(p_work_item_id);
  return _checkpoint_create(p_work_item_id, p_trigger);
end
$$;

comment on function checkpoint_create(uuid, text) is
  'Stores the current state of a work item and returns the work_checkpoints row: summary, key decisions, current state, files modified, pending actions, all derived from its ledger and calls. Checkpoints are also made automatically after 50 journal entries, 100,000 new tokens, 15 minutes or a closed block (a step, or a summary that another program logged), whichever comes first. p_trigger: manual, or automatic if a program makes it on its own. Raises WL001, WL002, WL003 (erased), 42501.';

create or replace function _checkpoint_create(p_work_item_id uuid, p_trigger text)
  returns work_checkpoints
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_now record;
  v_turn turns;
  v_turns uuid[];
  v_last work_checkpoints := checkpoint_latest(p_work_item_id);
  v_at timestamptz := _now();
  v_size record;
  v_checkpoint work_checkpoints;
begin
  perform _check_word('a reason for a checkpoint', p_trigger, '{manual,automatic,block,entries,tokens,time}');
  select * into v_item from work_items where id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  if v_item.focus_id is not null then
    select t.* into v_turn from foci f join sessions s on s.label = f.session_label join turns t on t.id = s.head_turn_id where f.id = v_item.focus_id;
  end if;
  if v_last.turn_id is not null then
    v_turns := array(select s.turn_id from _turns_since(v_turn, v_last.turn_id) s); -- earlier files are in the last checkpoint
  end if;
  select * into v_now from _progress_of(v_item, v_turns);
  select * into v_size from _journal_size(v_item.id, coalesce(v_last.created_at, '-infinity'), v_at);
  insert into work_checkpoints (
    work_item_id, trigger, turn_id, ledger_seq, entry_count, token_estimate, created_at, completed_tasks, summary, key_decisions,
    current_state, files_modified, pending_actions)
  values (
    v_item.id, p_trigger, v_turn.id, ledger_count(v_item), coalesce(v_last.entry_count, 0) + v_size.entries,
    coalesce(v_last.token_estimate, 0) + v_size.tokens, v_at,
    (select coalesce(jsonb_agg(_one_line(s, 300) order by n desc), '[]') from unnest(v_now.steps[:20]) with ordinality as u(s, n)),
    case cardinality(v_now.steps) when 0 then 'No step is done yet.' else
      format('%s steps done. ', cardinality(v_now.steps))
      || (select string_agg(_one_line(s, 300), '; ' order by n desc) from unnest(v_now.steps[:5]) with ordinality as u(s, n)) end,
    to_jsonb(v_now.decisions[:20]), _state_line(v_item, v_now.steps, v_now.asked),
    (select coalesce(jsonb_agg(f order by n), '[]')
       from (select f, min(n) as n
               from (select f, n from unnest(v_now.files) with ordinality as new(f, n)
                     union all
                     select f, 1000000 + n from jsonb_array_elements_text(v_last.files_modified) with ordinality as old(f, n)) u
              group by f
              order by min(n)
              limit 200) w),
    to_jsonb(coalesce(v_now.plan, '{}') || v_now.uncertain || v_now.children))
  returning * into v_checkpoint;
  return v_checkpoint;
end
$$;

comment on function _checkpoint_create(uuid, text) is 'Writes a checkpoint, without checking whether the caller may.';

create or replace function checkpoint_latest(p_work_item_id uuid)
  returns work_checkpoints
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c from work_checkpoints c where c.work_item_id = p_work_item_id order by c.created_at desc, c.id desc limit 1;
$$;

comment on function checkpoint_latest(uuid) is 'The newest checkpoint of a work item; null: there is none.';

create or replace function _checkpoint_due(p_item work_items, p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_last work_checkpoints := checkpoint_latest(p_item.id);
  v_trigger text;
begin
  select _checkpoint_trigger(
           exists (select from work_ledger
                    where work_item_id = p_item.id and seq > coalesce(v_last.ledger_seq, 0) and entry_type = 'step' and not is_inherited),
           n.tokens, coalesce(v_last.created_at, p_item.started_at), n.entries + n.ledger_count - coalesce(v_last.ledger_seq, 0))
    into v_trigger
    from (
      select -- what was written and what was sent for the first time, without what a request repeats
             coalesce(sum(greatest(
               t.output_tokens, case when p.turn_type is distinct from 'compaction' then t.total_tokens - coalesce(p.total_tokens, 0) end)), 0) as tokens,
             -- one for each turn, two for each call (request and result)
             count(*) + 2 * coalesce(sum((select count(*) from tool_calls k where k.turn_id = t.id and k.tool_name <> 'ledger_append')), 0)::bigint as entries,
             (select f.ledger_count from fences f where f.work_item_id = p_item.id) as ledger_count
        from _turns_since(p_turn, v_last.turn_id) s
        join turns t on t.id = s.turn_id
        left join turns p on p.id = t.parent_turn_id) n;
  if v_trigger is not null then
    perform _checkpoint_create(p_item.id, v_trigger);
  end if;
end
$$;

comment on function _checkpoint_due(work_items, turns) is 'Makes a checkpoint after an iteration, if one is due.';

create or replace function _checkpoint_trigger(p_is_block boolean, p_tokens bigint, p_since timestamptz, p_entries bigint)
  returns text
  language sql
  volatile
  return case
    when p_is_block then 'block'
    when p_tokens >= 100000 then 'tokens'
    when p_since < _now() - interval '15 minutes' then 'time'
    when p_entries >= 50 then 'entries'
  end;

comment on function _checkpoint_trigger(boolean, bigint, timestamptz, bigint) is 'Why a checkpoint is due, from what came since the last one: a closed block, new tokens, the time, journal entries. Null: none is due.';

create or replace function _journal_written(p_work_item_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_last work_checkpoints;
  v_new record;
  v_trigger text;
begin
  select * into v_item from work_items where id = p_work_item_id;
  if v_item.work_type <> 'journal' or v_item.resolved_at is not null then
    return;
  end if;
  -- If several programs write at the same moment, only one checks whether a checkpoint is due.
  if not _lock_try('checkpoints', v_item.id::text) then
    return;
  end if;
  v_last := checkpoint_latest(v_item.id);
  select bool_or(e.is_block) as is_block, sum(e.chars) as chars, count(*) as entries
    into v_new
    from (select j.entry_type = 'summary' and not j.content ? 'model' as is_block, char_length(j.content::text) as chars from journal_entries j
           where j.work_item_id = v_item.id and j.created_at > coalesce(v_last.created_at, '-infinity') and j.deleted_at is null
          union all
          select l.entry_type = 'step' and not l.is_inherited, char_length(l.content)
            from work_ledger l
           where l.work_item_id = v_item.id and l.seq > coalesce(v_last.ledger_seq, 0)) e;
  v_trigger := _checkpoint_trigger(v_new.is_block, _tokens(v_new.chars, _item_model(v_item.id)), coalesce(v_last.created_at, v_item.created_at), v_new.entries);
  if v_trigger is not null then
    perform _checkpoint_create(v_item.id, v_trigger);
  end if;
end
$$;

comment on function _journal_written(uuid) is 'After an entry in the journal or ledger of a session that another program drives, which the caller counts as a heartbeat: makes a checkpoint if one is due by the same rules as for other work items.';

create or replace function _turns_since(p_turn turns, p_until_turn_id uuid)
  returns table (turn_id uuid)
  language sql
  stable
  rows 50
begin atomic
  with recursive back(id, parent_turn_id, n) as (
    select t.id, t.parent_turn_id, 1 from turns t where t.id = p_turn.id and t.id is distinct from p_until_turn_id
    union all
    select t.id, t.parent_turn_id, b.n + 1 from back b join turns t on t.id = b.parent_turn_id where t.id is distinct from p_until_turn_id and b.n < 1000
  )
  select id from back;
end;

comment on function _turns_since(turns, uuid) is 'A turn and its ancestors, back to (not including) p_until_turn_id; at most 1,000.';
