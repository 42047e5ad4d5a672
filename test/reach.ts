// Which changes reach the tests that cost most: those of work as it is done, which words and other tests do not reach, and among them those that
// drive browsers, pairs of servers or workers that are hosts of their own, and a release, which not every source reaches. CI leaves out what
// nothing reaches that changed since everything was run:
//   node test/reach.ts COMMIT   prints the tests that no change since then reaches, one a line
// A change of a file that this table does not know reaches all of them.

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What a file of ours imports, and what these import as long as they are helpers of tests. */
export function importsOf(file: string, seen = new Set<string>()): Set<string> {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/from '(\.[^']*\.ts)'/g)) {
    const imported = relative(root, join(root, dirname(file), name));
    if (seen.has(imported)) continue;
    seen.add(imported);
    if (imported.startsWith('test/')) importsOf(imported, seen);
  }
  return seen;
}

/** Whether a test, or a helper of its, names the words of this project other than in a comment: it may read them. */
export const namesWords = (file: string): boolean =>
  [file, ...importsOf(file)]
    .filter((name) => name.startsWith('test/'))
    .map((name) => readFileSync(join(root, name), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, ''))
    .some((text) => /\bdocs\b|\bREADME\.md\b|\bCHANGELOG\b|\bLICENSE\b|\*\.md\b|ls-files/.test(text));

/** The folders of tests of work as it is done; of what the tests there share, a change reaches all of them. */
const played = 'test/{console,e2e,faults,long,model,plv8,roles,sandbox}/**';

type Costly = { tests: readonly string[]; paths: readonly string[] };

/** What starts any program of ours, asks a model of a test, and what any ledger begins with. */
const everywhere = [
  'runtime/*.ts',
  'runtime/install/**',
  'runtime/ledger/**',
  'runtime/model/**',
  'sql/*',
  'sql/schema/**',
  'sql/upgrades/**',
  'sql/api/00_ground/**',
  'test/!(*.test).ts',
  'test/*.sql',
  'test/*.c',
];
const commands = ['runtime/commandLine/**', 'runtime/commands/**'];
const worker = ['runtime/worker/**', 'runtime/focus/**', 'runtime/tools/tool.ts', 'sql/api/40_focus/**'];
const work = [
  ...worker,
  'runtime/tools/**',
  'sql/api/10_faculty/**',
  'sql/api/20_submit/**',
  'sql/api/60_iteration/**',
  'sql/api/70_control/**',
];

/** What not every source reaches. */
const narrow: readonly Costly[] = [
  {
    // A page shows what any function of SQL answers.
    tests: ['test/console/browser*.test.ts'],
    paths: [
      ...everywhere,
      ...commands,
      ...work,
      'runtime/{console,import,mcp,faculty,telemetry}/**',
      'plv8/**',
      'sql/**',
      'test/console/**',
      'test/faults/proxy.ts',
    ],
  },
  {
    tests: ['test/long/move.test.ts', 'test/e2e/move.test.ts'],
    paths: [...everywhere, ...commands, ...worker, 'runtime/move/**', 'sql/api/{80_erasure,85_evidence,95_views,98_roles}/**'],
  },
  {
    tests: ['test/long/failover.test.ts', 'test/long/standby.test.ts'],
    paths: [
      ...everywhere,
      ...commands,
      ...worker,
      'runtime/{console,import,mcp}/**',
      'sandbox/isAlive.ts',
      'sql/api/95_views/**',
      'test/console/crew.ts',
      'test/faults/ground.ts',
    ],
  },
  {
    tests: ['test/long/pgbouncer.test.ts', 'test/long/connections.test.ts'],
    paths: [...everywhere, ...commands, ...worker, 'runtime/mcp/**', 'sql/api/95_views/**'],
  },
  {
    tests: ['test/long/links.test.ts'],
    paths: [...everywhere, ...commands, 'sql/api/{10_faculty,45_ledger,95_views,98_roles}/**'],
  },
  {
    tests: ['test/long/daemons.test.ts', 'test/long/hosts.test.ts'],
    paths: [...everywhere, ...work, 'sandbox/**', 'runtime/faculty/**', 'sql/api/95_views/**', 'test/faults/ground.ts'],
  },
  { tests: ['test/long/release.test.ts'], paths: [...everywhere, 'release.ts'] },
  { tests: ['test/long/clocks.test.ts'], paths: [...everywhere, ...work, 'sandbox/**'] },
];

/** What reaches work as it is done. */
const sources = [
  ...everywhere,
  `${played}/!(*.test).ts`,
  `${played}/!(*.ts|*.md)`,
  'test/runtime/**/!(*.test).ts',
  'test/{bench,fixtures,newcomer,released}/**',
  'test/sql/_*.sql',
  'test/**/*.sh',
  '{runtime,sandbox,plv8,sql,bin,plugin,deploy}/**',
];

export const costly: readonly Costly[] = [
  { tests: globSync(`${played}/*.test.ts`, { cwd: root }).filter((file) => !namesWords(file)), paths: sources },
  { tests: ['test/sql.test.ts'], paths: [...sources, 'test/sql/**'] },
  ...narrow,
];

/** What reaches nothing but itself: words, other tests, what is built for others. */
const elsewhere = [
  '*.md',
  'LICENSE',
  'docs/**',
  '.github/**',
  '.oxlintrc.json',
  '.oxfmtrc.json',
  '.editorconfig',
  '.git-blame-ignore-revs',
  '.ci/whole',
  'deploy/**',
  'plugin/**',
  'bin/**',
  'test/**/*.md',
  'test/{bench,console,e2e,faults,fixtures,long,model,mutants,newcomer,plv8,released,roles,runtime,sandbox,sql}/**',
  'test/*.test.ts',
  'test/**/*.sh',
];

const isAmong = (path: string, globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(path, glob));
const isKnown = (path: string): boolean => isAmong(path, [...elsewhere, ...narrow.flatMap(({ paths }) => paths)]);

/** The tests that none of these changed paths reaches; one that changed itself is run. */
export function unreached(changed: readonly string[]): string[] {
  if (!changed.every(isKnown)) return [];
  const left = costly
    .filter(({ paths }) => !changed.some((path) => isAmong(path, paths)))
    .flatMap(({ tests }) => tests.filter((glob) => !changed.some((path) => matchesGlob(path, glob))));
  return [...new Set(left)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const changed = execFileSync('git', ['diff', '--name-only', '-z', process.argv[2] ?? 'HEAD', 'HEAD'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);
  for (const tests of unreached(changed)) console.log(tests);
}
