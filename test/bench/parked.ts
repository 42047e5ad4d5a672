// Parents that wait for children hold no worker and no job: does their number slow down the end of a child, which wakes one of them?

import type pg from 'pg';

import { explained } from './backlog.ts';
import { against, lineOf, timed } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

/** A parent that delegates and waits, by the functions that a worker calls. */
const park = `
create function pg_temp.park() returns uuid language plpgsql as $$
declare
  v_parent uuid := (work_submit('bench', 'Delegate it')).id;
  v_lease uuid := (focus_claim(v_parent, 'bench', 3600) ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(v_parent, v_lease) ->> 'turn_id')::uuid;
  v_child uuid := (spawn_child_work(v_parent, 'nobody', 'A part of it', p_lease => v_lease)).id;
begin
  perform turn_record(v_parent, v_lease, v_turn, json_build_object('model', 'm', 'stop_reason', 'tool_use', 'content', json_build_array(
    json_build_object('type', 'tool_use', 'id', 'a', 'name', 'await_child_work', 'input', json_build_object('work_item_ids', json_build_array(v_child))))));
  perform tool_call_execute(v_parent, v_lease, k.id) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(v_parent, v_lease);
  if (select state from work_items where id = v_parent) <> 'waiting' then
    raise 'the parent is %', (select state from work_items where id = v_parent);
  end if;
  return v_child;
end
$$`;

export const parked: Question = {
  asks: 'Do parents that wait slow down the end of a child?',
  axis: 'parents that wait',
  measure: ({ quick, say }) =>
    withServer(async ({ admin }) => {
      await admin.query(
        `select faculty_save('{"name": "bench", "accepts": ["bench"], "engage": {"tools": ["spawn_child_work", "await_child_work"]}}')`,
      );
      await admin.query(park);
      const children: string[] = [];
      const lines: Line[] = [];
      const add = (line: Line): void => {
        const first = lines.find(({ name, unit }) => name === line.name && unit === line.unit);
        lines.push(first ? against(line, { ...first, name: `that at ${first.at}` }) : line);
      };
      for (const size of quick ? [20, 100, 200] : [100, 1000, 10_000]) {
        while (children.length < size) children.push(...(await parkSome(admin, Math.min(100, size - children.length))));
        await admin.query('vacuum analyze');
        say(`parked: ${size}`);
        const times: number[] = [];
        for (const child of children.slice(0, quick ? 20 : 40)) {
          await admin.query('begin');
          times.push(await timed(() => admin.query(`select from work_complete($1, 'Done')`, [child])));
          await admin.query('rollback');
        }
        add(lineOf('a child ends, its parent wakes', 'ms', times.slice(10), size)); // the first ones plan
        const sweep = await explained(admin, 'select work_sweep()');
        add(lineOf('work_sweep', 'ms', [sweep.ms], size));
        add(lineOf('work_sweep', 'buffers', [sweep.buffers], size));
        const now = await explained(admin, 'select * from v_now limit 20');
        add(lineOf('v_now, 20 rows', 'buffers', [now.buffers], size));
      }
      return lines.toSorted((a, b) => a.unit.localeCompare(b.unit) || a.name.localeCompare(b.name));
    }),
};

async function parkSome(admin: pg.Client, count: number): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>('select pg_temp.park() as id from generate_series(1, $1::integer)', [count]);
  return rows.map(({ id }) => id);
}
