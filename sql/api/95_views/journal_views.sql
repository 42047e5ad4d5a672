-- The journal: everything that happened to a work item, in order, in the sixteen types of the journal's design. It is a view, because everything
-- except the entries of journal_log() is already stored elsewhere.

create or replace function _reasoning(p_content json)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(left(string_agg(coalesce(b ->> 'thinking', b ->> 'text'), E'\n'), 4000), '')
    from json_array_elements(p_content) b
   where b ->> 'type' in ('thinking', 'text') and (b ->> 'type' = 'thinking' or b ->> 'text' ~ '\S');
$$;

comment on function _reasoning(json) is 'The thinking and text of a response, at most 4,000 characters; null: it has none.';

-- Two views, so that counting a journal that only people and programs wrote to does not plan the other half.
create or replace view _journal_logged(work_item_id, source_id, entry_type, created_at, rank, content, importance) with (security_invoker = true) as
  select w.id, w.id, 'session_start', w.created_at, 0::numeric,
         jsonb_build_object(
           'type', 'session_start', 'originalPrompt', w.description,
           'selectedModel', coalesce(w.params ->> 'selectedModel', 'unknown')),
         'critical'
    from work_items w where w.focus_id is null and w.attempts = 0
  union all
  -- Keys in the data of an entry override those derived from its content.
  select l.work_item_id, l.id,
         case l.entry_type when 'decision' then 'decision' when 'error' then 'error' when 'step' then 'summary' else 'thinking' end,
         l.created_at, 7,
         case l.entry_type
           when 'decision' then jsonb_build_object('question', '', 'chosenOption', l.content, 'reasoning', l.content)
           when 'error' then jsonb_build_object('errorType', 'agent', 'message', l.content, 'recoverable', true)
           when 'step' then jsonb_build_object(
             'periodCovered', jsonb_build_object('start', _ms(l.created_at), 'end', _ms(l.created_at)),
             'accomplishments', jsonb_build_array(l.content), 'currentStatus', 'a step was done', 'nextSteps', '[]'::jsonb)
           when 'plan' then jsonb_build_object('reasoning', l.content, 'planSteps', to_jsonb(_plan_items(l.content)))
           else jsonb_build_object('reasoning', l.content) end
         || case when jsonb_typeof(l.data) = 'object' then jsonb_build_object('entry', l.content) || l.data else '{}' end
         || jsonb_build_object(
           'type',
           case l.entry_type when 'decision' then 'decision' when 'error' then 'error' when 'step' then 'summary' else 'thinking' end,
           'ledgerType', l.entry_type),
         case l.entry_type when 'note' then 'normal' else 'high' end
    from work_ledger l
  union all
  -- A step right after an error recovered from it.
  select l.work_item_id, l.id, 'recovery', l.created_at, 8, jsonb_build_object('type', 'recovery', 'message', l.content, 'fromError', b.content), 'normal'
    from work_ledger l
    cross join lateral (select p.entry_type, p.content
                          from work_ledger p
                         where p.work_item_id = l.work_item_id and p.seq < l.seq and p.entry_type in ('step', 'error')
                         order by p.seq desc
                         limit 1) b
   where l.entry_type = 'step' and b.entry_type = 'error'
  union all
  select c.work_item_id, c.id, 'checkpoint', c.created_at, 9,
         jsonb_build_object(
           'type', 'checkpoint', 'checkpointId', c.id, 'summary', c.summary, 'completedTasks', c.completed_tasks,
           'pendingTasks', c.pending_actions, 'manual', c.trigger = 'manual'),
         'critical'
    from work_checkpoints c
  union all
  select i.work_item_id, i.id, 'user_feedback', i.created_at, 10,
         jsonb_strip_nulls(jsonb_build_object('type', 'user_feedback', 'message', i.content, 'isInterrupt', i.is_interrupt, 'by', i.person)), 'high'
    from inbox i where i.kind = 'message'
  union all
  select w.id, w.id, 'session_end', w.resolved_at, 12,
         jsonb_strip_nulls(jsonb_build_object(
           'type', 'session_end', 'status', w.state,
           'summary', coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error', w.state_reason))),
         'critical'
    from work_items w where w.resolved_at is not null
  union all
  select j.work_item_id, j.id, j.entry_type, j.created_at, 13, j.content || jsonb_build_object('type', j.entry_type), j.importance
    from journal_entries j where j.deleted_at is null;
comment on view _journal_logged is 'The entries of work_journal that a work item has without an attempt or a turn: its beginning and its end, its ledger, its checkpoints, messages to it, what was logged.';
comment on column _journal_logged.source_id is 'As in work_journal.';
comment on column _journal_logged.entry_type is 'As in work_journal.';
comment on column _journal_logged.rank is 'As in work_journal.';
comment on column _journal_logged.content is 'As in work_journal.';
comment on column _journal_logged.importance is 'As in work_journal.';

create or replace view _journal_done(work_item_id, source_id, entry_type, created_at, rank, content, importance) with (security_invoker = true) as
  select f.work_item_id, f.id, 'session_start' as entry_type, f.created_at, 0 as rank,
         jsonb_strip_nulls(jsonb_build_object(
           'type', 'session_start', 'originalPrompt', w.description, 'selectedModel', c.config #>> '{engage,model}',
           'selectedPersona', f.faculty)) as content,
         'critical' as importance
    from foci f join work_items w on w.id = f.work_item_id join faculties c on c.content_hash = f.faculty_hash where f.attempt = 1
  union all
  select f.work_item_id, f.id, 'recovery', f.created_at, 0,
         jsonb_strip_nulls(jsonb_build_object(
           'type', 'recovery', 'message', format('attempt %s began after one that %s', f.attempt, b.outcome),
           'fromError', coalesce(b.error ->> 'message', b.outcome),
           'attempt', f.attempt, 'after', b.outcome, 'mode', c.config #>> '{recover,mode}')), 'high'
    from foci f join faculties c on c.content_hash = f.faculty_hash join foci b on b.work_item_id = f.work_item_id and b.attempt = f.attempt - 1
  union all
  -- A request that failed and was answered when it was sent again.
  select t.work_item_id, t.id, 'recovery', t.completed_at, 1,
         jsonb_build_object(
           'type', 'recovery', 'message', format('the model answered request %s', t.call_count),
           'fromError', concat_ws(': ', t.error ->> 'class', t.error ->> 'message')),
         'normal'
    from turns t where t.status = 'completed' and t.call_count > 1 and t.error ->> 'class' is not null
  union all
  select t.work_item_id, m.id, 'thinking', t.completed_at, 2, jsonb_build_object('type', 'thinking', 'reasoning', _reasoning(m.content)), 'low'
    from turns t join messages m on m.turn_id = t.id
   where m.role = 'assistant' and t.focus_id is not null and t.external_id is null and _reasoning(m.content) is not null
  union all
  -- Messages recorded or saved by other programs have their own times.
  select t.work_item_id, m.id, 'thinking', m.created_at, 2, jsonb_build_object('type', 'thinking', 'reasoning', _reasoning(m.content)), 'low'
    from turns t join messages m on m.turn_id = t.id
   where m.role = 'assistant' and (t.focus_id is null or t.external_id is not null) and _reasoning(m.content) is not null
  union all
  select k.work_item_id, k.id, 'tool_request', k.created_at, 3,
         jsonb_build_object(
           'type', 'tool_request', 'toolName', k.tool_name, 'toolInput', _jsonb_of(k.input),
           'riskLevel', coalesce((select a.risk from abilities a where a.tool_name = k.tool_name), 'moderate')),
         'normal'
    from tool_calls k where k.tool_name <> 'ledger_append'
  union all
  select a.work_item_id, k.id, case a.decision when 'approved' then 'tool_approved' else 'tool_rejected' end, a.decided_at, 4,
         jsonb_strip_nulls(jsonb_build_object(
           'type', case a.decision when 'approved' then 'tool_approved' else 'tool_rejected' end, 'toolName', k.tool_name,
           'decidedBy', coalesce(a.person, a.decided_by), 'reason', coalesce(a.reason, nullif(a.decision, 'approved')))),
         'high'
    from approvals a join tool_calls k on k.id = a.tool_call_id where a.decision is not null
  union all
  select k.work_item_id, k.id, 'tool_result', k.completed_at, 5,
         jsonb_strip_nulls(jsonb_build_object(
           'type', 'tool_result', 'toolName', k.tool_name, 'success', not k.is_error, 'output', left(r.said, 2000),
           'truncated', char_length(r.said) > 2000 or k.artifact_hash is not null, 'errorMessage', case when k.is_error then left(r.said, 500) end)),
         case when k.is_error then 'high' else 'low' end
    from tool_calls k
   cross join lateral (select _result_text(k.result) as said offset 0) r -- evaluated once
   where k.completed_at is not null and k.tool_name <> 'ledger_append'
  union all
  select k.work_item_id, k.id, 'code_generated', k.created_at, 3,
         jsonb_build_object('type', 'code_generated', 'language', 'python', 'code', left(k.input ->> 'code', 8000), 'purpose', 'execute_code'), 'normal'
    from tool_calls k where k.tool_name = 'execute_code' and k.input ->> 'code' is not null
  union all
  -- A patch to several files is one entry, under the first file.
  select k.work_item_id, k.id, 'code_generated', k.completed_at, 6 + x.ordinal / 1000.0,
         jsonb_build_object(
           'type', 'code_generated', 'language', lower(substring(x.target from '\.(\w+)$')), 'code', left(w.written, 8000),
           'purpose', k.tool_name, 'filePath', x.target),
         'normal'
    from tool_calls k join touches x on x.tool_call_id = k.id cross join lateral (select _text_written(_jsonb_of(k.input)) as written offset 0) w
   where k.status = 'completed' and x.kind = 'path' and x.action in ('create', 'modify') and w.written is not null
     and x.target ~ '\.\w+$' and x.target !~* '\.(md|txt|rst|log|csv)$'
     and not exists (select from touches y where y.tool_call_id = k.id and y.ordinal < x.ordinal and y.kind = 'path' and y.action in ('create', 'modify'))
  union all
  select k.work_item_id, k.id, case x.action when 'read' then 'file_read' else 'file_written' end, k.completed_at, 6 + x.ordinal / 1000.0,
         jsonb_strip_nulls(jsonb_build_object(
           'type', case x.action when 'read' then 'file_read' else 'file_written' end, 'filePath', x.target, 'operation', x.action,
           'contentPreview', left(coalesce(w.written, _result_text(k.result)), 200), 'linesAffected', regexp_count(w.written, E'\n') + 1)),
         case x.action when 'read' then 'low' else 'normal' end
    from tool_calls k
    join touches x on x.tool_call_id = k.id
    cross join lateral (select case when x.action in ('create', 'modify') then _text_written(_jsonb_of(k.input)) end as written) w
   where x.kind = 'path' and x.action <> 'search' and k.status = 'completed'
  union all
  select f.work_item_id, f.id, 'error', f.ended_at, 8,
         jsonb_build_object(
           'type', 'error', 'errorType', coalesce(f.error ->> 'class', f.outcome),
           'message', coalesce(f.error ->> 'message', f.outcome), 'recoverable', w.state not in ('failed', 'dead')),
         'critical'
    from foci f join work_items w on w.id = f.work_item_id where f.outcome in ('failed', 'crashed')
  union all
  -- In a recorded session, people's messages are part of the conversation itself; their first prompt is the session_start.
  select t.work_item_id, m.id, 'user_feedback', m.created_at, 10,
         jsonb_build_object('type', 'user_feedback', 'message', _result_text(m.content), 'isInterrupt', false), 'high'
    from turns t join messages m on m.turn_id = t.id
   where m.role = 'user' and m.source = 'human' and t.external_id is not null
     and (
       t.parent_turn_id is not null
       or exists (select from messages f where f.turn_id = t.id and f.role = 'user' and f.source = 'human' and f.sequence < m.sequence))
  union all
  select c.work_item_id, c.turn_id, 'summary', c.created_at, 11,
         jsonb_build_object(
           'type', 'summary',
           'periodCovered',
           jsonb_build_object(
             'start', _ms((select w.created_at from work_items w where w.id = c.work_item_id)), 'end', _ms(c.created_at)),
           'accomplishments', '[]'::jsonb,
           'currentStatus',
           format('the context was compacted (%s): %s tokens became %s', c.compaction_type, c.tokens_before, c.tokens_after),
           'nextSteps', '[]'::jsonb),
           'high'
    from compactions c where c.is_applied;
comment on view _journal_done is 'The other entries of work_journal: those of attempts, turns and calls.';
comment on column _journal_done.source_id is 'As in work_journal.';
comment on column _journal_done.entry_type is 'As in work_journal.';
comment on column _journal_done.rank is 'As in work_journal.';
comment on column _journal_done.content is 'As in work_journal.';
comment on column _journal_done.importance is 'As in work_journal.';

create or replace view work_journal with (security_invoker = true) as
  select e.work_item_id, e.entry_type || '/' || e.source_id || coalesce('/' || nullif((e.rank % 1 * 1000)::integer, 0), '') as id,
         e.source_id, e.entry_type, e.created_at, e.rank, e.content,
         e.importance, _tokens(char_length(e.content::text), _item_model(e.work_item_id)) as token_estimate
    from (select * from _journal_logged union all select * from _journal_done) e;
comment on view work_journal is
  'The journal of work items: session_start, thinking, tool_request, tool_approved, tool_rejected, tool_result, code_generated, file_read, file_written, decision, error, recovery, checkpoint, user_feedback, summary, session_end, ordered by (created_at, rank, id). journal_read() reads part of one. Outputs are cut at 2,000 characters; the whole is in tool_calls and artifacts. Entries from the ledger have their entry type in ledgerType and the keys of their data next to the others; if they have data, their text is also in entry.';
comment on column work_journal.id is 'Unique in the journal of the work item.';
comment on column work_journal.source_id is 'The row that the entry is made from.';
comment on column work_journal.entry_type is 'One of the types listed in the view''s comment.';
comment on column work_journal.rank is 'Order of entries at the same time.';
comment on column work_journal.content is 'A JSON object whose keys depend on the type.';
comment on column work_journal.importance is 'low, normal, high or critical; journal_cleanup() deletes by it.';
comment on column work_journal.token_estimate is 'Estimated tokens of the entry.';

create or replace view work_sessions with (security_invoker = true) as
  select w.id, coalesce(w.params ->> 'conversationId', w.root_id::text) as conversation_id, w.description as original_prompt, _journal_state(w) as status,
         w.created_at, greatest(w.resolved_at, w.started_at, w.created_at) as updated_at, w.resolved_at as completed_at,
         (coalesce(c.token_estimate, 0) + n.tokens)::integer as token_estimate, coalesce(c.entry_count, 0) + n.entries as entry_count
    from work_items w
    left join lateral (select * from work_checkpoints k where k.work_item_id = w.id order by k.created_at desc, k.id desc limit 1) c on true
    cross join lateral _journal_size(w.id, coalesce(c.created_at, '-infinity')) n;
comment on view work_sessions is 'Work items as sessions of the journal. status: active, paused, completed or crashed. entry_count and token_estimate: the counts of the newest checkpoint plus everything since.';
comment on column work_sessions.conversation_id is 'The key by which the client finds it, such as a directory.';
comment on column work_sessions.original_prompt is 'The task.';
comment on column work_sessions.status is 'active, paused, completed or crashed.';
comment on column work_sessions.token_estimate is 'From the newest checkpoint, plus everything since.';
comment on column work_sessions.entry_count is 'From the newest checkpoint, plus everything since.';
