// A ledger of many work items, stored at once: nothing in it is rare.

import type pg from 'pg';

/** Ids of rows of one item in the middle. */
export type Keys = { item: string; root: string; turn: string; message: string; call: string };

/**
 * In a database whose search path begins with the ledger: so many items that are under way, each a child of the one before it in tens, with
 * an attempt, two turns, a call that waits for approval, and a row or more in every table that grows with work.
 */
export async function wideLedger(client: pg.Client, items: number): Promise<Keys> {
  await client.query(`
    begin;
    set session_replication_role = replica; -- no triggers, no keys
    create temporary table made on commit drop as
    select n, md5('item' || n)::uuid as item, md5('focus' || n)::uuid as focus, md5('first' || n)::uuid as first, md5('turn' || n)::uuid as turn, md5('said' || n)::uuid as said,
           md5('call' || n)::uuid as call, md5('cut' || n)::uuid as cut, md5('item' || n - n % 10)::uuid as root, now() - n * interval '1 minute' as at
      from generate_series(1, ${items}) n;
    insert into turn_configs (content_hash, config) values ('wide', '{"model": "claude-opus-4-5", "system": [], "tools": [{"name": "look"}]}');
    insert into work_items (id, parent_id, root_id, depth, work_type, description, state, run_at, focus_id, attempts, started_at, created_at)
    select item, case when item <> root then root end, root, (item <> root)::integer, 'analyze', 'Do it', case n % 2 when 0 then 'waiting' else 'running' end, at, focus, 1, at, at from made;
    insert into fences (work_item_id, focus_id, lease_hash, attempt, ledger_count, submitted_by, is_child, is_journal)
    select item, focus, case n % 2 when 1 then sha256(item::text::bytea) end, 1, 5, current_user, item <> root, false from made;
    insert into foci (id, work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens, iteration, lease_owner, lease_expires_at, created_at)
    select focus, item, 1, 'worker', (select content_hash from faculties where name = 'worker'), item, 1000, 2, case n % 2 when 1 then 'w' || n % 20 end, case n % 2 when 1 then now() + interval '1 hour' end, at from made;
    insert into sessions (label, head_turn_id, persona_id, parent_session_label) select item, turn, 'worker', case when item <> root then root end from made;
    insert into session_history (session_label, turn_id) select item, turn from made;
    insert into turns (id, parent_turn_id, depth, status, work_item_id, focus_id, iteration, config_hash, input_tokens, output_tokens, call_count, started_at, completed_at)
    select t.id, t.parent, t.depth, 'completed', m.item, m.focus, t.depth + 1, 'wide', 10, 10, 2, m.at, m.at from made m cross join lateral (values (m.first, null, 0), (m.turn, m.first, 1)) t(id, parent, depth);
    insert into messages (id, turn_id, sequence, role, content, metadata, created_at)
    select t.id, m.turn, t.n, t.role, t.content::json, t.metadata::jsonb, m.at
      from made m cross join lateral (values (md5('told' || m.n)::uuid, 1, 'user', '[{"type": "text", "text": "Write it down"}]', '{"kind": "nudge"}'),
                                             (m.said, 1000, 'assistant', '[{"type": "text", "text": "So"}]', null)) t(id, n, role, content, metadata);
    insert into tool_calls (id, turn_id, ordinal, work_item_id, message_id, provider_id, tool_name, input, effect, status, wait_ends_at, spawned_work_item_id, created_at)
    select call, turn, 0, item, said, 'a', 'look', '{"path": "a.ts"}', 'unsafe', 'waiting', now() + interval '1 day', item, at from made;
    insert into approvals (tool_call_id, work_item_id, input_hash, risk, expires_at) select call, item, 'x', 'dangerous', now() + interval '1 day' from made;
    insert into touches (tool_call_id, ordinal, work_item_id, kind, target, action) select call, 0, item, 'path', 'a.ts', 'read' from made;
    insert into work_ledger (work_item_id, seq, entry_type, content, attempt, focus_id, turn_id, data, created_at)
    select m.item, e.seq, e.type::ledger_entry_type, 'Noted', 1, m.focus, m.first, case e.type when 'finding' then jsonb_build_object('evidence', jsonb_build_array(m.call)) end, m.at
      from made m cross join lateral unnest('{finding,decision,error,plan,step}'::text[]) with ordinality e(type, seq);
    insert into elisions (id, ordinal, work_item_id, focus_id, iteration, depth, root_turn_id, first_block, last_block, last_seq, stubs, tokens_elided, tokens_kept, stub_tokens)
    select cut, 0, item, focus, 2, 1, first, 1, 1, 1, '[{"type": "text", "text": "Done"}]', 10, 10, 10 from made;
    insert into compactions (turn_id, work_item_id, focus_id, iteration, compaction_type, trigger, is_applied, elision_id, turns_summarized, tokens_before) select turn, item, focus, 2, 'ledger', 'manual', true, cut, 1, 10 from made;
    insert into awareness_shown (focus_id, work_item_id, seq, turn_id) select focus, root, 1, turn from made;
    insert into budgets (work_item_id, resource, amount) select item, 'tokens', 1000 from made;
    insert into work_usage (work_item_id, model, model_calls, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) select item, 'claude-opus-4-5', 2, 20, 20, 0, 0 from made;
    insert into work_checkpoints (work_item_id, trigger, ledger_seq, entry_count, token_estimate, summary, completed_tasks, key_decisions, current_state, files_modified, pending_actions)
    select item, 'manual', 1, 1, 1, '', '[]', '[]', '', '[]', '[]' from made;
    insert into journal_entries (work_item_id, entry_type, content) select item, 'user_feedback', '{"message": "Go on"}' from made;
    insert into inbox (work_item_id, kind, content, source_work_item_id) select root, 'child_result', 'Done', item from made where item <> root;
    reset session_replication_role;
    commit`);
  await client.query('vacuum analyze');
  const at = Math.floor(items / 20) * 10 + 1;
  const {
    rows: [keys],
  } = await client.query<Keys>(`
    select md5('item${at}') as item, md5('turn${at}') as turn, md5('said${at}') as message, md5('call${at}') as call, md5('item${at - 1}') as root`);
  if (!keys) throw new Error('nothing was stored');
  return keys;
}

/** Items that are over or queued, of one project among others and stored at once, each with a finding; `place` names them. */
export async function projectOf(client: pg.Client, project: string, items: number, place = project): Promise<void> {
  await client.query(`
    begin;
    set session_replication_role = replica; -- no triggers, no keys
    create temporary table made on commit drop as
    select n % 10 = 0 as is_queued, md5('${place}' || n)::uuid as item, now() - n * interval '1 minute' as at from generate_series(1, ${items}) n;
    insert into work_items (id, root_id, work_type, description, state, run_at, created_at, project, started_at, resolved_at, outcome_data)
    select item, item, 'analyze', 'Do it', case when is_queued then 'queued' else 'completed' end, at, at, '${project}', case when not is_queued then at end,
           case when not is_queued then at end, case when not is_queued then '{"summary": "Done"}'::jsonb end from made;
    insert into fences (work_item_id, attempt, ledger_count, submitted_by, is_child, is_journal) select item, 0, 1, current_user, false, false from made;
    insert into work_ledger (work_item_id, seq, entry_type, content, attempt, created_at, project) select item, 1, 'finding', 'Noted', 0, at, '${project}' from made;
    reset session_replication_role;
    commit`);
}
