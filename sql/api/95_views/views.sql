-- Views for people that answer common questions about the ledger.

create or replace view v_streaming with (security_invoker = true) as
  select t.work_item_id, a.turn_id, a.iteration, a.thinking, a.said, a.updated_at
    from turns t
    cross join lateral work_activity(t.work_item_id, t.id) a
   where t.status = 'streaming' and a.turn_id = t.id;
comment on view v_streaming is 'Responses of watched work items that are arriving now; see ledger_watch() and work_activity().';
comment on column v_streaming.iteration is 'The iteration of the focus that the response belongs to, from 1.';
comment on column v_streaming.thinking is 'The part of the model''s thinking that has arrived.';
comment on column v_streaming.said is 'The part of its text that has arrived.';

create or replace view v_evidence with (security_invoker = true) as
  select w.id as work_item_id, e.named as evidence, f.tool_call_id, k.tool_name, k.is_error, f.artifact_hash
    from work_items w
    cross join lateral jsonb_array_elements_text(case jsonb_typeof(w.outcome_data -> 'evidence')
      when 'array' then w.outcome_data -> 'evidence'
      else '[]' end) as e(named)
    cross join lateral _evidence(w.id, e.named) as f
    left join tool_calls k on k.id = f.tool_call_id;
comment on view v_evidence is 'The evidence given for completed work, one row for each string: the tool call or artifact that it refers to; both null: free text.';
comment on column v_evidence.evidence is 'The string as it was given to work_complete().';
comment on column v_evidence.tool_call_id is 'The call that it refers to; null: none.';
comment on column v_evidence.artifact_hash is 'The artifact that it refers to; null: none.';

create or replace view v_children with (security_invoker = true) as
  select c.parent_id, c.id as work_item_id, c.work_type, c.description, c.state, c.priority, c.created_at, c.resolved_at,
         c.outcome_data ->> 'summary' as summary, i.turn_id is not null or i.tool_call_id is not null as is_delivered, c.spawn_tool_call_id
    from work_items c
    left join inbox i on i.source_work_item_id = c.id and i.kind = 'child_result'
   where c.parent_id is not null;
comment on view v_children is 'The children of each work item, their states, and whether their results were delivered to the parent''s agent.';
comment on column v_children.summary is 'The child''s result, or why it failed.';
comment on column v_children.is_delivered is 'True: the parent''s agent has been told.';

create or replace view v_ledger with (security_invoker = true) as
  select l.work_item_id, w.work_type, l.seq, l.entry_type, l.content, l.created_at, l.attempt, l.is_auto, l.trust,
         l.retracts, (select r.seq from work_ledger r where r.work_item_id = l.work_item_id and r.retracts = l.seq) as retracted_by,
         l.id as entry_id, l.turn_id, l.keep, l.is_inherited, coalesce(l.project, '') as stored_project
    from work_ledger l
    join work_items w on w.id = l.work_item_id;
comment on view v_ledger is 'Every ledger entry with its work type: the full story of a work item, by seq.';
comment on column v_ledger.entry_id is 'The entry itself; other entries refer to it by its seq.';
comment on column v_ledger.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';
comment on column v_ledger.retracted_by is 'The entry that retracts it, see ledger_retract(); null: none does.';

create or replace view v_decisions with (security_invoker = true) as
  select work_item_id, seq, content, created_at from work_ledger where entry_type = 'decision';
comment on view v_decisions is 'Ledger entries of type decision: what was decided, and why.';

create or replace view v_findings with (security_invoker = true) as
  select work_item_id, seq, content, created_at from work_ledger where entry_type = 'finding';
comment on view v_findings is 'Ledger entries of type finding: what was learned.';

create or replace view v_errors with (security_invoker = true) as
  select work_item_id, seq, content, created_at from work_ledger where entry_type = 'error';
comment on view v_errors is 'Ledger entries of type error: what failed, and why.';

create or replace view v_repeated_errors with (security_invoker = true) as
  select work_item_id, content, count(*) as occurrences, min(seq) as first_seq, max(seq) as last_seq
    from work_ledger
   where entry_type = 'error'
   group by work_item_id, content
  having count(*) > 1;
comment on view v_repeated_errors is 'Errors that a work item recorded more than once.';
comment on column v_repeated_errors.occurrences is 'How often it was recorded.';
comment on column v_repeated_errors.first_seq is 'The first entry that records it.';
comment on column v_repeated_errors.last_seq is 'The newest entry that records it.';

create or replace view v_plan_history with (security_invoker = true) as
  select work_item_id, seq, content, created_at,
         seq = max(seq) over (partition by work_item_id) as is_current
    from work_ledger
   where entry_type = 'plan';
comment on view v_plan_history is 'Every plan of each work item; the newest is the current one.';
comment on column v_plan_history.is_current is 'True: it is the newest plan.';

create or replace view v_plan with (security_invoker = true) as
  select w.id as work_item_id, p.n, p.text, p.state, p.since_at, p.seq
    from work_items w cross join lateral _plan_of(w.id) p;
