// A work item of many turns, stored at once.

import type pg from 'pg';

/**
 * In a database whose search path begins with the ledger: a work item under way with so many turns, a step in each fifth, an error in each
 * seventh; a program's session with ten entries a turn that say its name.
 */
export async function longItem(client: pg.Client, turns: number): Promise<string> {
  await client.query('begin');
  const {
    rows: [made],
  } = await client.query<{ item: string }>(`select id as item from work_submit('analyze', 'Find why')`);
  const item = made?.item ?? '';
  await client.query(`
    select from focus_claim('${item}', 'w');
    insert into turn_configs (content_hash, config) values ('c', '{"model": "claude-opus-4-5", "system": [], "tools": []}') on conflict do nothing;
    set session_replication_role = replica; -- no keys, and of triggers only those that are always enabled
    update foci set lease_expires_at = now() + interval '1 day' where work_item_id = '${item}'; -- no worker takes it over
    insert into turns (id, depth, parent_turn_id, status, work_item_id, focus_id, iteration, config_hash, started_at, completed_at)
    select md5('${item}' || n)::uuid, n, case when n > 0 then md5('${item}' || n - 1)::uuid end, 'completed', w.id, w.focus_id, n + 1, 'c', at, at
      from work_items w, generate_series(0, ${turns - 1}) n, lateral (select now() - (${turns} - n) * interval '10 seconds' as at) a where w.id = '${item}';
    insert into messages (turn_id, sequence, role, content, created_at) select id, 1000, 'assistant', '[{"type": "text", "text": "So"}]', completed_at from turns where work_item_id = '${item}';
    insert into tool_calls (id, turn_id, ordinal, work_item_id, provider_id, tool_name, input, effect, status, result, is_error, created_at, completed_at)
    select id, id, 0, work_item_id, 'a', 'look', '{}', 'pure', 'completed', '"done"', false, completed_at, completed_at from turns where work_item_id = '${item}';
    update fences set ledger_count = ${turns} where work_item_id = '${item}';
    insert into work_ledger (work_item_id, seq, entry_type, content, turn_id, created_at)
    select work_item_id, iteration, case when iteration % 5 = 0 then 'step' when iteration % 7 = 0 then 'error' else 'note' end, 'Noted', id, completed_at from turns where work_item_id = '${item}';
    update sessions set head_turn_id = md5('${item}' || ${turns - 1})::uuid where label = '${item}';
    reset session_replication_role;
    select _turn_sizes_store(t) from (select * from turns where work_item_id = '${item}' order by depth) t;
    insert into journal_entries (work_item_id, entry_type, content) select '${item}', 'user_feedback', jsonb_build_object('message', 'Word' || n || ' of many') from generate_series(1, 10 * ${turns}) n;
    select from work_message('${item}', 'The needle in ${turns === 100 ? 'src/small.ts' : 'src/large.ts'}')`);
  await client.query('commit');
  return item;
}
