// A work item driven without a worker: every response looks once, 4,000 characters that do not compress come back, every fifth
// response closes a block.

import type pg from 'pg';

import { plainText } from './text.ts';

export type Drive = {
  item: string;
  claim: () => Promise<string>;
  /** iteration_begin(): its turn, and its milliseconds in the server. */
  begin: (lease: string) => Promise<{ turn: string; ms: number }>;
  /** The response of iteration n, its calls, and what follows. */
  finish: (lease: string, turn: string, n: number) => Promise<void>;
  /** Iterations n + 1 to `until`. */
  drive: (n: number, until: number) => Promise<void>;
};

const functions = `
create or replace function pg_temp.begin(p_item uuid, p_lease uuid, out turn uuid, out ms double precision) language plpgsql as $$
declare
  v_start timestamptz := clock_timestamp();
begin
  turn := (iteration_begin(p_item, p_lease) ->> 'turn_id')::uuid;
  ms := extract(epoch from clock_timestamp() - v_start) * 1000;
end
$$;
create or replace function pg_temp.finish(p_item uuid, p_lease uuid, p_turn uuid, p_n integer, p_result text) returns void language plpgsql as $$
begin
  perform turn_record(p_item, p_lease, p_turn, json_build_object('model', 'claude-sonnet-5-5', 'stop_reason', 'tool_use',
    'content', (select json_agg(b) from (
      select json_build_object('type', 'tool_use', 'id', 'l' || p_n, 'name', 'look', 'input', json_build_object('n', p_n)) as b
      union all
      select json_build_object('type', 'tool_use', 'id', 's' || p_n, 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', 'Step ' || p_n / 5 || ' is done')) where p_n % 5 = 0) v)));
  perform tool_call_settle(p_item, p_lease, k.id, p_result) from tool_calls k where k.turn_id = p_turn and k.tool_name = 'look';
  perform tool_call_execute(p_item, p_lease, k.id) from tool_calls k where k.turn_id = p_turn and k.tool_name = 'ledger_append';
  perform iteration_finish(p_item, p_lease);
end
$$`;

export async function openDrive(client: pg.Client, engage: Record<string, unknown>): Promise<Drive> {
  const one = async <T>(sql: string, values: unknown[] = []): Promise<T> =>
    (await client.query<{ value: T }>(sql, values)).rows[0]?.value as T;
  await client.query(`select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe')`);
  await client.query('select faculty_save($1)', [
    {
      name: 'flat',
      engage: { tools: ['look'], max_turns: 100_000, context_window: 2_000_000_000, ...engage },
      awareness: { enabled: false },
    },
  ]);
  await client.query(functions);
  const item = await one<string>(`select id as value from work_submit('flat', 'Look at everything', p_faculty => 'flat')`);
  const claim: Drive['claim'] = () => one(`select focus_claim($1, 'bench', 3600) ->> 'lease' as value`, [item]);
  const begin: Drive['begin'] = (lease) => one('select to_json(b) as value from pg_temp.begin($1, $2) b', [item, lease]);
  const finish: Drive['finish'] = (lease, turn, n) =>
    one('select pg_temp.finish($1, $2, $3, $4, $5) as value', [item, lease, turn, n, plainText(4000)]);
  return {
    item,
    claim,
    begin,
    finish,
    async drive(n, until) {
      for (let at = n + 1; at <= until; at++) {
        const lease = await claim();
        await finish(lease, (await begin(lease)).turn, at);
      }
    },
  };
}
