// What work that waits costs those who do something else: by the buffers that a query reads, beside a short backlog and beside a long one.

import pg from 'pg';
import { expect, test } from 'vitest';

import { costOf, vacuumAll } from '../cost.ts';
import { createDatabase } from '../database.ts';

type Kind = 'queued' | 'waiting';

/** A ledger with so many items that are due, or that wait for their children, each with its job. */
async function backlog<T>(count: number, kind: Kind, look: (client: pg.Client) => Promise<T>): Promise<T> {
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  try {
    await client.connect();
    await client.query(`
      set search_path = ledger;
      select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
      select from faculty_save('{"name": "few", "accepts": ["few"], "max_concurrent": 1000}');
      insert into graphile_worker._private_tasks (identifier) values (_job_task());
      set session_replication_role = replica; -- no triggers, no keys
      insert into work_items (id, root_id, work_type, description, state, run_at, focus_id, attempts)
      select id, id, 'analyze', 'Do it', '${kind}', ${kind === 'queued' ? `now() - n * interval '1 second', null, 0` : `'infinity', id, 1`}
        from (select md5('item' || n)::uuid as id, n from generate_series(1, ${count}) n) i;
      insert into fences (work_item_id, focus_id, attempt, submitted_by, is_child, is_journal) select id, focus_id, attempts, current_user, false, false from work_items;
      insert into foci (id, work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens)
      select id, id, 1, 'worker', 'x', id, 1000 from work_items where focus_id is not null;
      insert into graphile_worker._private_jobs (task_id, payload, run_at, key)
      select t.id, json_build_object('work_item_id', w.id), w.run_at, format('%s:%s:1:1', _job_task(), w.id)
        from work_items w, graphile_worker._private_tasks t where t.identifier = _job_task() and w.state = 'queued';
      reset session_replication_role`);
    await vacuumAll(client);
    return await look(client);
  } finally {
    await client.end();
    await database.drop({ unchecked: 'work put in by hand' });
  }
}

/** What is done, and how many buffers it may read at most, however long the backlog is: indexes grow by a level. */
const uses: [string, string, number][] = [
  ['a sweep, which looks at a thousand of them', 'select work_sweep()', 7000],
  ['a submission', `select work_submit('few', 'Do it')`, 200],
  ['a claim', `select focus_claim((work_submit('analyze', 'Do it')).id, 'w')`, 600],
  ['a claim of a slot', `select focus_claim((work_submit('few', 'Do it')).id, 'w')`, 800],
  ['the most urgent for a slot', `select _slot_next('few')`, 100],
  ['what nobody takes', 'select * from v_unroutable', 50],
  ['the end of one that has a slot', `select work_cancel((select id from work_items where slot_faculty = 'few' order by id limit 1))`, 800],
];

test.each([
  ['queued', [2000, 100_000]],
  ['waiting', [2000, 10_000]],
] as [Kind, number[]][])('what is done costs the same, however much is %s', async (kind, counts) => {
  for (const count of counts) {
    await backlog(count, kind, async (client) => {
      for (const [what, query, most] of uses) {
        const { buffers } = await costOf(client, query);
        expect(buffers, `${what}, beside ${count}`).toBeLessThan(most);
      }
    });
  }
});
