// The extension for those who have no npm: what `make dist` packs, and what pg_tle is given.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { installLedger } from '../../../runtime/install/installLedger.ts';
import { controlFile, pgTleScript, pgxnMeta, version } from '../../../sql/extensionSource.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { earlierVersions, releasedExtension } from '../../released.ts';

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
 * In place of pg_tle, which is not to be had here: its schema, with the functions by which it is given extensions. As there,
 * a script is kept as the text of a function between two quotes that it may not contain, and given once.
 */
const pgtle = (hasSchema: boolean): string => `
  create schema pgtle;
  create table pgtle.control (name text, default_version text, comment text, schema text);
  create function pgtle.keep(file text, ext text) returns boolean language plpgsql set search_path to pgtle as $stub$
  begin
    if ext ~ '\\$_pgtle_[oi]_\\$' then raise 'invalid character in extension definition'; end if;
    execute format('create function %I() returns text as $_pgtle_o_$ select $_pgtle_i_$%s$_pgtle_i_$ $_pgtle_o_$ language sql', file, ext);
    return true;
  end $stub$;
  create function pgtle.install_extension(name text, version text, description text, ext text, requires text[] default null${hasSchema ? ', schema text default null' : ''})
  returns boolean language plpgsql set search_path to pgtle as $stub$
  begin
    if exists (select from control c where c.name = $1) then raise 'extension "%" already installed', name; end if;
    insert into control values ($1, $2, $3, ${hasSchema ? '$6' : 'null'});
    return keep($1 || '--' || $2 || '.sql', $4);
  end $stub$;
  create function pgtle.install_extension_version_sql(name text, version text, ext text) returns boolean language sql return pgtle.keep($1 || '--' || $2 || '.sql', $3);
  create function pgtle.install_update_path(name text, fromvers text, tovers text, ext text) returns boolean language sql return pgtle.keep($1 || '--' || $2 || '--' || $3 || '.sql', $4);
  create function pgtle.set_default_version(name text, version text) returns boolean language sql as 'update pgtle.control set default_version = $2 returning true';
  create function pgtle.available_extensions(out name name, out default_version text, out comment text) returns setof record language sql stable as 'select name, default_version, comment from pgtle.control';
  create function pgtle.available_extension_versions(out name name, out version text) returns setof record language sql stable as
    $$ select f[1], f[2] from pg_proc cross join regexp_match(proname, '^(\\w+)--([\\d.]+)\\.sql$') f where pronamespace = 'pgtle'::regnamespace and f is not null $$;
  create function pgtle.extension_update_paths(name name, out source text, out target text, out path text) returns setof record language sql stable as
    $$ select f[2], f[3], f[2] || '--' || f[3] from pg_proc cross join regexp_match(proname, '^(\\w+)--([\\d.]+)--([\\d.]+)\\.sql$') f where pronamespace = 'pgtle'::regnamespace and f[1] = $1 $$`;

describe.each([
  { since: '1.5', hasSchema: true },
  { since: '1.0', hasSchema: false },
])('pg_tle $since', ({ hasSchema }) => {
  const role = `pgtle_admin_${randomBytes(6).toString('hex')}`;
  let database: TestDatabase;
  let folder: string;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createDatabase({ from: null });
    folder = await mkdtemp(join(tmpdir(), 'pg-tle-test-'));
    await mkdir(join(folder, 'extension'));
    await chmod(folder, 0o755);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`${pgtle(hasSchema)};
      create role ${role};
      grant all on schema pgtle to ${role};
      grant all on all tables in schema pgtle to ${role};
      grant set on parameter extension_control_path to ${role};
      do $$ begin execute format('grant create on database %I to ${role}', current_database()); end $$;
      set session authorization ${role}`);
  });
  afterEach(async () => {
    await client.end();
    await database.query(`drop owned by ${role} cascade; drop role ${role}`);
    await database.drop();
    await rm(folder, { recursive: true });
  });

  /** The server reads from files what pg_tle would hand it from its functions. */
  async function layOut(): Promise<{ default_version: string; comment: string; schema: string | null }> {
    const {
      rows: [control],
    } = await client.query<{ default_version: string; comment: string; schema: string | null }>('select * from pgtle.control');
    if (control === undefined) throw new Error('nothing was given');
    await writeFile(
      join(folder, 'extension', 'work_ledger.control'),
      [
        'relocatable = false',
        'superuser = false',
        `default_version = '${control.default_version}'`,
        ...(control.schema ? [`schema = '${control.schema}'`] : []),
      ].join('\n'),
    );
    for (const { name } of (
      await client.query<{ name: string }>(
        `select proname as name from pg_proc where pronamespace = 'pgtle'::regnamespace and proname like '%.sql'`,
      )
    ).rows) {
      await writeFile(
        join(folder, 'extension', name),
        (await client.query<{ script: string }>(`select pgtle.${client.escapeIdentifier(name)}() as script`)).rows[0]?.script ?? '',
      );
    }
    await client.query(`set extension_control_path = '${folder}'`);
    return control;
  }
  async function works(): Promise<void> {
    await client.query('reset session authorization');
    await installLedger(database.url, 'work_ledger'); // graphile-worker's schema
    // of these sources: else it throws
    expect(await installLedger(database.url, 'work_ledger')).toMatchObject({ form: 'extension', version: version(), changed: false });
    await client.query('set search_path to work_ledger, public');
    expect(
      (
        await client.query(
          `select entry.seq::integer from work_submit('fix', 'Fix it') item, ledger_append(item.id, 'note', 'It works') entry`,
        )
      ).rows,
    ).toEqual([{ seq: 1 }]);
  }

  test('what it is given makes a ledger, without a superuser', async () => {
    await client.query(pgTleScript());
    const control = await layOut();
    expect(control).toMatchObject({ default_version: version(), schema: hasSchema ? 'work_ledger' : null });
    expect(controlFile()).toContain(`comment = '${control.comment}'`);
    for (const statement of ['create schema work_ledger', 'create extension work_ledger schema work_ledger']) {
      expect(pgTleScript()).toContain(`${statement};`);
      await client.query(statement);
    }
    await works();
    await client.query(`set session authorization ${role}; ${pgTleScript()}`); // once more does no harm
  });

  test.each(earlierVersions())('what it is given upgrades a ledger of %s', async (earlier) => {
    await client.query(`select pgtle.install_extension('work_ledger', $1, 'x', $2)`, [
      earlier,
      releasedExtension(earlier).replace(/^\\echo .*\n/m, ''),
    ]);
    await layOut();
    await client.query('create schema work_ledger; create extension work_ledger schema work_ledger');
    await client.query(pgTleScript());
    await layOut();
    expect(pgTleScript()).toContain('alter extension work_ledger update;');
    await client.query('alter extension work_ledger update');
    await works();
  });
});
