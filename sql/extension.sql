-- Only in the extension form: rows that users own, so that pg_dump takes them along.

select pg_extension_config_dump('models', '');
select pg_extension_config_dump('faculties', '');
select pg_extension_config_dump('work_items', '');
select pg_extension_config_dump('fences', '');
select pg_extension_config_dump('budgets', '');
select pg_extension_config_dump('sessions', '');
select pg_extension_config_dump('session_aliases', '');
select pg_extension_config_dump('session_history', '');
select pg_extension_config_dump('session_history_id_seq', '');
select pg_extension_config_dump('workers', '');
select pg_extension_config_dump('sweep_walks', '');
select pg_extension_config_dump('foci', '');
select pg_extension_config_dump('turn_configs', '');
select pg_extension_config_dump('artifacts', '');
select pg_extension_config_dump('turns', '');
select pg_extension_config_dump('turn_workspaces', '');
select pg_extension_config_dump('model_calls', '');
select pg_extension_config_dump('awareness_digests', '');
select pg_extension_config_dump('trace_exports', '');
select pg_extension_config_dump('elisions', '');
select pg_extension_config_dump('compactions', '');
select pg_extension_config_dump('messages', '');
select pg_extension_config_dump('tool_calls', '');
select pg_extension_config_dump('touches', '');
select pg_extension_config_dump('approvals', '');
select pg_extension_config_dump('message_lints', '');
select pg_extension_config_dump('session_records', '');
select pg_extension_config_dump('journal_entries', '');
select pg_extension_config_dump('work_checkpoints', '');
select pg_extension_config_dump('awareness_shown', '');
select pg_extension_config_dump('hook_runs', '');
select pg_extension_config_dump('inbox', '');
select pg_extension_config_dump('work_ledger', '');
select pg_extension_config_dump('ledger_data_schemas', '');
select pg_extension_config_dump('metrics_taken', '');
select pg_extension_config_dump('work_hours', '');
select pg_extension_config_dump('redactions', '');
select pg_extension_config_dump('redactions_id_seq', '');
select pg_extension_config_dump('abilities', 'where not is_builtin');
select pg_extension_config_dump('touch_rules', 'where not is_builtin');
select pg_extension_config_dump('work_usage', '');
select pg_extension_config_dump('turn_sizes', '');
select pg_extension_config_dump('erasures', '');
select pg_extension_config_dump('erasing', '');
select pg_extension_config_dump('artifact_uses', '');
select pg_extension_config_dump('retention_policies', '');
select pg_extension_config_dump('retention_policies_id_seq', '');
select pg_extension_config_dump('retention_runs', '');
select pg_extension_config_dump('search_entries', 'where false'); -- triggers fill it again as the other rows are restored
select pg_extension_config_dump('seals', '');
select pg_extension_config_dump('people', '');
select pg_extension_config_dump('claims', '');
select pg_extension_config_dump('linked_digests', '');
select pg_extension_config_dump('projects', '');
select pg_extension_config_dump('daily_budgets', '');
select pg_extension_config_dump('daily_spending', '');
select pg_extension_config_dump('subscriptions', '');
select pg_extension_config_dump('transcripts', '');
select pg_extension_config_dump('transcript_entries', '');
select pg_extension_config_dump('followed_files', '');
select pg_extension_config_dump('memory_files', '');
select pg_extension_config_dump('memory_versions', '');
select pg_extension_config_dump('memory_views', '');
select pg_extension_config_dump('ledger_chain', '');
select pg_extension_config_dump('installed_code', 'where false'); -- the installation writes it
select pg_extension_config_dump('locks', 'where false'); -- the installation writes it
select pg_extension_config_dump('ledger_roles', 'where false'); -- roles belong to the server: work_roles_create() makes them there
