-- Runs once, before an attempt's first request: the faculty's recover, orient and engage commands.

create or replace function _hooks_before_first_turn(p_item work_items, p_focus foci, p_config jsonb, p_lease uuid)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_run hook_runs;
begin
  if p_focus.attempt > 1 then
    v_run := _hook(p_item, p_focus, p_config, 'recover');
    if v_run.status = 'pending' then
      return _hook_order(p_item, p_focus, p_config, v_run, jsonb_build_object(
        'attempts', (select jsonb_agg(jsonb_build_object(
                         'attempt', f.attempt, 'outcome', f.outcome, 'error', f.error ->> 'message', 'iterations', f.iteration) order by f.attempt)
                       from foci f where f.work_item_id = p_item.id and f.attempt < p_focus.attempt),
        'ledger', (select jsonb_agg(jsonb_build_object('seq', l.seq, 'entry_type', l.entry_type, 'content', l.content) order by l.seq)
                     from ledger_read(p_item.id, null, 500) l)));
    end if;
  end if;
  v_run := _hook(p_item, p_focus, p_config, 'orient');
  if v_run.status = 'pending' then
    return _hook_order(p_item, p_focus, p_config, v_run);
  end if;
  if p_config #>> '{engage,mode}' = 'external' then
    v_run := _hook(p_item, p_focus, p_config, 'engage');
    if v_run.status = 'pending' then
      return _hook_order(p_item, p_focus, p_config, v_run, jsonb_build_object(
        'context', (_orient_text(p_item, p_focus, p_config)).said, 'lease', p_lease)
        || (select coalesce(jsonb_object_agg('result_schema', s), '{}') from _result_schema_of(p_item) s where s is not null));
    end if;
    return _finish(p_item, p_focus, p_config, null, jsonb_strip_nulls(jsonb_build_object(
      'summary', coalesce(_hook_said(v_run, 'summary'), '(no summary)'), 'evidence', _hook_said(v_run, 'evidence')::jsonb))
      || (select coalesce(jsonb_object_agg('result', r), '{}') from _hook_result(v_run) r where r is not null));
  end if;
  return null;
end
$$;

comment on function _hooks_before_first_turn(work_items, foci, jsonb, uuid) is
  'The next thing to do before an attempt''s first request: run the faculty''s recover or orient command or, with engage.mode = "external", the command that does the work; or, when that has ended, the end of the item. Null: nothing more.';
