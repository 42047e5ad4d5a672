// The extension for those who have no npm: what `make dist` packs, and what pg_tle is given.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { expect, test } from 'vitest';

import { installLedger } from '../../../runtime/install/installLedger.ts';
import { controlFile, pgTleScript, pgxnMeta, version } from '../../../sql/extensionSource.ts';
import { createDatabase } from '../../database.ts';

test('META.json has what PGXN requires, and names files that are packed', () => {
  const meta = pgxnMeta();
  expect(meta).toMatchObject({ name: 'work_ledger', version: version(), license: 'mit', 'meta-spec': { version: '1.0.0' } });
  expect(meta.version).toMatch(/^\d+\.\d+\.\d+$/); // semantic versioning is required, of prerequisites too
  expect(meta.prereqs.runtime.requires.PostgreSQL).toMatch(/^\d+\.\d+\.\d+$/);
  expect(meta.abstract).not.toBe('');
  expect(meta.maintainer).not.toBe('');
  expect(meta.provides.work_ledger).toMatchObject({ file: `work_ledger--${version()}.sql`, docfile: 'doc/sql.md', version: version() });
});

test('the extension names its schema', () => {
  expect(controlFile()).toMatch(/^schema = 'work_ledger'$/m);
});

/**
 * In place of pg_tle, which is not to be had here: its schema, with the function by which it is given extensions. As there,
 * the script is kept as the text of a function between two quotes that it may not contain.
 */
const pgtle = (hasSchema: boolean): string => `
  create schema pgtle;
  create table pgtle.control (name text, version text, description text, schema text);
  create function pgtle.install_extension(name text, version text, description text, ext text, requires text[] default null${hasSchema ? ', schema text default null' : ''})
  returns boolean language plpgsql set search_path to pgtle as $stub$
  begin
    if concat(description, ext) ~ '\\$_pgtle_[oi]_\\$' then raise 'invalid character in extension definition'; end if;
    insert into control values ($1, $2, $3, ${hasSchema ? '$6' : 'null'});
    execute format('create function %I() returns text as $_pgtle_o_$ select $_pgtle_i_$%s$_pgtle_i_$ $_pgtle_o_$ language sql', $1 || '--' || $2 || '.sql', $4);
    return true;
  end $stub$`;

test.each([{ since: '1.5', hasSchema: true }, { since: '1.0', hasSchema: false }])('what pg_tle $since is given makes a ledger, without a superuser', async ({ hasSchema }) => {
  const database = await createDatabase({ from: null });
  const role = `pgtle_admin_${randomBytes(6).toString('hex')}`;
  const folder = await mkdtemp(join(tmpdir(), 'pg-tle-test-'));
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    await client.query(`${pgtle(hasSchema)};
      create role ${role};
      grant all on schema pgtle to ${role};
      grant all on all tables in schema pgtle to ${role};
      grant set on parameter extension_control_path to ${role};
      do $$ begin execute format('grant create on database %I to ${role}', current_database()); end $$;
      set session authorization ${role}`);
    await client.query(pgTleScript());

    const { rows: [kept] } = await client.query<{ name: string; version: string; description: string; schema: string | null; script: string }>(`select *, pgtle."work_ledger--${version()}.sql"() as script from pgtle.control`);
    expect(kept).toMatchObject({ name: 'work_ledger', version: version(), schema: hasSchema ? 'work_ledger' : null });
    expect(controlFile()).toContain(`comment = '${kept?.description}'`);

    // The server reads from files what pg_tle would hand it from its functions.
    const files = join(folder, 'extension');
    await mkdir(files);
    await writeFile(join(files, 'work_ledger.control'), ['relocatable = false', 'superuser = false', `default_version = '${kept?.version}'`, ...(kept?.schema ? [`schema = '${kept.schema}'`] : [])].join('\n'));
    await writeFile(join(files, `work_ledger--${kept?.version}.sql`), kept?.script ?? '');
    await chmod(folder, 0o755);
    await client.query(`set extension_control_path = '${folder}'`);
    for (const statement of ['create schema work_ledger', 'create extension work_ledger schema work_ledger']) {
      expect(pgTleScript()).toContain(`${statement};`);
      await client.query(statement);
    }

    await client.query('reset session authorization');
    expect(await installLedger(database.url, 'work_ledger')).toMatchObject({ form: 'extension', version: version() }); // of these sources: else it throws
    await client.query('set search_path to work_ledger, public');
    expect((await client.query(`select entry.seq::integer from work_submit('fix', 'Fix it') item, ledger_append(item.id, 'note', 'It works') entry`)).rows).toEqual([{ seq: 1 }]);
  } finally {
    await client.end();
    await database.query(`drop owned by ${role} cascade; drop role ${role}`);
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
