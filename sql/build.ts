// Builds the extension into build/share/extension/, which PostgreSQL 18 can load as it is (extension_control_path) and
// PGXS installs elsewhere; and into build/work_ledger-VERSION/, a folder for those who have no npm. With --verify it checks instead what must agree: versions, and
// released schema files. With --found it prints what the npm package need not find again.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { build as buildOf, controlFile, extensionScript, pgTleScript, pgxnMeta, tables, thawed, version } from './extensionSource.ts';

if (process.argv.includes('--verify')) {
  const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  const problems = [
    ...thawed(),
    ...(packageJson.version === version() ? [] : [`package.json says version ${packageJson.version}, work_ledger.control says ${version()}`]),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else if (process.argv.includes('--found')) {
  process.stdout.write(JSON.stringify({ build: buildOf(), tables: tables() }));
} else {
  const folder = new URL('../build/share/extension/', import.meta.url);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('work_ledger.control', folder), controlFile());
  writeFileSync(new URL(`work_ledger--${version()}.sql`, folder), extensionScript());

  const build = new URL('../build/', import.meta.url);
  for (const old of readdirSync(build).filter((name) => name.startsWith('work_ledger-'))) rmSync(new URL(old, build), { recursive: true });
  const alone = new URL(`work_ledger-${version()}/`, build);
  mkdirSync(new URL('doc/', alone), { recursive: true });
  const files = { 'Makefile': 'Makefile', 'doc/sql.md': '../docs/sql.md', 'LICENSE': '../LICENSE', 'README.md': '../README.md' };
  for (const [to, from] of Object.entries(files)) copyFileSync(new URL(from, import.meta.url), new URL(to, alone));
  writeFileSync(new URL('work_ledger.control', alone), controlFile());
  writeFileSync(new URL(`work_ledger--${version()}.sql`, alone), extensionScript());
  writeFileSync(new URL('pg_tle.sql', alone), pgTleScript());
  writeFileSync(new URL('META.json', alone), `${JSON.stringify(pgxnMeta(), null, 2)}\n`);
}