comment on view v_plan is 'The items of each work item''s plan: those of the newest plan entry, with what steps have done to them since. select * from v_plan where work_item_id = ''...''.';
comment on column v_plan.n is 'Its number, by which steps refer to it: 1, 2, 3, ...';
comment on column v_plan.text is 'What to do.';
comment on column v_plan.state is 'open, doing, done or dropped.';
comment on column v_plan.since_at is 'When it got this state, or came into this plan.';
comment on column v_plan.seq is 'The entry that says so: the plan or a step. Null: another program''s session says it in its journal or todo list.';

create or replace view v_step_counts with (security_invoker = true) as
  select work_item_id, count(*) filter (where entry_type = 'step') as steps, count(*) as entries,
         count(*) filter (where octet_length(content) > 4096) as long_entries
    from work_ledger
   group by work_item_id;
comment on view v_step_counts is 'How many steps, entries of any type, and entries over 4 KiB each work item has.';
comment on column v_step_counts.steps is 'Entries of type step.';
comment on column v_step_counts.entries is 'Entries of any type.';
comment on column v_step_counts.long_entries is 'Entries over 4 KiB.';

create or replace view v_faculty_keys with (security_invoker = true) as
  select path, type, _faculty_takes(type, least, most, choices) as takes, default_value, says from _faculty_keys();
comment on view v_faculty_keys is 'Every key of a faculty, in TOML and in JSON: what it accepts, its default, and its documentation. engage is a table (a section), engage.model the key model in it.';
comment on column v_faculty_keys.default_value is 'The value used if the key is not given; null: none.';
comment on column v_faculty_keys.path is 'Section and key, such as engage.model.';
comment on column v_faculty_keys.type is 'table for a section, else the type of the value.';
comment on column v_faculty_keys.takes is 'What it accepts, for people.';
comment on column v_faculty_keys.says is 'What it does.';

create or replace view v_unroutable with (security_invoker = true) as
  select w.id, w.work_type, w.faculty, w.description, w.created_at
    from _names_queued() n
    join work_items w on w.state = 'queued' and w.focus_id is null and coalesce(w.project, '') = n.project and (w.faculty is not null) = n.is_asked_for
     and coalesce(w.faculty, w.work_type) = n.name
   where (_faculty_for(case when n.is_asked_for then n.name end, n.name, _project_now(nullif(n.project, '')))).name is null;
comment on view v_unroutable is 'Queued work items that no current faculty of their project, or of the ledger, accepts. They wait until one that does is saved.';

