// Takes the guards of the house away, one at a time, and sees that the test of each notices. A function of SQL whose test is a
// pgTAP file is replaced in a database of its own; everything else is broken in a copy of the tree, where vitest runs the test.
//   node test/mutants/run.ts [part of a name...]
//   node test/mutants/run.ts --verify   only looks whether each mutant still has its place and its test

import '../inMemory.ts';

import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';

import { filled } from '../../sql/extensionSource.ts';
import { CLUSTER, startCluster, template } from '../globalSetup.ts';
import type { Cluster } from '../globalSetup.ts';
import { runPgtap, wrongOf } from '../pgtap.ts';
import type { Mutant } from './mutant.ts';
import { runtimeMutants } from './runtime.ts';
import { sqlMutants } from './sql.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const all: readonly Mutant[] = [...sqlMutants, ...runtimeMutants];
/** For two cores. */
const LANES = 2;
/** What a replaced function loses, and gets again. */
const PLANNER = 'sql/api/97_planner/planner.sql';

/** How a test ended. broken: it was not run, or stopped where it was being set up. */
type Verdict = { kind: 'green' } | { kind: 'failed'; why?: string } | { kind: 'broken'; why: string };
/** Files, each with the text that stands in for its own. */
type Change = ReadonlyMap<string, string>;
type Run = (test: Pick<Mutant, 'test' | 'title'>, change: Change) => Promise<Verdict>;

/** What is wrong with the definitions. */
function problems(): string[] {
  return all.flatMap(({ name, file, from, to, test, title }, n) => {
    const wrong: string[] = [];
    const places = existsSync(join(root, file)) ? read(file).split(from).length - 1 : 0;
    if (places !== 1) wrong.push(`what it replaces occurs ${places} times in ${file}`);
    if (from === to) wrong.push('it changes nothing');
    if (all.findIndex((other) => other.name === name) !== n) wrong.push('another one has its name');
    if (!existsSync(join(root, test))) wrong.push(`there is no ${test}`);
    else if (
      title !== undefined &&
      !read(test)
        .replaceAll(String.raw`\'`, "'")
        .includes(title)
    )
      wrong.push(`${test} has no test "${title}"`);
    else if (title === undefined && !test.endsWith('.test.sql')) wrong.push('which test of that file?');
    return wrong.map((why) => `${name}: ${why}`);
  });
}

const mutation = ({ file, from, to }: Mutant): Change => new Map([[file, read(file).replace(from, () => to)]]);
const isOfTheDatabase = ({ file, test }: Mutant): boolean => file.startsWith('sql/api/') && file !== PLANNER && test.endsWith('.test.sql');

/** The control: the same files changed in nothing but comments. A test that fails then notices that something was replaced, not what. */
function control(mutants: readonly Mutant[]): Change {
  return new Map(
    mutants.map(({ file }) => [
      file,
      file.endsWith('.sql')
        ? read(file).replaceAll(/^as \$\$$/gm, 'as $$$$\n-- a comment changes nothing')
        : `${read(file)}\n// a comment changes nothing\n`,
    ]),
  );
}

/** In a database of this name made from the template, with the functions of the changed files replaced. */
function inDatabase({ serverUrl }: Cluster, name: string): Run {
  return async ({ test }, change) => {
    const admin = new pg.Client({ connectionString: `${serverUrl}postgres` });
    await admin.connect();
    await admin.query(`create database ${name} template ${template}`);
    const client = new pg.Client({ connectionString: `${serverUrl}${name}` });
    await client.connect();
    try {
      // Noted as installed: else ledger_verify() finds every replaced function, whatever is in it.
      const functions = filled([...change.values(), read(PLANNER)].join('\n')).replaceAll('@extschema@', 'ledger');
      await client.query(`begin; set local search_path to ledger, pg_temp; ${functions}; select _code_note(); commit`);
      // A fuse: what a mutant lets run for ever has failed.
      await client.query(`set search_path to ledger, work_test, public; set statement_timeout to '20s'`);
      const run = await runPgtap(client, read(test));
      if (run.assertions.some((assertion) => !assertion.isOk)) return { kind: 'failed' };
      // An error that no test expects is a failure, too; but not one of a change that is no SQL.
      if (run.error !== null) return run.error.code.startsWith('42') ? { kind: 'broken', why: run.error.text } : { kind: 'failed' };
      return wrongOf(run).length > 0 ? { kind: 'failed' } : { kind: 'green' };
    } catch (error) {
      return { kind: 'broken', why: String(error) };
    } finally {
      await client.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    }
  };
}

type Report = { testResults: { message: string; assertionResults: { status: string; failureMessages: string[] }[] }[] };

