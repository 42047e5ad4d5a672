// Builds the extension into build/share/extension/, which PostgreSQL 18 can load as it is (extension_control_path) and
// PGXS installs elsewhere. With --verify it checks instead what must agree: versions, and released schema files.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { controlFile, extensionScript, thawed, version } from './extensionSource.ts';

if (process.argv.includes('--verify')) {
  const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  const problems = [
    ...thawed(),
    ...(packageJson.version === version() ? [] : [`package.json says version ${packageJson.version}, work_ledger.control says ${version()}`]),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  const folder = new URL('../build/share/extension/', import.meta.url);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('work_ledger.control', folder), controlFile());
  writeFileSync(new URL(`work_ledger--${version()}.sql`, folder), extensionScript());
}
