// Builds the extension into build/share/extension/, which PostgreSQL 18 can load as it is (extension_control_path) and
// PGXS installs elsewhere; and into build/work_ledger-VERSION/, a folder for those who have no npm. With --verify it checks instead what
// must agree: versions, and what was released. With --freeze it adds the present version to that. With --found it prints what the npm
// package need not find again.

import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import {
  build as buildOf,
  controlFile,
  digest,
  extensionScript,
  extensionScripts,
  frozen,
  pgTleScript,
  pgxnMeta,
  tables,
  thawed,
  version,
} from './extensionSource.ts';
import { differingCopies } from './versionNumber.ts';

/** The script of a released version as it is kept for tests of upgrades. */
const keptScript = (of: string): URL => new URL(`../test/released/work_ledger--${of}.sql`, import.meta.url);

if (process.argv.includes('--verify')) {
  const problems = [
    ...thawed(),
    ...frozen()
      .versions.filter((one) => !existsSync(keptScript(one.version)) || digest(readFileSync(keptScript(one.version), 'utf8')) !== one.hash)
      .map((one) => `test/released/ does not have the script of version ${one.version} as it was released`),
    ...differingCopies(new URL('../', import.meta.url), version()),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else if (process.argv.includes('--freeze')) {
  const { versions, upgrades } = frozen();
  const [last] = versions.slice(-1);
  if (versions.some((one) => one.version === version())) throw new Error(`version ${version()} is frozen already`);
  const path = `${last?.version}--${version()}`;
  const lines = [
    `${version()} ${buildOf()} ${digest(extensionScript())}`,
    ...(last === undefined || upgrades.some(({ name }) => name === path)
      ? []
      : [`${path} ${digest(readFileSync(new URL(`upgrades/${path}.sql`, import.meta.url), 'utf8'))}`]),
  ];
  writeFileSync(keptScript(version()), extensionScript());
  appendFileSync(new URL('upgrades/frozen.txt', import.meta.url), lines.map((line) => `${line}\n`).join(''));
} else if (process.argv.includes('--found')) {
  process.stdout.write(JSON.stringify({ build: buildOf(), tables: tables() }));
} else {
  const folder = new URL('../build/share/extension/', import.meta.url);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeExtension(folder);

  const build = new URL('../build/', import.meta.url);
  for (const old of readdirSync(build).filter((name) => name.startsWith('work_ledger-'))) rmSync(new URL(old, build), { recursive: true });
  const alone = new URL(`work_ledger-${version()}/`, build);
  mkdirSync(new URL('doc/', alone), { recursive: true });
  const files = { Makefile: 'Makefile', 'doc/sql.md': '../docs/sql.md', LICENSE: '../LICENSE', 'README.md': '../README.md' };
  for (const [to, from] of Object.entries(files)) copyFileSync(new URL(from, import.meta.url), new URL(to, alone));
  writeExtension(alone);
  writeFileSync(new URL('pg_tle.sql', alone), pgTleScript());
  writeFileSync(new URL('META.json', alone), `${JSON.stringify(pgxnMeta(), null, 2)}\n`);
}

function writeExtension(folder: URL): void {
  writeFileSync(new URL('work_ledger.control', folder), controlFile());
  for (const [name, script] of extensionScripts()) writeFileSync(new URL(name, folder), script);
}
