-- The journal: everything that happened to a work item, in order, in the sixteen types of the journal's design. A view,
-- because all but what journal_log() stores stands elsewhere already.

create or replace function _journal_state(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_item.state in ('completed', 'failed', 'cancelled') then 'completed'
           when p_item.state = 'dead' then 'crashed'
           when p_item.state = 'paused' then 'paused'
           when p_item.state in ('claimed', 'running') and exists (select from foci f where f.id = p_item.focus_id and f.lease_expires_at <= _now()) then 'crashed'
           else 'active'
         end;
$$;

comment on function _journal_state(work_items) is 'active, paused, completed or crashed. Crashed is not a thing that somebody sets: a lease that nobody renews says so.';

create or replace function _plan_items(p_plan text)
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(_one_line(regexp_replace(line, '^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\])?\s*', ''), 400) order by n), '{}')
    from regexp_split_to_table(p_plan, '\n|;\s|,\s*then\s|\s(?=\d+[.)]\s)') with ordinality as l(line, n)
   where line ~ '\S' and line !~ '^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[xX]\]|✓|~~|done:)';
$$;

comment on function _plan_items(text) is 'What a plan still wants: its lines or numbered parts, without those that are ticked.';

create or replace view work_journal with (security_invoker = true) as
  select e.work_item_id, e.id as source_id, e.entry_type, e.created_at, e.rank, e.content, e.importance,
         ceil(char_length(e.content::text) / 4.0)::integer as token_estimate, e.entry_type || '/' || e.id || coalesce('/' || nullif((e.rank % 1 * 1000)::integer, 0), '') as entry_id
    from (
      select f.work_item_id, f.id, case when f.attempt = 1 then 'session_start' else 'recovery' end as entry_type, f.created_at, 0 as rank,
             case when f.attempt = 1 then jsonb_strip_nulls(jsonb_build_object('type', 'session_start', 'originalPrompt', w.description, 'selectedModel', c.config #>> '{engage,model}', 'selectedPersona', f.faculty))
                  else jsonb_build_object('type', 'recovery', 'attempt', f.attempt, 'after', (select b.outcome from foci b where b.work_item_id = f.work_item_id and b.attempt = f.attempt - 1), 'mode', c.config #>> '{recover,mode}') end as content,
             case when f.attempt = 1 then 'critical' else 'high' end as importance
        from foci f join work_items w on w.id = f.work_item_id join faculties c on c.content_hash = f.faculty_hash
      union all
      select w.id, w.id, 'session_start', w.created_at, 0, jsonb_build_object('type', 'session_start', 'originalPrompt', w.description, 'selectedModel', coalesce(w.params ->> 'selectedModel', 'unknown')), 'critical'
        from work_items w where w.focus_id is null and w.attempts = 0
      union all
      select t.work_item_id, m.id, 'thinking', m.created_at, 2,
             jsonb_build_object('type', 'thinking', 'reasoning', left((select string_agg(coalesce(b ->> 'thinking', b ->> 'text'), E'\n') from json_array_elements(m.content) b where b ->> 'type' in ('thinking', 'text')), 4000)), 'low'
        from turns t join messages m on m.turn_id = t.id
       where m.role = 'assistant' and exists (select from json_array_elements(m.content) b where b ->> 'type' = 'thinking' or b ->> 'text' ~ '\S')
      union all
      select k.work_item_id, k.id, 'tool_request', k.created_at, 3,
             jsonb_build_object('type', 'tool_request', 'toolName', k.tool_name, 'toolInput', _jsonb_of(k.input), 'riskLevel', coalesce((select a.risk from abilities a where a.tool_name = k.tool_name), 'moderate')), 'normal'
        from tool_calls k where k.tool_name <> 'ledger_append'
      union all
      select k.work_item_id, k.id, case a.decision when 'approved' then 'tool_approved' else 'tool_rejected' end, a.decided_at, 4,
             jsonb_strip_nulls(jsonb_build_object('type', case a.decision when 'approved' then 'tool_approved' else 'tool_rejected' end, 'toolName', k.tool_name, 'decidedBy', a.decided_by, 'reason', coalesce(a.reason, nullif(a.decision, 'approved')))), 'high'
        from tool_calls k join approvals a on a.tool_call_id = k.id where a.decision is not null
      union all
      select k.work_item_id, k.id, 'tool_result', k.completed_at, 5,
             jsonb_strip_nulls(jsonb_build_object('type', 'tool_result', 'toolName', k.tool_name, 'success', not k.is_error, 'output', left(_result_text(k.result), 2000),
               'truncated', char_length(_result_text(k.result)) > 2000 or k.artifact_hash is not null, 'errorMessage', case when k.is_error then left(_result_text(k.result), 500) end)),
             case when k.is_error then 'high' else 'low' end
        from tool_calls k where k.completed_at is not null and k.tool_name <> 'ledger_append'
      union all
      select k.work_item_id, k.id, 'code_generated', k.created_at, 3,
             jsonb_build_object('type', 'code_generated', 'language', 'python', 'code', left(k.input ->> 'code', 8000), 'purpose', 'execute_code'), 'normal'
        from tool_calls k where k.tool_name = 'execute_code' and k.input ->> 'code' is not null
      union all
      select x.work_item_id, k.id, case x.action when 'read' then 'file_read' else 'file_written' end, k.completed_at, 6 + x.ordinal / 1000.0,
             jsonb_strip_nulls(jsonb_build_object('type', case x.action when 'read' then 'file_read' else 'file_written' end, 'filePath', x.target, 'operation', x.action,
               'contentPreview', left(coalesce(w.written, _result_text(k.result)), 200), 'linesAffected', regexp_count(coalesce(w.written, ''), E'\n') + 1)),
             case x.action when 'read' then 'low' else 'normal' end
        from touches x join tool_calls k on k.id = x.tool_call_id cross join lateral (select _text_written(_jsonb_of(k.input)) as written) w
       where x.kind = 'path' and x.action <> 'search' and k.status = 'completed'
      union all
      select l.work_item_id, l.id, case l.entry_type when 'decision' then 'decision' when 'error' then 'error' when 'step' then 'summary' else 'thinking' end, l.created_at, 7,
             case l.entry_type
               when 'decision' then coalesce(l.data, '{}') || jsonb_build_object('type', 'decision', 'question', coalesce(l.data ->> 'question', ''), 'chosenOption', coalesce(l.data ->> 'chosenOption', l.content), 'reasoning', l.content)
               when 'error' then coalesce(l.data, '{}') || jsonb_build_object('type', 'error', 'errorType', coalesce(l.data ->> 'errorType', 'agent'), 'message', l.content, 'recoverable', true)
               when 'step' then jsonb_build_object('type', 'summary', 'periodCovered', jsonb_build_object('start', _ms(l.created_at), 'end', _ms(l.created_at)), 'accomplishments', jsonb_build_array(l.content), 'currentStatus', 'a step was done', 'nextSteps', '[]'::jsonb)
               when 'plan' then jsonb_build_object('type', 'thinking', 'reasoning', 'plan', 'planSteps', to_jsonb(_plan_items(l.content)))
               else jsonb_build_object('type', 'thinking', 'reasoning', l.content) end,
             case l.entry_type when 'note' then 'normal' else 'high' end
        from work_ledger l
      union all
      select f.work_item_id, f.id, 'error', f.ended_at, 8,
             jsonb_build_object('type', 'error', 'errorType', coalesce(f.error ->> 'class', f.outcome), 'message', coalesce(f.error ->> 'message', f.outcome), 'recoverable', w.state not in ('failed', 'dead')), 'critical'
        from foci f join work_items w on w.id = f.work_item_id where f.outcome in ('failed', 'crashed')
      union all
      select c.work_item_id, c.id, 'checkpoint', c.created_at, 9,
             jsonb_build_object('type', 'checkpoint', 'checkpointId', c.id, 'summary', c.summary,
               'completedTasks', (select coalesce(jsonb_agg(l.content order by l.seq), '[]') from work_ledger l where l.work_item_id = c.work_item_id and l.entry_type = 'step' and l.seq <= c.ledger_seq), 'pendingTasks', c.pending_actions), 'critical'
        from work_checkpoints c
      union all
      select i.work_item_id, i.id, 'user_feedback', i.created_at, 10, jsonb_build_object('type', 'user_feedback', 'message', i.content, 'isInterrupt', i.is_interrupt), 'high'
        from inbox i where i.kind = 'message'
      union all
      -- In a recorded session people speak in the conversation itself; what they asked first is where it starts.
      select t.work_item_id, m.id, 'user_feedback', m.created_at, 10, jsonb_build_object('type', 'user_feedback', 'message', _result_text(m.content), 'isInterrupt', false), 'high'
        from turns t join messages m on m.turn_id = t.id
       where m.role = 'user' and m.source = 'human' and t.external_id is not null
         and (t.parent_turn_id is not null or exists (select from messages f where f.turn_id = t.id and f.role = 'user' and f.source = 'human' and f.sequence < m.sequence))
      union all
      select c.work_item_id, c.turn_id, 'summary', c.created_at, 11,
             jsonb_build_object('type', 'summary', 'periodCovered', jsonb_build_object('start', _ms((select w.created_at from work_items w where w.id = c.work_item_id)), 'end', _ms(c.created_at)),
               'accomplishments', '[]'::jsonb, 'currentStatus', format('the context was compacted (%s): %s tokens became %s', c.compaction_type, c.tokens_before, c.tokens_after), 'nextSteps', '[]'::jsonb), 'high'
        from compactions c where c.is_applied
      union all
      select w.id, w.id, 'session_end', w.resolved_at, 12,
             jsonb_strip_nulls(jsonb_build_object('type', 'session_end', 'status', w.state, 'summary', coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error', w.state_reason))), 'critical'
        from work_items w where w.resolved_at is not null
      union all
      select j.work_item_id, j.id, j.entry_type, j.created_at, 13, j.content || jsonb_build_object('type', j.entry_type), j.importance
        from journal_entries j where j.deleted_at is null
    ) e(work_item_id, id, entry_type, created_at, rank, content, importance);
comment on view work_journal is
  'The journal of work items: session_start, thinking, tool_request, tool_approved, tool_rejected, tool_result, code_generated, file_read, file_written, decision, error, recovery, checkpoint, user_feedback, summary, session_end, in order of (created_at, rank, entry_id); journal_read() numbers them. Outputs are cut at 2,000 characters; the whole is in tool_calls and artifacts.';

create or replace view work_sessions with (security_invoker = true) as
  select w.id, coalesce(w.params ->> 'conversationId', w.root_id::text) as conversation_id, w.description as original_prompt, _journal_state(w) as status,
         w.created_at, greatest(w.resolved_at, w.started_at, w.created_at) as updated_at, w.resolved_at as completed_at,
         (select coalesce(sum(j.token_estimate), 0) from work_journal j where j.work_item_id = w.id)::integer as token_estimate,
         (select count(*) from work_journal j where j.work_item_id = w.id)::integer as entry_count
    from work_items w;
comment on view work_sessions is 'Work items as the journal''s sessions: active, paused, completed or crashed, how many entries, how many tokens they would take.';

create or replace function journal_read(
    p_work_item_id uuid,
    p_since timestamptz default '-infinity',
    p_limit integer default null,
    p_importance text[] default null)
  returns table (sequence_num bigint, entry_id text, entry_type text, created_at timestamptz, content jsonb, token_estimate integer, importance text)
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit < 0 then
    perform _raise_invalid(format('a limit is 0 or more, not %s', p_limit));
  end if;
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select n.sequence_num, n.entry_id, n.entry_type, n.created_at, n.content, n.token_estimate, n.importance
      from (select row_number() over (order by j.created_at, j.rank, j.entry_id) as sequence_num, j.*
              from work_journal j where j.work_item_id = p_work_item_id) n
     where n.created_at >= p_since and (p_importance is null or n.importance = any (p_importance))
     order by n.sequence_num
     limit p_limit;
end
$$;

comment on function journal_read(uuid, timestamptz, integer, text[]) is
  'The journal of a work item in order, numbered from 1; from a time on, the first p_limit, of some importance (low, normal, high, critical), where given. What commits late may number later entries anew: entry_id is what stays. Raises WL001, WL002.';
