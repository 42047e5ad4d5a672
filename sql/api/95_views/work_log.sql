-- The history of a work item: what its agent was told, said, called and entered, its attempts, and how it ended. Filtered by an item, each view reads only
-- what belongs to it.

create or replace view v_attempts with (security_invoker = true) as
  select f.work_item_id, f.id as focus_id, f.attempt, f.faculty, f.session_label, f.iteration, f.outcome,
         concat_ws(': ', f.error ->> 'class', f.error ->> 'message') as error, f.crash_count, f.created_at, f.ended_at
    from foci f;
comment on view v_attempts is 'Each attempt at a work item: who made it, how far it got, and how it ended.';
comment on column v_attempts.error is 'Why it failed, as class: message; empty: it did not.';

create or replace view v_turns with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, t.focus_id, f.attempt, f.session_label, t.iteration, t.turn_type, t.depth, z.call_number,
         t.status, t.provider, t.model,
         coalesce(t.input_tokens, 0) + coalesce(t.cached_input_tokens, 0) + coalesce(t.cache_write_tokens, 0) as input_tokens,
         t.cached_input_tokens, t.output_tokens, t.total_tokens, _turn_cost(t) as cost, t.call_count, t.stop_reason,
         concat_ws(': ', t.error ->> 'class', t.error ->> 'message') as error, t.duration_ms, t.started_at, t.completed_at,
         _response_text(t.id) as said,
         (select jsonb_agg(jsonb_build_object('tool', k.tool_name, 'status', k.status) order by k.ordinal)
            from tool_calls k where k.turn_id = t.id and k.parent_call_id is null) as calls
    from turns t
    left join foci f on f.id = t.focus_id and f.work_item_id = t.work_item_id -- always true, but lets foci be found by their item
    left join turn_sizes z on z.turn_id = t.id;
comment on view v_turns is 'Each turn: one request to a model, what it cost, and what was said and called.';
comment on column v_turns.attempt is 'The attempt that it belongs to; null: none, because it was recorded or imported.';
comment on column v_turns.status is 'pending, streaming, completed or failed; see turns.status.';
comment on column v_turns.session_label is 'The session that it was made in.';
comment on column v_turns.call_number is 'The number of the request in its conversation, from 1; null: it was stored without a request.';
comment on column v_turns.input_tokens is 'Tokens of the request, whether or not they were read from the provider''s cache.';
comment on column v_turns.cost is 'At today''s prices; null without prices.';
comment on column v_turns.error is 'Why it failed, or why the request had to be sent again, as class: message; empty: neither.';
comment on column v_turns.said is 'The text of the response, without thinking and calls; null: it has none.';
comment on column v_turns.calls is '[{tool, status}] of the calls in the response, in order; null: none.';

create or replace view v_calls with (security_invoker = true) as
  select k.id as tool_call_id, k.work_item_id, k.turn_id, t.iteration, k.parent_call_id, k.ordinal, k.tool_name, k.effect, k.status, k.attempts,
         _call_input(k) as input, _result_text(k.result) as result, coalesce(a.content, _result_text(k.result)) as whole_result,
         coalesce(char_length(a.content), char_length(_result_text(k.result)), 0) as result_chars, k.artifact_hash,
         extract(epoch from k.completed_at - k.started_at)::double precision as seconds, k.created_at, k.started_at, k.completed_at
    from tool_calls k
    left join turns t on t.id = k.turn_id
    left join artifacts a on a.content_hash = k.artifact_hash;
comment on view v_calls is 'Each call of a tool: its input, how it ended, and what it returned. Calls made by code of execute_code have that call as their parent.';
comment on column v_calls.parent_call_id is 'The call of execute_code whose code made it; null: the model did.';
comment on column v_calls.input is 'The arguments that it runs with: the model''s, or as a before_tool hook rewrote them.';
comment on column v_calls.result is 'What the model was shown; null: the call is open.';
comment on column v_calls.whole_result is 'The full result, if it was too long for the model.';
comment on column v_calls.result_chars is 'Characters of the whole result.';
comment on column v_calls.seconds is 'How long it ran; null: it has not begun, or not ended.';

create or replace view v_failed_calls with (security_invoker = true) as
  select k.work_item_id, k.tool_name, x.says, count(*) as times, min(k.created_at) as first_at, max(k.created_at) as last_at
    from tool_calls k
    cross join lateral (select _one_line(_result_text(k.result), 300) as says) x
   where k.status = 'failed'
   group by k.work_item_id, k.tool_name, x.says;
