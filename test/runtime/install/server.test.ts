// A ledger that has come to another major version of PostgreSQL gets what that one needs, in both forms, though its build is the same;
// and a script for psql prints nothing there.

import { readFileSync } from 'node:fs';

import pg from 'pg';
import { expect, test } from 'vitest';

import { comparedCode } from '../../../runtime/install/comparedCode.ts';
import { installLedger } from '../../../runtime/install/installLedger.ts';
import { installScript } from '../../../runtime/install/installScript.ts';
import { silent } from '../../../runtime/install/queue.ts';
import { standing } from '../../../runtime/ledger/checkLedger.ts';
import { withConnection } from '../../../runtime/ledger/connection.ts';
import { catalogLines, difference } from '../../catalog.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

/** What PostgreSQL 15 to 17 have. */
const earlier =
  /else\n([^]*)end if;/.exec(readFileSync(new URL('../../../sql/api/00_ground/server.sql', import.meta.url), 'utf8'))?.[1] ?? '';

const catalogOf = ({ url }: TestDatabase): Promise<string[]> =>
  withConnection({ connectionString: url }, (client) => catalogLines(client, 'ledger'));

/** A ledger as pg_upgrade leaves one of PostgreSQL 15. */
async function upgraded(form: 'script' | 'extension'): Promise<{ database: TestDatabase; before: string[] }> {
  const database = await createDatabase(form === 'extension' ? {} : { from: null });
  await installLedger(database.url, 'ledger');
  const before = await catalogOf(database);
  await database.query(`set search_path to ledger; ${earlier} update installed_code set server = 15`);
  expect(await comparedCode(database.url, 'ledger')).toEqual([{ place: 'function _uuidv7()', problem: 'is not the one of this package' }]);
  expect(await database.query('select place, problem from ledger.ledger_verify()')).not.toEqual([]);
  return { database, before };
}

async function isWhole({ database, before }: Awaited<ReturnType<typeof upgraded>>): Promise<void> {
  expect(await comparedCode(database.url, 'ledger')).toEqual([]);
  expect(await database.query('select place, problem from ledger.ledger_verify()')).toEqual([]);
  expect(difference(before, await catalogOf(database))).toEqual([]);
}

test.each(['script', 'extension'] as const)(
  'a ledger of the %s that came from an earlier PostgreSQL is brought to this one by install',
  async (form) => {
    const one = await upgraded(form);
    expect(await installLedger(one.database.url, 'ledger')).toMatchObject({ form, changed: true, upgradedFrom: null });
    await isWhole(one);
    expect(await installLedger(one.database.url, 'ledger')).toMatchObject({ changed: false });
    await one.database.drop();
  },
);

test.each(['script', 'extension'] as const)('a ledger of the %s is brought to it by the script that install prints', async (form) => {
  const one = await upgraded(form);
  await one.database.query((await installScript(await standing(one.database.url, 'ledger'), 'ledger', null)) ?? '');
  await isWhole(one);
  expect(await installScript(await standing(one.database.url, 'ledger'), 'ledger', null)).toBeNull();
  await one.database.drop();
});

test('what was changed by hand on the earlier PostgreSQL is not taken for what was installed', async () => {
  const one = await upgraded('script');
  await one.database.query(`create or replace function ledger._now() returns timestamptz language sql volatile return clock_timestamp()`);
  await installLedger(one.database.url, 'ledger');
  expect(await one.database.query('select name from ledger.installed_code where name = $$_now()$$')).toEqual([]);
  expect((await comparedCode(one.database.url, 'ledger'))?.map(({ place }) => place)).toEqual(['function _now()']);
  await one.database.drop({ unchecked: 'a function was replaced' });
});

test('a script for psql answers nothing: a DBA sees errors alone', async () => {
  const database = await createDatabase({ from: null });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const answers = async (script: string): Promise<string[]> =>
      [await client.query(script)]
        .flat()
        .filter(({ fields }) => fields.length > 0)
        .map(({ fields }) => fields.map(({ name }) => name).join());
    expect(await answers((await installScript(null, 'ledger', null)) ?? '')).toEqual([]);
    await client.query('set search_path to public');
    await client.query(`${earlier.replace('_uuidv7', 'ledger._uuidv7')} update ledger.installed_code set server = 15`);
    expect(await answers((await installScript(await standing(database.url, 'ledger'), 'ledger', null)) ?? '')).toEqual([]);
  } finally {
    await client.end();
    await database.drop();
  }
});

test('queries are performed, whatever stands around them, and nothing else is touched', () => {
  expect(silent(`select 1;`)).toBe('do $silent$ begin perform 1; end $silent$;');
  expect(silent(`insert into a\nselect 1;\n-- then;\nselect ';''', "b;" from c;`)).toBe(
    `insert into a\nselect 1;\n-- then;\ndo $silent$ begin perform ';''', "b;" from c; end $silent$;`,
  );
  const untouched = `create function f() returns int as $$\nselect 1;\n$$ language sql;\ndo $x$ begin perform 1; end $x$;`;
  expect(silent(untouched)).toBe(untouched);
});

test('a ledger of the script whose dump was restored, or that a session with settings of its own installed, is the one of the package', async () => {
  const database = await createDatabase({ from: null });
  await database.query(`do $$ begin execute format('alter database %I set quote_all_identifiers = on', current_database()); end $$`);
  await installLedger(database.url, 'ledger');
  await database.query(`do $$
    declare
      v_view regclass;
    begin
      set local quote_all_identifiers = off;
      for v_view in select oid from pg_class where relnamespace = 'ledger'::regnamespace and relkind = 'v' loop
        execute format('create or replace view %s with (security_invoker = true) as %s', v_view, pg_get_viewdef(v_view));
      end loop;
    end $$`);
  expect(await database.query('select place, problem from ledger.ledger_verify()')).toEqual([]);
  expect(await comparedCode(database.url, 'ledger')).toEqual([]);
  await database.drop();
});
