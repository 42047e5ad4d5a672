// A connection of its own in a transaction of its own, so that a test can say what one does while another waits for it.

import pg from 'pg';

import { until } from './workerProcess.ts';

export class Session {
  readonly pid: number;
  readonly #client: pg.Client;
  /** Looks on while the other one waits. */
  readonly #watch: pg.Client;

  private constructor(client: pg.Client, watch: pg.Client, pid: number) {
    this.#client = client;
    this.#watch = watch;
    this.pid = pid;
  }

  static async open(url: string): Promise<Session> {
    const [client, watch] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
    for (const one of [client, watch]) one.on('error', () => {}); // whoever runs a statement hears of it
    await Promise.all([client.connect(), watch.connect()]);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new Session(client, watch, rows[0]!.pid);
  }

  /** The first column of the first row, of several statements the last one's. */
  async run(sql: string): Promise<unknown> {
    const result = [await this.#client.query<unknown[]>({ text: sql, rowMode: 'array' })].flat().at(-1);
    return result?.rows[0]?.[0];
  }

  /** Begins a statement: what becomes of it (`done`, or the code of its error), and whether it comes to wait for another session. */
  begin(sql: string): { outcome: Promise<string>; waitsFor(other: Session): Promise<boolean> } {
    let isOver = false;
    const outcome = this.#client
      .query(sql)
      .then(
        () => 'done',
        (error: { code?: string }) => error.code ?? 'an error without a code',
      )
      .finally(() => (isOver = true));
    return {
      outcome,
      waitsFor: (other) =>
        Promise.race([
          outcome.then(() => false),
          until(async () => isOver || (await this.#blockers()).includes(other.pid)).then(() => !isOver),
        ]),
    };
  }

  async #blockers(): Promise<number[]> {
    const { rows } = await this.#watch.query<{ pids: number[] }>('select pg_blocking_pids($1) as pids', [this.pid]);
    return rows[0]!.pids;
  }

  /** Whatever it does. */
  async close(): Promise<void> {
    await this.#watch.query('select pg_terminate_backend($1)', [this.pid]);
    await Promise.all([this.#client.end(), this.#watch.end()]);
  }
}