/** By vitest, in a copy of the tree; on a cluster of its own only where the functions of SQL are other ones. */
function inTree(cluster: Cluster, tree: string): Run {
  /** How long each test took at first, with the control. */
  const durations = new Map<string, number>();
  return async (of, change) => {
    const { test, title } = of;
    const report = join(tree, 'mutant.json');
    rmSync(report, { force: true });
    for (const [file, text] of change) writeFileSync(join(tree, file), text);
    const duration = durations.get(keyOf(of));
    const startedAt = performance.now();
    try {
      const which = title === undefined ? ['test/sql.test.ts'] : [test, '-t', title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)];
      // A fuse: what a mutant lets wait for ever has failed.
      const fuse = ['--testTimeout', String(duration === undefined ? 600_000 : Math.max(60_000, 3 * duration))];
      const isOfSql = [...change.keys()].some((file) => file.startsWith('sql/'));
      const env = { ...process.env, T: title === undefined ? test : '', ...(!isOfSql && { [CLUSTER]: JSON.stringify(cluster) }) };
      const bail = duration === undefined ? [] : ['--bail', '1'];
      await promisify(execFile)(
        process.execPath,
        ['node_modules/vitest/vitest.mjs', 'run', ...which, ...fuse, ...bail, '--reporter=json', `--outputFile=${report}`],
        { cwd: tree, env, maxBuffer: 1e9 },
      ).catch(() => {}); // the report says it all
    } finally {
      for (const file of change.keys()) cpSync(join(root, file), join(tree, file));
    }
    if (duration === undefined) durations.set(keyOf(of), performance.now() - startedAt);
    if (!existsSync(report)) return { kind: 'broken', why: 'vitest left no report' };
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const ends = results.map(({ status }) => status);
    if (ends.includes('failed')) return { kind: 'failed', why: results.flatMap(({ failureMessages }) => failureMessages).join('\n') };
    const why = testResults
      .map(({ message }) => message)
      .filter(Boolean)
      .join('\n');
    return ends.includes('passed') && why === '' ? { kind: 'green' } : { kind: 'broken', why: why || 'no test was run' };
  };
}

function copyOfTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'wl-mutants-'));
  chmodSync(tree, 0o755); // tests run workers as an ordinary user, who reads the programs here
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files) if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(tree, file));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

const keyOf = ({ test, title = '' }: Pick<Mutant, 'test' | 'title'>): string => `${test} ${title}`;

/** All mutants of one test after another, as many tests at once as there are runs. One line a mutant. */
async function runAll(mutants: readonly Mutant[], runs: readonly Run[]): Promise<void> {
  const waiting = [...Map.groupBy(mutants, keyOf).values()];
  await Promise.all(
    runs.map(async (run) => {
      for (let group = waiting.shift(); group; group = waiting.shift()) await runGroup(group, run);
    }),
  );
}

/** The mutants of one test, after their control. */
async function runGroup(mutants: readonly Mutant[], run: Run): Promise<void> {
  const key = keyOf(mutants[0]!).trim();
  let before = await run(mutants[0]!, control(mutants));
  // Once more: other runs of this machine share its Docker daemon, and may have been seen.
  if (before.kind === 'failed') before = await run(mutants[0]!, control(mutants));
  for (const mutant of mutants) {
    const verdict: Verdict =
      before.kind === 'green'
        ? await run(mutant, mutation(mutant))
        : { kind: 'broken', why: `${key} is not green where only comments changed: ${before.why ?? ''}` };
    count[verdict.kind]++;
    const said = { failed: 'caught  ', green: 'SURVIVED', broken: 'broken  ' }[verdict.kind];
    console.log(
      `${said} ${mutant.name}${verdict.kind === 'failed' ? '' : ` (${mutant.file}, ${key})`}${verdict.kind === 'broken' ? `\n  ${verdict.why.replaceAll('\n', '\n  ')}` : ''}`,
    );
  }
}

const count = { failed: 0, green: 0, broken: 0 };
const stale = problems();
for (const problem of stale) console.error(problem);
if (stale.length > 0) process.exit(1);
if (!process.argv.includes('--verify')) {
  const parts = process.argv.slice(2);
  const chosen = all.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const quick = chosen.filter(isOfTheDatabase);
  const others = chosen.filter((mutant) => !isOfTheDatabase(mutant));
  // A cluster each: tests of roles and of moves look at all of theirs.
  const clusters: Cluster[] = [];
  const trees: string[] = [];
  try {
    while (clusters.length < LANES) clusters.push(await startCluster());
    await runAll(
      quick,
      clusters.map((cluster) => inDatabase(cluster, 'mutant')),
    );
    if (others.length > 0) while (trees.length < LANES) trees.push(copyOfTree());
    await runAll(
      others,
      trees.map((tree, lane) => inTree(clusters[lane]!, tree)),
    );
  } finally {
    for (const cluster of clusters) await cluster.stop();
    for (const tree of trees) rmSync(tree, { recursive: true, force: true });
  }
  console.log(`${count.failed} caught, ${count.green} survived${count.broken > 0 ? `, ${count.broken} broken` : ''}`);
  if (count.green + count.broken > 0 || chosen.length === 0) process.exitCode = 1;
}
