// One connection to a ledger, with a clock of its own: each statement happens a little later than the one before, and time
// passes where the driver says so. A statement can be rolled back before it is made again, or made twice, as a worker does
// whose connection broke before it had the answer.

import { createHash } from 'node:crypto';

import pg from 'pg';

export type Fault = 'rolled back' | 'repeated';

/** What a function refused, by its code. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

export class Ledger {
  /** Milliseconds. */
  now: number;
  /** What befalls the next statement. */
  fault: Fault | null = null;
  readonly #client: pg.Client;

  private constructor(client: pg.Client, now: number) {
    this.#client = client;
    this.now = now;
  }

  static async open(url: string, now: number): Promise<Ledger> {
    // As a worker's functions do: what is asked here is asked often, and planning it takes longer.
    const client = new pg.Client({ connectionString: url, options: '-c plan_cache_mode=force_generic_plan' });
    await client.connect();
    return new Ledger(client, now);
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  /** Calls a function of the ledger. Objects go in as JSON; what comes out is JSON, its keys in their order. */
  async call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const fault = this.fault;
    this.fault = null;
    this.now += 10;
    if (fault === 'rolled back') {
      await this.#client.query('begin');
      await this.#once(name, args).catch(() => {});
      await this.#client.query('rollback');
    }
    const answer = await this.#once(name, args);
    if (fault !== 'repeated') return answer;
    try {
      const again = await this.#once(name, args);
      if (steady.has(name) && JSON.stringify(again) !== JSON.stringify(answer))
        throw new Error(
          `${name} said something else when it was called again: ${JSON.stringify(again).slice(0, 500)} and first ${JSON.stringify(answer).slice(0, 500)}`,
        );
    } catch (error) {
      // What gave the lease back is refused the second time, and has nothing left to do.
      if (!(error instanceof Refused && ['WL003', 'WL004', 'WL005'].includes(error.code))) throw error;
    }
    return answer;
  }

  /** Calls a function that returns rows. */
  async all<Row>(name: string, ...args: readonly unknown[]): Promise<Row[]> {
    this.now += 10;
    return (await this.#values(name, args)) as Row[];
  }

  async rows<Row extends pg.QueryResultRow>(text: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#client.query<Row>({ ...prepared(text), values: [...values] })).rows;
  }

  async #once(name: string, args: readonly unknown[]): Promise<unknown> {
    return (await this.#values(name, args))[0] ?? null;
  }

  async #values(name: string, args: readonly unknown[]): Promise<unknown[]> {
    const values = args.map((arg) => (typeof arg === 'object' && arg !== null && !Array.isArray(arg) ? JSON.stringify(arg) : arg));
    const places = args.map((_, n) => `$${n + 2}`).join(', ');
    try {
      const { rows } = await this.#client.query<{ value: unknown }>({
        ...prepared(`select to_json(answer) as value from set_config('work_ledger.now', $1, false), ledger.${name}(${places}) answer`),
        values: [new Date(this.now).toISOString(), ...values],
      });
      return rows.map(({ value }) => value);
    } catch (error) {
      if (error instanceof pg.DatabaseError)
        throw new Refused(error.code ?? '?', `${name}: ${error.message}${error.where ? `\n${error.where}` : ''}`);
      throw error;
    }
  }
}

/** Planned once, where it is asked again: planning takes longer than what is asked. */
const prepared = (text: string): { name: string; text: string } => ({ name: createHash('md5').update(text).digest('hex'), text });

/** What says the same when it is called again at once. */
const steady = new Set([
  'iteration_begin',
  'iteration_step',
  'turn_record',
  'tool_call_nested',
  'recall_block',
  'context_at',
  'work_fork',
  'work_continue',
]);
