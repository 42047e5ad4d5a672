// Releases a version, or starts the next one:
//
// node release.ts 0.2.0 --rehearse   everything but tagging and publishing node release.ts 0.2.0              everything; asks before it
// tags and publishes node release.ts 0.3.0 --next       after a release: the next number, an upgrade script, a section of the changelog
//
// A release is made in a separate work tree, so that one that fails, or is only rehearsed, changes nothing here. Steps that can fail
// without harm come first: checks, files, builds. Then it asks once, and then come the steps that cannot be undone.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { frozen, version as present } from './sql/extensionSource.ts';
import { setVersion } from './sql/versionNumber.ts';

const root = fileURLToPath(new URL('./', import.meta.url));
/** IMAGE: the name under which the image is pushed; without it, the image is only built. */
const image = process.env['IMAGE'] ?? 'work-ledger';

const output = (command: string, args: readonly string[], cwd = root): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
const run = (command: string, args: readonly string[], cwd = root): void => {
  console.log(`\n$ ${[command, ...args].join(' ')}`);
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
};
/** Ignores the time of node_modules, because setting a new version makes the lock file newer. */
const make = (cwd: string, ...targets: string[]): void => run('make', ['-o', 'node_modules', ...targets], cwd);
const works = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const isNumber = (version: string): boolean => /^\d+\.\d+\.\d+$/.test(version);
/** The changelog's section about a version, without its heading; null if there is none. */
const sectionOf = (version: string): { heading: string; text: string } | null => {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const [heading = '', ...lines] = sections.find((section) => section.startsWith(`## ${version} `))?.split('\n') ?? [];
  return heading === '' ? null : { heading, text: lines.join('\n').trim() };
};

/** Why this version cannot be released from this place at the moment, one sentence per reason. */
function problems(version: string): string[] {
  const section = sectionOf(version);
  const notSaid =
    section === null
      ? [`CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)"`]
      : [
          ...(/ \(\d{4}-\d\d-\d\d\)$/.test(section.heading)
            ? []
            : [`CHANGELOG.md has "${section.heading}", not "## ${version} (YYYY-MM-DD)"`]),
          ...(section.text === '' ? [`CHANGELOG.md says nothing about version ${version}`] : []),
          ...(/\bpending\b|not released yet/i.test(section.text)
            ? [`CHANGELOG.md still calls something of version ${version} pending`]
            : []),
        ];
  const branch = output('git', ['branch', '--show-current']);
  return [
    ...(frozen().versions.some((one) => one.version === version) ? [`version ${version} is released already`] : []),
    ...(output('git', ['tag', '--list', `v${version}`]) === '' ? [] : [`there is a tag v${version} already`]),
    ...(branch === 'main' ? [] : [`a release is made of the branch main, not of ${branch === '' ? 'a commit without a branch' : branch}`]),
    ...(output('git', ['status', '--porcelain']) === '' ? [] : ['there are changes that are not committed']),
    ...notSaid,
    ...['npm', 'zip'].filter((program) => !works(program, '--version')).map((program) => `${program} is not on PATH`),
  ];
}

/** Sets the version number everywhere. The upgrade script to the previous number is renamed to lead to this one. */
function renumber(at: string, version: string): void {
  const [last] = frozen().versions.slice(-1);
  const upgradeTo = (to: string): string => `sql/upgrades/${last?.version}--${to}.sql`;
  setVersion(pathToFileURL(at), version);
  if (last !== undefined && version !== present()) run('git', ['mv', upgradeTo(present()), upgradeTo(version)], at);
}

/** Sets the number, freezes the version, checks it, and builds what will be published. */
function prepare(at: string, version: string): void {
  renumber(at, version);
  make(at, 'schema'); // generated files contain the number too
  make(at, 'freeze');
  make(at, 'verify');
  make(at, 'build', 'dist');
  run('npm', ['pack', '--silent', '--pack-destination', 'build'], at);
  run('git', ['add', '--all'], at);
  run('git', ['commit', '--quiet', '--message', `Release ${version}`], at);
}

const baseImage = (at: string): string => /^FROM (\S+)/m.exec(readFileSync(join(at, 'deploy/Dockerfile'), 'utf8'))?.[1] ?? '';
const hasDocker = (): boolean => works('docker', 'version');
const buildImage = (at: string, version: string): void =>
  run('docker', ['build', '--quiet', '--tag', `${image}:${version}`, '--file', 'deploy/Dockerfile', '.'], at);