create or replace view v_missing_tools with (security_invoker = true) as
  select f.name as faculty, t.name as tool, f.project
    from faculties f
    cross join lateral (
      select * from jsonb_array_elements_text(f.config -> 'engage' -> 'tools')
      union all
      select 'execute_code' where (f.config #>> '{engage,code_execution}')::boolean) as t(name)
   where f.is_current and not exists (select from abilities a where a.name = t.name);
comment on view v_missing_tools is 'Tools that a current faculty lists but that are not registered; its agents are not offered them.';
comment on column v_missing_tools.project is 'The project that the faculty belongs to; null: it is the ledger''s.';
comment on column v_missing_tools.tool is 'The name in the faculty''s engage.tools.';

create or replace view v_leases with (security_invoker = true) as
  select w.id as work_item_id, f.id as focus_id, f.faculty, f.attempt, f.iteration + 1 as iteration, f.lease_owner,
         f.lease_generation, f.lease_expires_at, f.lease_expires_at <= _now() as is_expired
    from foci f
    join work_items w on (w.id, w.focus_id) = (f.work_item_id, f.id)
   where w.state in ('claimed', 'running') and f.lease_owner is not null;
comment on view v_leases is 'Which worker currently drives which item. An expired lease means a dead worker; the next sweep ends it.';
comment on column v_leases.is_expired is 'True: its worker is dead; the next sweep ends it.';

create or replace view v_nudges with (security_invoker = true) as
  select n.work_item_id, n.focus_id, min(n.iteration) as iteration, bool_or(n.is_noted) as is_heeded
    from (select t.work_item_id, t.focus_id, t.iteration, l.turn_id is not null as is_noted,
                 count(m.turn_id) over (partition by t.work_item_id, t.focus_id order by t.iteration) as nth
            from turns t
            left join messages m on m.turn_id = t.id and m.metadata ->> 'kind' = 'nudge'
            left join (select distinct work_item_id, turn_id from work_ledger where not is_auto) l on (l.work_item_id, l.turn_id) = (t.work_item_id, t.id)
           where t.focus_id is not null and t.status <> 'failed') n
   where n.nth > 0
   group by n.work_item_id, n.focus_id, n.nth;
comment on view v_nudges is 'Each reminder (nudge) to write to the ledger, and whether the agent did so before the next one.';
comment on column v_nudges.is_heeded is 'True: the agent wrote to its ledger before the next one.';

create or replace view v_usage with (security_invoker = true) as
  select work_item_id, count(*) as turns, sum(call_count) as model_calls, sum(input_tokens) as input_tokens,
         sum(cached_input_tokens) as cached_input_tokens, sum(cache_write_tokens) as cache_write_tokens,
         sum(output_tokens) as output_tokens, sum(total_tokens) as total_tokens,
         (select u.cost from _usage_of(array[t.work_item_id]) u) as cost -- computed once, not for each turn, of which there may be thousands
    from turns t
   group by work_item_id;
comment on view v_usage is 'Turns, model calls, tokens and cost (at the prices of model_price_save()) of each work item.';
comment on column v_usage.model_calls is 'Requests that were sent, including failed ones.';
comment on column v_usage.turns is 'Turns that were answered, including imported ones.';
comment on column v_usage.cost is 'At today''s prices; null without prices.';

create or replace view v_awareness_shown with (security_invoker = true) as
  select a.reader_id, a.attempt, a.faculty, t.iteration, a.shown_at, a.work_item_id as source_id,
         case when a.seq >= 0 then a.seq end as seq,
         case a.seq
           when -5 then 'unread' when -3 then 'queued' when -2 then 'same file' when -1 then 'under way' when 0 then w.state else l.entry_type end as kind,
         coalesce(nullif(a.path, ''), l.content, w.description) as content
    from (select a.*, f.work_item_id as reader_id, f.attempt, f.faculty
            from foci f join awareness_shown a on a.focus_id = f.id
          union all
          -- Sessions of other programs. Each half can be filtered by reader_id.
          select a.*, a.focus_id, null, null
            from awareness_shown a where a.turn_id is null) a
    left join turns t on t.id = a.turn_id
    join work_items w on w.id = a.work_item_id
    left join work_ledger l on l.work_item_id = a.work_item_id and l.seq = a.seq;
comment on view v_awareness_shown is 'Which agent was told what about other work, and in which iteration, so you can see who knew of a finding, and when.';
comment on column v_awareness_shown.seq is 'The ledger entry; 0 or less: the item itself was shown, see awareness_shown.seq.';
comment on column v_awareness_shown.reader_id is 'The work item whose agent was told.';
comment on column v_awareness_shown.iteration is 'Null: the reader is a session of another program, and a hook told it.';
comment on column v_awareness_shown.source_id is 'The work item that it was told of.';
comment on column v_awareness_shown.kind is 'What it was told: the type of the entry, or queued, same file, under way, unread (a message to it); for an item that is over, its state: completed, failed, dead, cancelled.';

create or replace view v_context with (security_invoker = true) as
  select f.work_item_id, f.id as focus_id, f.attempt, f.faculty, c.config -> 'engage' ->> 'model' as model,
         _input_total(t) + coalesce(t.output_tokens, 0) + _tokens(_results_chars(t.id), c.config -> 'engage' ->> 'model') as tokens,
         w.tokens as context_window,
         floor(w.tokens * coalesce(nullif((c.config -> 'engage' ->> 'compact_threshold')::numeric, 0), 1))::integer as compacts_at,
         (select count(*)::integer from elisions e where e.focus_id = f.id) as cuts
    from foci f
    join faculties c on c.content_hash = f.faculty_hash
    cross join lateral _context_window_of(c.config -> 'engage') as w(tokens)
    join turns t on t.id = (_asking_turn(_head_of(f))).id;
comment on view v_context is 'How full the context of each attempt is. tokens: its last request and response, as counted by the provider, plus the estimated results. context_window: the model''s. compacts_at: the size at which it is compacted. cuts: how many it has had.';
comment on column v_context.context_window is 'The model''s: how many tokens a request and its response may have together.';
comment on column v_context.model is 'The faculty''s engage.model.';
comment on column v_context.tokens is 'Its last request and response as counted by the provider, plus the estimated results since.';
comment on column v_context.compacts_at is 'The size at which it is compacted.';
comment on column v_context.cuts is 'How many cuts it has had.';

create or replace view v_compactions with (security_invoker = true) as
  select c.work_item_id, t.focus_id, coalesce(e.iteration, f.iteration + 1) as iteration, c.compaction_type, c.trigger, c.is_applied,
         c.tokens_before, c.tokens_after, c.messages_before, c.messages_after, c.turns_summarized, c.ledger_entries_used,
         c.model, c.summarization_input_tokens, c.summarization_output_tokens, c.duration_ms, c.metadata, c.error ->> 'message' as error,
         (select string_agg(b.value ->> 'text', E'\n\n' order by b.n) from json_array_elements(e.stubs) with ordinality as b(value, n)) as shown_instead,
         c.turn_id, c.created_at
    from compactions c
    join turns t on t.id = c.turn_id
    join foci f on f.id = t.focus_id
    left join elisions e on e.id = c.elision_id;
comment on view v_compactions is 'Each compaction of a context: why, what it freed and cost, and what replaced the turns that left (shown_instead).';
comment on column v_compactions.iteration is 'The iteration of the focus whose request it was made for; null in an imported session.';
comment on column v_compactions.error is 'Why it failed; null: it did not.';
comment on column v_compactions.shown_instead is 'The text that replaced the turns that left.';