comment on view v_failed_calls is 'The failed calls of each work item, grouped by tool and message. Most frequent first: select * from v_failed_calls where work_item_id = ''…'' order by times desc, first_at.';
comment on column v_failed_calls.says is 'What the call returned, in one line of at most 300 characters.';
comment on column v_failed_calls.times is 'How often it happened.';
comment on column v_failed_calls.first_at is 'When the first of them was made.';
comment on column v_failed_calls.last_at is 'When the last of them was made.';

create or replace view v_told with (security_invoker = true) as
  select t.work_item_id, t.id as turn_id, t.iteration, m.sequence, w.told_by, coalesce(i.person, i.source_work_item_id::text) as name, w.text,
         m.created_at as told_at, i.id as inbox_id
    from turns t
    join messages m on m.turn_id = t.id and m.role = 'user'
    join work_items o on o.id = t.work_item_id
    left join inbox i on i.id = (m.metadata ->> 'inbox_id')::uuid
    cross join lateral (select _told_by(m) as told_by, coalesce(i.content, _unwrapped(_result_text(m.content), o.work_type)) as text) w
   where t.turn_type = 'normal' and w.told_by is not null and w.text ~ '\S';
comment on view v_told is
  'What people and other agents said to each agent while it worked, as its requests delivered it; for a session of another program, also its first prompt. Not included: the task of submitted work, results of calls and of children, and what the client of such a session added. In order: select * from v_told where work_item_id = ''…'' order by turn_id, sequence.';
comment on column v_told.turn_id is 'The turn whose request delivered it.';
comment on column v_told.sequence is 'Its position among what that request delivered.';
comment on column v_told.told_by is 'person, or agent (another one).';
comment on column v_told.name is 'The person, or the work item of the other agent; null: not known.';
comment on column v_told.text is 'What was said, without what the client of a recorded session wrapped around it.';
comment on column v_told.told_at is 'When the agent was told.';
comment on column v_told.inbox_id is 'The message in the inbox, see v_inbox; null: it came with a recorded session.';

create or replace view v_work_log with (security_invoker = true) as
  select d.work_item_id, d.told_at as happened_at, -1 as rank, d.sequence as ordinal, 'told' as kind, d.iteration, d.told_by as name, d.text, d.name as status,
         null::double precision as seconds, null as error
    from v_told d
    join work_items w on w.id = d.work_item_id
   where d.inbox_id is null or d.inbox_id is distinct from w.continued_with -- that message is shown where the item continues
  union all
  select t.work_item_id, t.completed_at, 0, 0, 'said', t.iteration, null, x.text, null, null, null
    from turns t
    cross join lateral (select _response_text(t.id) as text) x
   where t.status = 'completed' and t.turn_type = 'normal' and x.text is not null
  union all
  select k.work_item_id, coalesce(k.completed_at, k.started_at, k.created_at), 1, k.ordinal, 'call', t.iteration, k.tool_name, k.input::text, k.status,
         extract(epoch from k.completed_at - k.started_at)::double precision, case when k.status = 'failed' then _result_text(k.result) end
    from tool_calls k
    left join turns t on t.id = k.turn_id
   where k.tool_name <> 'ledger_append'
  union all
  select l.work_item_id, l.created_at, 2, l.seq, 'entry', null, l.entry_type, l.content, null, null, null
    from work_ledger l
   -- Entries inherited from the previous item are in that item's log.
   where not l.is_inherited or not exists (select from work_items w where w.id = l.work_item_id and w.continues_id is not null)
  union all
  -- The last attempt ended the way the item did.
  select f.work_item_id, f.ended_at, 3, f.attempt, 'attempt', f.iteration, f.faculty, format('attempt %s', f.attempt), f.outcome,
         extract(epoch from f.ended_at - f.created_at)::double precision, f.error ->> 'message'
    from foci f
    join work_items w on w.id = f.work_item_id
   where f.outcome in ('failed', 'crashed') and (w.resolved_at is null or f.attempt < w.attempts)
  union all
  select w.id, w.resolved_at, 4, 0, 'end', null, null, coalesce(w.outcome_data ->> 'summary', w.state_reason, w.outcome_data ->> 'error', ''), w.state,
         extract(epoch from w.resolved_at - w.created_at)::double precision, w.outcome_data ->> 'error'
    from work_items w
   where w.resolved_at is not null
  union all
  select w.id, w.created_at, -2, 0, 'goes on', null, case e.state when 'completed' then 'continue' else 'retry' end,
         coalesce((select i.content from inbox i where i.id = w.continued_with), ''), w.continued_by, null, e.id::text
    from work_items w
    join work_items e on e.id = w.continues_id
  union all
  select w.continues_id, w.created_at, 5, 0, 'next', null, case e.state when 'completed' then 'continue' else 'retry' end, w.id::text,
         w.continued_by, null, null
    from work_items w
    join work_items e on e.id = w.continues_id;