/** Keeps the published files in build/release/. */
function keepFiles(at: string, version: string): string[] {
  const kept = join(root, 'build', 'release');
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const names = [`work-ledger-${version}.tgz`, `work_ledger-${version}.zip`];
  for (const name of names) copyFileSync(join(at, 'build', name), join(kept, name));
  return names.map((name) => join('build', 'release', name));
}

/** The steps that cannot be undone, ordered so that a failure leaves as little as possible behind. */
function publishing(version: string, commit: string, tarball: string): [string, ...string[]][] {
  return [
    ['git', 'merge', '--ff-only', commit],
    ['git', 'tag', '--annotate', `v${version}`, '--message', `Work Ledger ${version}\n\n${sectionOf(version)?.text ?? ''}`],
    ['git', 'push', '--atomic', 'origin', 'main', `v${version}`],
    ['npm', 'publish', tarball],
    ...(process.env['IMAGE'] === undefined ? [] : [['docker', 'push', `${image}:${version}`] as [string, ...string[]]]),
  ];
}

async function release(version: string, isRehearsal: boolean): Promise<void> {
  const lacks = [...problems(version), ...(isRehearsal || hasDocker() ? [] : ['the image cannot be built: no Docker daemon answers'])];
  if (lacks.length > 0) throw new Error(lacks.join('\n'));
  const at = `${mkdtempSync(join(tmpdir(), 'work-ledger-release-'))}/`;
  try {
    run('git', ['worktree', 'add', '--quiet', '--detach', at, 'HEAD']);
    symlinkSync(join(root, 'node_modules'), join(at, 'node_modules'));
    prepare(at, version);
    if (!isRehearsal || (hasDocker() && works('docker', 'image', 'inspect', baseImage(at)))) buildImage(at, version);
    else console.log(`\nThe image is left out: it needs a Docker daemon that has ${baseImage(at)}`);
    const commit = output('git', ['rev-parse', 'HEAD'], at);
    const [tarball = '', zip = ''] = keepFiles(at, version);
    const steps = publishing(version, commit, tarball);
    console.log(`\n${isRehearsal ? 'Rehearsed. A release would go on with' : 'Ready. What follows cannot be taken back'}:`);
    for (const step of steps) console.log(`  ${step.join(' ').split('\n')[0]}`);
    console.log(`  and you upload ${zip} to PGXN`);
    if (isRehearsal) return;
    if (!(await isMeant(version))) throw new Error('nothing was tagged or published');
    for (const [command, ...args] of steps) run(command, args);
    console.log(`\nReleased. Upload ${zip} to PGXN; then begin the next version: make next VERSION=x.y.z`);
  } finally {
    if (existsSync(join(at, '.git'))) output('git', ['worktree', 'remove', '--force', at]);
    rmSync(at, { recursive: true, force: true });
  }
}

async function isMeant(version: string): Promise<boolean> {
  const asked = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await asked.question(`\nType ${version} to go on: `)).trim() === version;
  } finally {
    asked.close();
  }
}

/** After a release, starts the next version, to which all further changes belong. */
function begin(version: string): void {
  const [last] = frozen().versions.slice(-1);
  if (last?.version !== present()) throw new Error(`version ${present()} is not released yet`);
  setVersion(pathToFileURL(root), version);
  const upgrade = `-- From ${last.version} to ${version}: what sql/schema/ gained, done to tables that have rows.\n\n@functions@\n`;
  writeFileSync(join(root, `sql/upgrades/${last.version}--${version}.sql`), upgrade);
  const changelog = join(root, 'CHANGELOG.md');
  writeFileSync(changelog, readFileSync(changelog, 'utf8').replace(/^(?=## )/m, `## ${version} (not released yet)\n\n`));
  console.log(`${version} is begun: look at git diff, run make verify, commit.`);
}

const {
  values,
  positionals: [version = ''],
} = parseArgs({
  allowPositionals: true,
  options: { rehearse: { type: 'boolean', default: false }, next: { type: 'boolean', default: false } },
});
try {
  if (!isNumber(version)) throw new Error('which version? three numbers, such as VERSION=0.2.0');
  if (values.next) begin(version);
  else await release(version, values.rehearse);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
