-- The public functions, grouped by their users. The help in psql, the manual and the grants all come from this one list.

create or replace function _public_functions()
  returns table (serves text, subject text, name text, roles text[])
  language sql
  immutable
  parallel safe
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select s.serves, s.subject, n.name, s.roles
    from (values
      ('people', 'configuration', '{ability_register,faculty_save,model_save}'::text[], '{admin,worker}'::text[]),
      ('people', 'configuration', '{ledger_data_schema_save,model_price_save}', '{admin}'),
      ('people', 'configuration', '{faculty_problems}', '{reader}'),
      ('people', 'work', '{work_submit,budget_set,work_message,work_pause,work_resume,work_cancel,work_fork,work_continue,work_retry,workspace_abandon,claim_break}', '{client}'),
      ('people', 'work', '{daily_budget_set}', '{admin}'),
      ('people', 'projects', '{project_rename,project_set}', '{admin}'),
      ('people', 'projects', '{project_name,project_names,project_has}', '{reader}'),
      ('people', 'notes', '{memory_write,memory_rollback}', '{client}'),
      ('people', 'notes', '{memory_pin,memory_erase}', '{admin}'),
      ('people', 'notes', '{memory_suggest}', '{reader}'),
      ('people', 'work', '{tool_call_approve,tool_call_reject}', '{approver}'),
      ('people', 'names', '{person_add,person_list,person_revoke}', '{admin}'),
      ('people', 'names', '{person_current}', '{reader}'),
      ('people', 'erasure', '{ledger_retract,work_erase,retention_policy_save}', '{admin}'),
      ('people', 'erasure', '{work_retention_run}', '{admin,worker}'),
      ('people', 'erasure', '{session_work,work_export}', '{reader}'),
      ('people', 'evidence', '{ledger_verify,ledger_head}', '{reader}'),
      ('people', 'evidence', '{ledger_chain_save}', '{admin}'),
      ('people', 'looking', '{ledger_help,work_id,work_chain,work_activity,now_sums,ledger_watch,ledger_changes,work_changes,standing,ledger_read_formatted,ledger_search,ledger_search_lines,ledger_search_newest,explain_turn,context_at,context_window,context_parts,context_timeline,context_cost,context_replay,context_replay_turns,work_approaching_limit,work_trace,work_waterfall,work_because,work_run}', '{reader}'),
      ('people', 'looking', '{context_compact}', '{client}'),
      ('people', 'other ledgers', '{awareness_digest_across,awareness_digest_linked}', '{reader}'),
      ('people', 'other ledgers', '{ledger_link,ledger_unlink}', '{admin}'),
      ('people', 'sessions', '{session_find,session_head_at,session_turn_at,sessions_with_turn,turn_ancestry,turn_tree,session_compare,session_compare_turns}', '{reader}'),
      ('people', 'sessions', '{session_create,session_open,session_fork}', '{client}'),
      ('people', 'sessions', '{session_alias,session_rollback,session_archive,turn_workspace_set,turn_archive}', '{admin}'),
      ('people', 'cost', '{cost_by,cost_cuts,work_totals,work_metrics,work_gauges}', '{reader}'),
      ('people', 'recorded runs', '{session_import,recorded_runs_parse,markdown_codeblocks,markdown_file_references,json_schema_errors}', '{client}'),
      ('people', 'recorded runs', '{session_export}', '{reader}'),
      ('people', 'recorded runs', '{message_lints_save}', '{admin}'),
      ('people', 'roles', '{work_roles_create,work_roles_drop}', '{}'),
      ('people', 'versions', '{work_ledger_version,work_ledger_build,work_ledger_serves,work_ledger_doctor,work_ledger_check}', '{reader}'),
      ('clients', 'ledger', '{ledger_append,ledger_append_batch}', '{client,agent}'),
      ('clients', 'ledger', '{ledger_count,ledger_read,ledger_read_lines,awareness_digest,awareness_here,ask_about,recall_block,artifact_read}', '{reader}'),
      ('clients', 'notes', '{memory_command}', '{client}'),
      ('clients', 'claims', '{claim_take,claim_release}', '{client,agent}'),
      ('clients', 'claims', '{claim_check}', '{client}'),
      ('clients', 'work', '{work_complete,work_fail,spawn_child_work,tell_agent,ability_invoke}', '{client,agent}'),
      ('clients', 'work', '{check_child_work,await_child_work,wait_for}', '{reader}'),
      ('clients', 'work', '{notify_me}', '{client,agent}'),
      ('clients', 'journal', '{journal_session_create,journal_session_open,journal_session_prompt,journal_session_begin,journal_session_status,journal_heartbeat,journal_log,inbox_take,journal_session_news}', '{client}'),
      ('clients', 'journal', '{journal_session_active,journal_read,journal_page,journal_export}', '{reader}'),
      ('clients', 'journal', '{journal_entry_delete,journal_cleanup}', '{admin}'),
      ('clients', 'transcripts', '{transcript_append,transcripts_take,transcript_understood}', '{client}'),
      ('clients', 'transcripts', '{transcript_load,transcript_list}', '{reader}'),
      ('clients', 'transcripts', '{followed_file_read,followed_files_list,followed_sessions_rest}', '{client}'),
      ('clients', 'transcripts', '{transcript_delete}', '{admin}'),
      ('clients', 'resumption', '{checkpoint_create,journal_resume,journal_summary_request,journal_summary_save}', '{client}'),
      ('clients', 'resumption', '{checkpoint_latest,resumption_context,export_for_resumption,work_sessions_resumable,journal_summary}', '{reader}'),
      ('workers', 'leases', '{worker_warm_up,focus_claim,focus_begin,lease_renew,work_keep,worker_stop,work_sweep,workspace_bind,workspaces_over}', '{worker}'),
      ('workers', 'iterations', '{iteration_begin,turn_stream,turn_record,summary_record,iteration_step,iteration_fail,iteration_finish,iteration_release,hook_record}', '{worker}'),
      ('workers', 'calls', '{tool_call_begin,tool_call_settle,tool_call_execute,tool_call_nested,tool_call_suspend,tool_hook_record}', '{worker}'),
      ('workers', 'telemetry', '{trace_take,trace_record,trace_due,work_metrics_take,work_hours_sum}', '{worker}')
    ) as s(serves, subject, names, roles)
    cross join lateral unnest(s.names) as n(name);
$$;

comment on function _public_functions() is 'Every public function. serves: people (psql, applications, the command line), clients (agents that have their own loop, by SQL or MCP) or workers (the processes that run the loop). roles: the kinds of roles that may call it, besides those that inherit from them, see work_roles_create(); none: the owner alone. Private functions begin with _.';

create or replace function ledger_help(p_about text default null)
  returns table (serves text, subject text, call text, returns text, says text, roles text[])
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.serves, f.subject, format('%s(%s)', f.name, pg_get_function_arguments(p.oid)), pg_get_function_result(p.oid),
         obj_description(p.oid, 'pg_proc'), f.roles
    from _public_functions() with ordinality as f(serves, subject, name, roles, n)
    join pg_proc p on p.pronamespace = quote_ident(_ledger_schema())::regnamespace and p.proname = f.name
   where p_about is null or p_about in (f.serves, f.subject) or strpos(f.name, lower(p_about)) > 0
   order by f.n;
$$;

comment on function ledger_help(text) is
  'The public functions: what each takes, returns, does and raises, and which roles may call it (see work_roles_create(); clients, workers and administrators are readers, too): select * from ledger_help(''ledger_append''). p_about: whom it serves (people, clients, workers), a subject (ledger, work, sessions, ...) or part of a name; null: all.';
