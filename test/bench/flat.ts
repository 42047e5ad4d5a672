// Does an iteration cost more the longer the work runs? A synthetic run of 1,000 iterations: every response looks once,
// 4,000 characters come back, every fifth response closes a block. Measured of each iteration: bytes of WAL, rows read,
// milliseconds of iteration_begin(), which decides what the request leaves out and assembles it, and of context_at(),
// which assembles it alone. Writes flat.csv and its plot, flat.svg.
//   npm run bench -- flat [iterations]

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { plotFlat } from './plotFlat.ts';

const [iterations = 1020] = process.argv.slice(2).map(Number);
const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const client = new pg.Client({ connectionString: url });
await client.connect();
// Without page images, which come with checkpoints and not with the work.
await client.query('alter system set full_page_writes to off');
await client.query('alter system set autovacuum to off');
await client.query('select pg_reload_conf()');
await client.query('set search_path to work_ledger, public; set jit to off');
await client.query(`select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe')`);
await client.query('select faculty_save($1)', [{ name: 'flat', engage: { tools: ['look'], max_turns: 100_000, elide_budget: 0, context_window: 2_000_000_000 }, awareness: { enabled: false } }]);
const item = (await client.query<{ id: string }>(`select id from work_submit('flat', 'Look at everything', p_faculty => 'flat')`)).rows[0]?.id ?? '';
await client.query(`
create function pg_temp.begin(p_item uuid, p_lease uuid, out turn uuid, out ms double precision) language plpgsql as $$
declare
  v_start timestamptz := clock_timestamp();
begin
  turn := (iteration_begin(p_item, p_lease) ->> 'turn_id')::uuid;
  ms := extract(epoch from clock_timestamp() - v_start) * 1000;
end
$$;
create function pg_temp.rebuild(p_turn uuid, out ms double precision, out bytes integer) language plpgsql as $$
declare
  v_start timestamptz;
begin
  for v_i in 1 .. 20 loop
    v_start := clock_timestamp();
    bytes := octet_length(context_at(p_turn)::text);
    ms := least(ms, extract(epoch from clock_timestamp() - v_start) * 1000);
  end loop;
end
$$;
create function pg_temp.finish(p_item uuid, p_lease uuid, p_turn uuid, p_n integer) returns void language plpgsql as $$
begin
  perform turn_record(p_item, p_lease, p_turn, json_build_object('model', 'claude-sonnet-5-5', 'stop_reason', 'tool_use',
    'content', (select json_agg(b) from (
      select json_build_object('type', 'tool_use', 'id', 'l' || p_n, 'name', 'look', 'input', json_build_object('n', p_n)) as b
      union all
      select json_build_object('type', 'tool_use', 'id', 's' || p_n, 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', 'Step ' || p_n / 5 || ' is done')) where p_n % 5 = 0) v)));
  perform tool_call_settle(p_item, p_lease, k.id, repeat(md5(p_n::text), 125)) from tool_calls k where k.turn_id = p_turn and k.tool_name = 'look';
  perform tool_call_execute(p_item, p_lease, k.id) from tool_calls k where k.turn_id = p_turn and k.tool_name = 'ledger_append';
  perform iteration_finish(p_item, p_lease);
end
$$`);

type Row = { iteration: number; walBytes: number; rowsRead: number; beginMs: number; rebuildMs: number; requestBytes: number };
const rows: Row[] = [];
const one = async <T>(sql: string, values: unknown[] = []): Promise<T> => (await client.query<{ value: T }>(sql, values)).rows[0]?.value as T;
for (let n = 1; n <= iterations; n++) {
  const from = await one<string>('select pg_current_wal_insert_lsn() as value');
  const lease = await one<string>(`select focus_claim($1, 'bench', 3600) ->> 'lease' as value`, [item]);
  await client.query('select pg_stat_force_next_flush()'); // else what came before counts as this transaction's
  await client.query('begin');
  const { turn, ms: beginMs } = await one<{ turn: string; ms: number }>('select to_json(b) as value from pg_temp.begin($1, $2) b', [item, lease]);
  const rowsRead = Number(await one<string>('select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) as value from pg_stat_xact_user_tables'));
  await client.query('commit');
  await client.query('select pg_temp.finish($1, $2, $3, $4)', [item, lease, turn, n]);
  const walBytes = Number(await one<string>('select pg_current_wal_insert_lsn() - $1::pg_lsn as value', [from]));
  const { ms: rebuildMs, bytes: requestBytes } = await one<{ ms: number; bytes: number }>('select to_json(r) as value from pg_temp.rebuild($1) r', [turn]);
  rows.push({ iteration: n, walBytes, rowsRead, beginMs, rebuildMs, requestBytes });
  // What autovacuum does on a server that lives longer, at a time of our own choosing.
  if (n % 25 === 0) await client.query('vacuum analyze');
}
await client.end();
await stopEmbedded(dataDir);
await rm(dataDir, { recursive: true, force: true });

const csv = ['iteration,wal_bytes,rows_read,begin_ms,rebuild_ms,request_bytes', ...rows.map((row) =>
  [row.iteration, row.walBytes, row.rowsRead, row.beginMs.toFixed(3), row.rebuildMs.toFixed(3), row.requestBytes].join(','))].join('\n') + '\n';
await writeFile(new URL('flat.csv', import.meta.url), csv);
await writeFile(new URL('flat.svg', import.meta.url), plotFlat(csv));

/** The median of forty iterations, eight blocks, around n. */
const around = (n: number, key: keyof Row): number => {
  const window = rows.filter((row) => row.iteration > n - 20 && row.iteration <= n + 20).map((row) => row[key]).toSorted((a, b) => a - b);
  return window[Math.floor(window.length / 2)] ?? 0;
};
const late = Math.min(1000, iterations - 20);
for (const key of ['walBytes', 'rowsRead', 'beginMs', 'rebuildMs', 'requestBytes'] as const) {
  console.log(`${key}: ${around(50, key).toFixed(2)} around iteration 50, ${around(late, key).toFixed(2)} around iteration ${late}: ${(around(late, key) / around(50, key)).toFixed(2)}`);
}