comment on view v_work_log is
  'The story of each work item: what people and other agents told its agent (kind told), what the agent said (said), the tools that it called (call), what was entered in its ledger (entry), attempts that failed or crashed (attempt), how it ended and why (end), and, in a conversation of several items, the item it continues (goes on) and the one that continues it (next). In order: select * from v_work_log where work_item_id = ''…'' order by happened_at, rank, ordinal.';
comment on column v_work_log.happened_at is 'When it happened: for a call, when it ended or, if it is open, began.';
comment on column v_work_log.rank is 'Orders what happened at the same time: -2 goes on, -1 told, 0 said, 1 call, 2 entry, 3 attempt, 4 end, 5 next.';
comment on column v_work_log.ordinal is 'Orders rows of the same rank: the position of a call or of what was told, the number of an entry or attempt.';
comment on column v_work_log.iteration is 'The iteration of the attempt, from 1; for an attempt, how many it finished; null: it belongs to none.';
comment on column v_work_log.kind is 'goes on, told, said, call, entry, attempt, end or next.';
comment on column v_work_log.name is 'For a call its tool; for an entry its type; for an attempt its faculty; for told, person or agent; for goes on and next, continue or retry.';
comment on column v_work_log.text is 'For told, said and entry, the words; for a call its input; for end the summary, or the reason; for goes on the message; for next the id of that item.';
comment on column v_work_log.status is 'For a call its status; for an attempt its outcome; for end the state; for told, which person or work item told it; for goes on and next, who continued it.';
comment on column v_work_log.seconds is 'How long the call ran, the attempt took, or the item was open.';
comment on column v_work_log.error is 'What a failed call returned, or why the attempt or item failed; for goes on, the item that it continues.';

create or replace view v_inbox with (security_invoker = true) as
  select i.work_item_id, i.id as inbox_id, i.kind, i.source_work_item_id, i.content, i.is_interrupt, i.consumed_at is null as is_waiting, t.iteration,
         i.created_at, i.consumed_at
    from inbox i
    left join turns t on t.id = i.turn_id;
comment on view v_inbox is 'Messages to agents from people and other agents, and results of children delivered to agents, with the iteration in which each was delivered.';
comment on column v_inbox.inbox_id is 'The message or result.';
comment on column v_inbox.is_waiting is 'True: the agent has not been told yet.';
comment on column v_inbox.iteration is 'The iteration whose request delivered it.';

create or replace view v_journal_logged with (security_invoker = true) as
  select id as entry_id, work_item_id, entry_type, importance, content, created_at, deleted_at is not null as is_deleted, deleted_at, delete_reason
    from journal_entries;
comment on view v_journal_logged is 'Entries that programs wrote with journal_log(), including deleted ones. work_journal has them together with everything else that happened.';
comment on column v_journal_logged.entry_id is 'The entry, for journal_entry_delete().';
comment on column v_journal_logged.is_deleted is 'True: journal_entry_delete() removed its content.';

create or replace view v_findings_told with (security_invoker = true) as
  select l.work_item_id, l.seq, l.content, l.created_at,
         (select jsonb_agg(jsonb_build_object('id', coalesce(f.work_item_id, a.focus_id), 'faculty', f.faculty, 'iteration', t.iteration) order by a.shown_at)
            from awareness_shown a left join foci f on f.id = a.focus_id left join turns t on t.id = a.turn_id
           where a.work_item_id = l.work_item_id and a.seq = l.seq) as readers,
         _project_now(l.project) as project, coalesce(l.project, '') as stored_project, l.is_inherited
    from work_ledger l
   where l.entry_type = 'finding';
comment on view v_findings_told is 'Each finding and the agents that were told of it. Newest first: select * from v_findings_told order by created_at desc limit 20.';
comment on column v_findings_told.seq is 'Its number in the ledger of the work item.';
comment on column v_findings_told.project is 'The project whose work found it, by its current name; null: none.';
comment on column v_findings_told.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';
comment on column v_findings_told.readers is '[{id, faculty, iteration}]: the work item whose agent was told, and when (faculty and iteration null: a session of another program); null: nobody was told.';
