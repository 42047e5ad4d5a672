// The extension for those who have no npm: what `make dist` packs, and what pg_tle is given.

import { expect, test } from 'vitest';

import { controlFile, extensionScript, pgTleScript, pgxnMeta, version } from '../../../sql/extensionSource.ts';

test('META.json has what PGXN requires, and names files that are packed', () => {
  const meta = pgxnMeta();
  expect(meta).toMatchObject({ name: 'work_ledger', version: version(), license: 'mit', 'meta-spec': { version: '1.0.0' } });
  expect(meta.version).toMatch(/^\d+\.\d+\.\d+$/); // semantic versioning is required, of prerequisites too
  expect(meta.prereqs.runtime.requires.PostgreSQL).toMatch(/^\d+\.\d+\.\d+$/);
  expect(meta.abstract).not.toBe('');
  expect(meta.maintainer).not.toBe('');
  expect(meta.provides.work_ledger).toMatchObject({ file: `work_ledger--${version()}.sql`, docfile: 'doc/sql.md', version: version() });
});

test('the extension names its schema, in files and for pg_tle', () => {
  expect(controlFile()).toMatch(/^schema = 'work_ledger'$/m);
  expect(pgTleScript()).toContain(`pgtle.install_extension($1, $2, $3, $4, null, $1)' using 'work_ledger', '${version()}'`);
});

test('what pg_tle is given is the extension\'s script, without what only psql understands and without the quotes that it refuses', () => {
  const script = /v_script text := \$work_ledger\$\n([^]*)\n\$work_ledger\$;/.exec(pgTleScript())?.[1] ?? '';
  expect(script).not.toMatch(/^\\/m);
  expect(script).not.toMatch(/\$_pgtle_[oi]_\$/);
  expect(script).toBe(extensionScript().replace(/^\\echo .*\n/m, ''));
});
