-- Decides whether an item may end, by its check and consolidate commands.

create or replace function _finish(p_item work_items, p_focus foci, p_config jsonb, p_turn_id uuid, p_outcome jsonb)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_run hook_runs := _hook(p_item, p_focus, p_config, 'check', p_turn_id);
begin
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, p_config, v_run, jsonb_build_object('outcome', p_outcome));
  elsif v_run.status = 'failed' then
    if p_turn_id is not null and (select count(*) from hook_runs where focus_id = p_focus.id and hook = 'check' and status = 'failed') = 1 then
      return null;
    end if;
    v_item := _focus_end(p_item, 'failed', case when p_turn_id is null then 'retry' else 'failed' end,
      format('the check (%s) %s', _one_line(v_run.command, 100), v_run.error),
      p_outcome || jsonb_build_object('error', 'the check failed', 'check', v_run.output));
    return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
  end if;
  v_run := _hook(p_item, p_focus, p_config, 'consolidate');
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, p_config, v_run, jsonb_build_object(
      'outcome', p_outcome,
      'ledger', (select jsonb_agg(jsonb_build_object('seq', l.seq, 'entry_type', l.entry_type, 'content', l.content) order by l.seq)
                   from ledger_read(p_item.id, null, 500) l),
      'children', (select jsonb_agg(jsonb_build_object(
                            'work_item_id', c.id, 'work_type', c.work_type, 'state', c.state, 'outcome', c.outcome_data) order by c.created_at)
                     from work_items c where c.parent_id = p_item.id)));
  elsif v_run.status = 'failed' then
    p_outcome := p_outcome || jsonb_build_object('consolidate_error', v_run.error);
  elsif v_run.output ~ '\S' then
    p_outcome := p_outcome || jsonb_build_object('consolidated', coalesce(_try_json(v_run.output), to_jsonb(v_run.output)));
  end if;
  v_item := _focus_end(p_item, 'completed', 'completed', null, p_outcome);
  return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
end
$$;

comment on function _finish(work_items, foci, jsonb, uuid, jsonb) is
  'What follows when an agent says that the work is done: the faculty''s check, then its consolidate command ({kind: run_hook}), then the end of the item. The first time a check fails, the model is told and the work continues: null. The second time, the item fails.';
