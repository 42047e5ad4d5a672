-- Work items, and the faculties, tools and models used for them. One row each, to be filtered and sorted; columns that a query does not select cost nothing.

-- Stable functions hide the clock: with it in its columns, the view could not be merged into a query and would compute all its rows and columns, even for the
-- newest twenty.
create or replace function _why_queued(p_work_item_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select q.why from v_queue q where q.work_item_id = p_work_item_id and q.waits_for <> 'worker';
$$;

comment on function _why_queued(uuid) is 'Why no one works on an item in the queue, as a sentence; null: the next free worker will take it.';

create or replace function _age(p_at timestamptz)
  returns double precision
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select extract(epoch from _now() - p_at)::double precision;
$$;

comment on function _age(timestamptz) is 'How many seconds ago that was.';

create or replace view v_work_list with (security_invoker = true) as
  select w.id as work_item_id, w.parent_id, w.root_id, w.depth, w.work_type, w.description, _faculty_of(w) as faculty, w.faculty as asked_faculty,
         w.priority, w.state, w.state_reason,
         case when w.state = 'queued' and w.focus_id is null then _why_queued(w.id)
              when w.state = 'waiting' then (_why_waiting(w, (select t.id from turns t where t.work_item_id = w.id order by t.id desc limit 1))).why
              when _worker_lost_at(w) is not null then (_why_waiting(w, null)).why end as why,
         w.is_pausing, w.attempts, w.run_at, w.created_at, w.started_at, w.resolved_at, w.erased_at, w.outcome_data,
         coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error') as outcome, w.fork_turn_id, ledger_count(w) as ledger_count,
         _age(w.created_at) as age_seconds, f.iteration, f.session_label,
         (select s.origin from sessions s where s.label = f.session_label) as origin,
         coalesce(
           (select c.config #>> '{engage,model}' from faculties c where c.content_hash = f.faculty_hash),
           (select t.model from turns t where t.work_item_id = w.id order by t.id desc limit 1)) as model,
         _journal_state(w) as session_status, _project_now(w.project) as project, coalesce(w.project, '') as stored_project,
         coalesce(w.resolved_at, w.started_at, w.created_at) as changed_at, w.continues_id, w.continued_by,
         (select c.id from work_items c where c.continues_id = w.id order by c.created_at desc, c.id desc limit 1) as next_id
    from work_items w
    left join foci f on f.work_item_id = w.id and f.attempt = w.attempts;
comment on view v_work_list is
  'Every work item: what it is, how far along it is, who works on it and, while it waits in the queue, why. Newest first: select * from v_work_list order by created_at desc, work_item_id desc limit 20. v_now has more about running items.';
comment on column v_work_list.faculty is 'The faculty that works on it, or would work on it next; for an item that is over, the one that worked on it last or, if none did, would have. Null: there is none.';
comment on column v_work_list.asked_faculty is 'The faculty that it was submitted to; null: any that accepts its work type.';
comment on column v_work_list.why is 'Why no one works on it, as a sentence: for an item that is queued (see v_queue), waits, or lost its worker; null: a worker drives it, or the next free one will take it.';
comment on column v_work_list.outcome is 'Its outcome as one text: the summary, or the error.';
comment on column v_work_list.ledger_count is 'How many entries its ledger has.';
comment on column v_work_list.age_seconds is 'Seconds since it was created.';
comment on column v_work_list.iteration is 'Iterations that its newest attempt has finished; null: there was no attempt.';
comment on column v_work_list.session_label is 'The session of its newest attempt.';
comment on column v_work_list.origin is 'The program that the session ran in: work-ledger, or that of an imported one.';
comment on column v_work_list.model is 'The model of its newest attempt.';
comment on column v_work_list.project is 'The project of the work, by its current name, see v_projects; null: none.';
comment on column v_work_list.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';
comment on column v_work_list.changed_at is 'When it was last submitted, began or ended.';
comment on column v_work_list.next_id is 'The item that continues it, see work_chain(); null: none does.';
comment on column v_work_list.session_status is 'Its status as a session of the journal: active, paused, completed or crashed.';

create or replace view v_faculties with (security_invoker = true) as
  select name, config, content_hash, created_at, saved_by, _administers(saved_by) as is_administered, project
    from faculties
   where is_current;
comment on view v_faculties is 'The current faculties: one per name in each project, and one shared by all projects (project null), with all their keys (v_faculty_keys explains each).';
comment on column v_faculties.project is 'The project whose work it accepts; null: work of all projects that have no faculty of their own for it, and work without a project.';
comment on column v_faculties.is_administered is 'True: the role that saved it is an administrator, or the ledger''s owner.';

create or replace view v_abilities with (security_invoker = true) as
  select name, tool_name, description, input_schema, effect, risk, source, implementation, function_name, is_builtin, position
    from abilities;
comment on view v_abilities is 'Everything that can be called: the engine''s own tools, those of workers, and SQL functions of users; see ability_register().';

create or replace view v_models with (security_invoker = true) as
  select name as model, context_window, tokens_per_char, sample_count, input_price, output_price, cache_read_price, cache_write_price,
         case when cooldown_ends_at > _now() then cooldown_ends_at end as cooldown_ends_at,
         case when cooldown_ends_at > _now() then cooldown_reason end as cooldown_reason, updated_at, cache_write_1h, _model_takes(name) as takes
    from models;
comment on view v_models is 'The known models: context window, prices per million tokens, what was learned about their tokens, and until when no worker asks them.';
comment on column v_models.cache_write_1h is 'Cost of a token written to the cache for an hour, in input tokens.';
comment on column v_models.takes is 'What it accepts, as far as its name shows or model_save() was told; the comment of model_save() explains each key.';
comment on column v_models.cooldown_ends_at is 'No worker asks it before this time; null: it may be asked.';
comment on column v_models.cooldown_reason is 'What its provider said; null: it may be asked.';

create or replace view v_transcripts with (security_invoker = true) as
  select t.session_id, t.project_key, t.work_item_id, _project_now(coalesce(w.project, t.project)) as project, w.description, w.state,
         case when t.deleted_at is null then _journal_state(w) else 'erased' end as session_status, t.last_seq as entry_count,
         t.last_seq - t.understood_seq as unread_count,
         (select count(*)::integer from transcripts a
           where a.session_id = t.session_id and a.project_key = t.project_key and a.subpath <> '' and a.deleted_at is null) as agent_count,
         t.problem, t.created_at, t.updated_at, _age(t.updated_at) as age_seconds, t.deleted_at is null as is_resumable
    from transcripts t
    left join work_items w on w.id = t.work_item_id
   where t.subpath = '';
comment on view v_transcripts is
  'Sessions of other programs whose transcripts are stored here, see transcript_append(). Newest first: select * from v_transcripts order by updated_at desc limit 20.';
comment on column v_transcripts.session_id is 'The id by which its program resumes it.';
comment on column v_transcripts.project_key is 'The scope given by its program, by default derived from its directory.';
comment on column v_transcripts.work_item_id is 'The work item that it was read into; null: none yet.';
comment on column v_transcripts.project is 'The project of its work, by its current name; null: none, or not known yet.';
comment on column v_transcripts.description is 'Its first prompt; null: it has not been read yet.';
comment on column v_transcripts.state is 'The state of its work item: created while it is open.';
comment on column v_transcripts.session_status is 'active, paused, completed or crashed (no sign of its program for five minutes), or erased.';
comment on column v_transcripts.entry_count is 'How many entries its main transcript has.';
comment on column v_transcripts.unread_count is 'How many of them have not been read into turns yet.';
comment on column v_transcripts.agent_count is 'How many subagents have their own transcripts.';
comment on column v_transcripts.problem is 'Why its newest entries could not be read; null: they could, or no one has tried.';
comment on column v_transcripts.updated_at is 'When something was last appended to it.';
comment on column v_transcripts.age_seconds is 'Seconds since something was last appended to it.';
comment on column v_transcripts.is_resumable is 'False: its entries are erased.';
