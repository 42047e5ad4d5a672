-- Functions whose queries must go from row to row by index, whatever the planner thinks is cheaper: see "Plans" in sql/README.md. The settings apply to
-- a function and everything it calls. Add each new function that walks turns, calls or items here. JIT is off as well: up to PostgreSQL 17, disabled plan
-- types make a query look expensive, so it would be compiled at each call.

do $do$
declare
  v_alter text;
begin
  for v_alter in
    select format('alter function %s %s', coalesce(p.oid::regprocedure::text, f.name),
                  (select string_agg(format('set %I = off', s.name), ' ' order by s.n) from unnest(l.off) with ordinality as s(name, n)))
      from (values
        ('{enable_seqscan, enable_hashjoin, enable_mergejoin, jit}'::text[], $$
          _budget_used _items_below _budgets_above _resources_limited _daily_owners _daily_budgets_of _daily_parked

          turn_ancestry _leap_of _ancestor_at _common_turn _forked_at _past_of _chain_of _head_of

          _overlaps _ledger_trust _stale_file _team_of _files_changed _children_by_state
          _why_waiting _worker_lost_at _has_lapsed_lease _waits_of _awaited_by _wait_cycle
          _claim_awaited _agents_near _touched_by _said_about _session_has_news

          _images_of _boundary _block_of _facts_after _shown_turns _turns_of_block _earlier_head _selected _compaction_due _compaction_ladder
          _is_kept_by_ledger _compaction_applied _query_blocks _elision_due _keep_of _elision_chain _keep_at _kept_named
          _file_seen _kept_parts _kept_lines _keep_missing _kept_read _kept_call _kept_text _kept_block _step_depth
          _message_parts _nudge _is_branched _draft_step _results_chars _exchange_chars
          _next_tokens _stubs_of _block_stub _stub_rest _stub_entries _told_in _changed_files _failed_calls _call_label
          _summary_attempt _told _turn_sizes_store _told_sizes _request_sizes _request_chars _iteration_flags _waits_for_thinking
          _loop_thinks

          _said_before _parts_of_page context_replay context_replay_turns context_timeline _turn_of_call _timeline explain_turn
          _fall_attempts _fall_requests _fall_calls _quote_origin
          _edited_ahead _edited_lines_ahead _branch_turns _branch_sums _branch_entries _branch_files _tree_turns _tree_lanes

          _turns_behind _turns_seal _wire_ids _runs_behind _calls_held _order_kept _stalled _round_hash _called

          work_cancel

          _checkpoint_due _journal_written journal_page _journal_since journal_read _journal_until _journal_size work_run _run_until

          work_metrics_take
          work_hours_sum

          _call_spans _call_children _chat_spans _trace_turns _iteration_spans _blocks_closed _compaction_spans _digest_spans
          _traced_items

          _open_calls_shown
        $$),
        -- What an iteration runs is planned once, and too short to be worth compiling.
        ('{jit}', 'iteration_step iteration_begin iteration_finish turn_record'),
        ('{enable_seqscan, jit}', 'ledger_append ledger_append_batch _complete_entry _import_turns'),
        -- An index gives the order, so the query ends at its limit. Silent sessions are sorted, which looks expensive but must not be compiled.
        ('{enable_seqscan, enable_sort, jit}', '_retention_due'),
        ('{enable_seqscan, enable_hashjoin, enable_mergejoin, enable_sort, jit}', '_call_entry'),
        ('{enable_seqscan, enable_bitmapscan, enable_hashjoin, enable_mergejoin, enable_material, jit}', '_awareness_entries')
      ) as l(off, names)
     cross join regexp_split_to_table(btrim(l.names, E' \n'), '\s+') as f(name)
      left join pg_proc p on p.proname = f.name and p.pronamespace = quote_ident(_ledger_schema())::regnamespace
     -- Only functions installed now: the installer later removes older ones of the same name.
     where p.oid is null or p.xmin = pg_current_xact_id()::xid
  loop
    execute v_alter; -- raises an error if no function has the name
  end loop;
end
$do$;
