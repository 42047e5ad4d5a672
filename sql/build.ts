// Builds the extension into build/share/extension/, which PostgreSQL 18 can load as it is (extension_control_path) and
// PGXS installs elsewhere; and into build/work_ledger-VERSION/, a folder for those who have no npm. With --verify it checks instead what
// must agree: versions, and what was released. With --freeze it adds the present version to that. With --found it prints what the npm
// package need not find again.

import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

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
  writeExtension(new URL('../build/share/extension/', import.meta.url));

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

/** Whoever reads the folder meanwhile, to install it or to load it, finds each file whole: one that is as it must be is not touched. */
function writeExtension(folder: URL): void {
  const files = new Map([['work_ledger.control', controlFile()], ...extensionScripts()]);
  mkdirSync(folder, { recursive: true });
  const found = readdirSync(folder);
  for (const other of found.filter((name) => /\.(?:sql|control)$/.test(name) && !files.has(name))) rmSync(new URL(other, folder));
  for (const [name, text] of files) {
    const file = new URL(name, folder);
    if (found.includes(name) && readFileSync(file, 'utf8') === text) continue;
    const written = new URL(`${name}.${process.pid}`, folder);
    writeFileSync(written, text);
    renameSync(written, file);
  }
}
