// A database whose work is played in SQL, and the search of all its tables for a word.

import { cliOrFail } from './cli.ts';
import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { Session } from './session.ts';

export type Played = TestDatabase & {
  /** Runs statements with the functions of test/sql/_fixtures.sql in one transaction; the last one's value. */
  play(steps: string): Promise<string>;
  /** The tables that hold a word, as a plain dump would. */
  tablesWith(word: string): Promise<string[]>;
  cli(...args: string[]): Promise<{ stdout: string; stderr: string }>;
};

export async function playedDatabase(): Promise<Played> {
  const database = await createDatabase();
  await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set search_path to ledger, work_test, public`);
  return {
    ...database,
    cli: (...args) =>
      cliOrFail(args, {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger' },
      }),
    async play(steps) {
      const session = await Session.open(database.url);
      try {
        await session.run('begin');
        const value = String(await session.run(steps));
        await session.run('commit');
        return value;
      } finally {
        await session.close();
      }
    },
    async tablesWith(word) {
      const tables = await database.query<{ name: string }>(`
        select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema', 'work_test') order by 1`);
      const found: string[] = [];
      for (const { name } of tables) {
        const [row] = await database.query<{ n: number }>(`select count(*)::int as n from ${name} t where t::text ~* '${word}'`);
        if ((row?.n ?? 0) > 0) found.push(name);
      }
      return found;
    },
  };
}
