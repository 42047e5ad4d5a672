// Does an iteration cost more the longer the work runs? Of each iteration: bytes of WAL, rows read, milliseconds of iteration_begin(),
// which decides what the request leaves out and assembles it, and of context_at(), which assembles it alone.

import { openDrive } from './harness/drive.ts';
import { against, lineOf } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

const units = {
  'bytes of WAL': 'bytes',
  'rows read by iteration_begin': 'rows',
  iteration_begin: 'ms',
  context_at: 'ms',
  'the request': 'bytes',
};
type Row = Record<keyof typeof units, number>;

const rebuild = `
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
$$`;

export const flat: Question = {
  asks: 'Does an iteration cost more the longer the work runs?',
  axis: 'iteration',
  // Without page images, which come with checkpoints and not with the work; vacuum comes at a time of our own choosing.
  measure: ({ quick, say }) =>
    withServer(
      async ({ admin }) => {
        const iterations = quick ? 220 : 1020;
        const one = async <T>(sql: string, values: unknown[] = []): Promise<T> =>
          (await admin.query<{ value: T }>(sql, values)).rows[0]?.value as T;
        const { claim, begin, finish } = await openDrive(admin, { elide_budget: 0 });
        await admin.query(rebuild);
        const rows: Row[] = [];
        for (let n = 1; n <= iterations; n++) {
          const from = await one<string>('select pg_current_wal_insert_lsn() as value');
          const lease = await claim();
          await admin.query('select pg_stat_force_next_flush()'); // else what came before counts as this transaction's
          await admin.query('begin');
          const { turn, ms } = await begin(lease);
          const read = Number(
            await one<string>('select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) as value from pg_stat_xact_user_tables'),
          );
          await admin.query('commit');
          await finish(lease, turn, n);
          const wal = Number(await one<string>('select pg_current_wal_insert_lsn() - $1::pg_lsn as value', [from]));
          const rebuilt = await one<{ ms: number; bytes: number }>('select to_json(r) as value from pg_temp.rebuild($1) r', [turn]);
          rows.push({
            'bytes of WAL': wal,
            'rows read by iteration_begin': read,
            iteration_begin: ms,
            context_at: rebuilt.ms,
            'the request': rebuilt.bytes,
          });
          if (n % 25 === 0) await admin.query('vacuum analyze');
          if (n % 200 === 0) say(`flat: ${n} iterations`);
        }
        return linesOfRows(rows, quick ? [50, 100, 200] : [50, 100, 200, 400, 700, 1000]);
      },
      { full_page_writes: 'off', autovacuum: 'off' },
    ),
};

/** Each place is forty iterations, eight blocks, and stands against the first. */
function linesOfRows(rows: readonly Row[], places: readonly number[]): Line[] {
  return (Object.keys(units) as (keyof Row)[]).flatMap((name) => {
    const lines = places.map((place) =>
      lineOf(
        name,
        units[name],
        rows.slice(place - 20, place + 20).map((row) => row[name]),
        place,
      ),
    );
    const [first] = lines;
    return lines.map((line) => (first === undefined || line === first ? line : against(line, { ...first, name: `that at ${first.at}` })));
  });
}
