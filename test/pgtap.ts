// A pgTAP file is run as it is, and what it said is read from its rows.

import pg from 'pg';

export type PgtapRun = { plan: number; error: { code: string; text: string } | null; assertions: { isOk: boolean; text: string }[] };

/** Runs the text of a pgTAP file. A pg.Query with events, because the promise form loses every row before an error. */
export async function runPgtap(client: pg.Client, sql: string): Promise<PgtapRun> {
  const rows: string[] = [];
  const error = await new Promise<PgtapRun['error']>((resolve) => {
    let failure: PgtapRun['error'] = null;
    const query = new pg.Query({ text: sql, rowMode: 'array' } as never) as unknown as NodeJS.EventEmitter;
    query.on('row', (row: unknown[]) => rows.push(String(row[0])));
    query.on('error', (thrown: Error & { code?: string; where?: string }) => {
      failure = {
        code: thrown.code ?? '',
        text: [`${thrown.code ?? ''} ${thrown.message}`.trim(), thrown.where].filter(Boolean).join('\n'),
      };
      resolve(failure);
    });
    query.on('end', () => resolve(failure));
    client.query(query as never);
  });
  if (error !== null) await client.query('rollback');
  return {
    error,
    plan: Number(rows.map((row) => /^1\.\.(\d+)$/.exec(row)?.[1]).find(Boolean) ?? -1),
    assertions: rows.flatMap((row) => {
      const line = /^(not )?ok \d+/m.exec(row);
      return line ? [{ isOk: !line[1], text: row }] : [];
    }),
  };
}

/** What is wrong with a run; empty: nothing. */
export function wrongOf(run: PgtapRun): string[] {
  const wrong = run.assertions.filter((assertion) => !assertion.isOk).map((assertion) => assertion.text);
  if (run.error) wrong.push(run.error.text);
  if (!run.error && run.assertions.length !== run.plan)
    wrong.push(`${run.assertions.length} assertions ran of ${run.plan} that are planned`);
  return wrong;
}
