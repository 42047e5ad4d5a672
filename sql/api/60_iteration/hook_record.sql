-- The output of a command that runs at a point of a focus: recorded once, and what follows from it.

create or replace function hook_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_hook_run_id uuid,
    p_result jsonb)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_config jsonb;
  v_run hook_runs;
  v_failure text;
  v_entry jsonb;
  v_schema jsonb := _result_schema_of(v_item);
  v_wrong jsonb;
begin
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  select * into v_run from hook_runs where id = p_hook_run_id and focus_id = v_focus.id;
  if not found then
    perform _raise_not_found('hook run of this focus', p_hook_run_id);
  end if;
  if v_run.completed_at is not null then
    return '{"kind": "recorded"}';
  end if;
  v_run := _hook_settle(v_run, p_result);
  v_config := _faculty_config(v_focus);
  v_failure := format('the %s command %s', v_run.hook, v_run.error);
  if v_schema is not null and v_run.hook = 'engage' then
    v_wrong := (select jsonb_agg(e) from _result_errors(v_schema, _hook_result(v_run)) e);
  end if;

  if v_run.status = 'failed' and (v_run.hook = 'engage' or v_config #>> array[v_run.hook, 'on_failure'] = 'fail') then
    v_item := _focus_end(v_item, 'failed', 'retry', v_failure, null);
  elsif v_run.hook = 'recover' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'dead', 'the recover command gave up: ' || _hook_said(v_run, 'give_up'), null);
  elsif v_run.hook = 'recover' and _hook_said(v_run, 'mode') = 'fresh' then
    update work_items w set ledger_epoch = ledger_count(w) where w.id = v_item.id;
  elsif v_run.hook = 'orient' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'failed', 'the orient command refused: ' || _hook_said(v_run, 'refuse'), null);
  elsif v_run.hook = 'engage' and v_run.status = 'refused' then
    v_item := _focus_end(v_item, 'failed', 'retry', _hook_said(v_run, 'fail'), null);
  elsif v_run.hook = 'engage' and v_wrong is not null then
    v_item := _result_unfit(v_item, 'retry', 'the engage command returned a result that does not fit its schema: ', v_wrong);
  elsif v_run.hook = 'engage' then
    begin
      for v_entry in select value from jsonb_array_elements(coalesce(_hook_said(v_run, 'entries')::jsonb, '[]')) loop
        perform ledger_append(v_item.id, v_entry ->> 'entry_type', v_entry ->> 'content', p_lease => p_lease);
      end loop;
    exception when sqlstate 'WL002' or sqlstate 'WL009' then
      v_item := _focus_end(v_item, 'failed', 'retry', 'the engage command returned an entry that cannot be recorded: ' || sqlerrm, null);
    end;
  elsif v_run.hook = 'before_model_call' then
    if v_run.status = 'refused' or (v_run.status = 'failed' and v_config #>> '{hooks,on_failure}' = 'refuse') then
      v_item := _pause_until_resumed(v_item, coalesce('the before_model_call hook refused: ' || _hook_said(v_run, 'refuse'), v_failure));
    elsif _hook_said(v_run, 'say') ~ '\S' then
      insert into messages (turn_id, sequence, role, source, content, context, metadata)
      values (v_run.turn_id, 850, 'user', 'engine', ('[' || _text_block(_hook_words(v_run.hook, _hook_said(v_run, 'say'))) || ']')::json,
              jsonb_build_object('hook_runs', jsonb_build_array(v_run.id)), '{"kind": "hook"}');
      perform _turn_sizes_renew(t) from turns t where t.id = v_run.turn_id;
    end if;
  end if;
  if not _is_driven(v_item.id) then
    return jsonb_build_object('kind', v_item.state, 'reason', v_item.state_reason);
  end if;
  return '{"kind": "recorded"}';
end
$$;

comment on function hook_record(uuid, uuid, uuid, jsonb) is
  'Reports the result of a command that iteration_begin() or iteration_finish() requested with {kind: run_hook}: p_result = {stdout, stderr, exit_code, signal, is_timed_out, timeout_seconds, is_truncated, error, duration_ms}. Returns {kind: recorded}: call the same stage again. If the command''s output (see docs/hooks.md) or the faculty''s on_failure ends or pauses the work, returns the item''s new state, {kind: paused | queued | failed | dead, reason}. Recording again changes nothing. Raises WL001, WL002, WL003, WL004.';
