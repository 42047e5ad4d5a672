// What was measured, as tables and in the README: its words are written by hand, and what stands between
// `<!-- figures of NAME -->` and `<!-- end -->` comes from results/NAME.json.
// `node test/bench/harness/report.ts --verify` fails where README.md or a plot is not what the results say; without the option they are
// written.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

import { goals, judge } from './goals.ts';
import type { Goal } from './goals.ts';
import { plot } from './plot.ts';
import { shown } from './question.ts';
import type { Line, Result } from './question.ts';

export function table(result: Result): string {
  const placed = result.lines.filter(({ at }) => at !== undefined);
  const others = result.lines.filter(({ at }) => at === undefined);
  return [...(placed.length > 0 ? [growing(placed, result.axis ?? '')] : []), ...(others.length > 0 ? [sideBySide(others)] : [])].join(
    '\n\n',
  );
}

const half = ({ low, high }: Line): string => (low === high ? '' : ` (${shown(low)} to ${shown(high)})`);

/** A row for each variant and unit, a column for each place on the axis. */
function growing(lines: readonly Line[], axis: string): string {
  const places = [...new Set(lines.map(({ at = 0 }) => at))].toSorted((a, b) => a - b);
  const rows = new Map<string, Line[]>();
  for (const line of lines.flatMap(withCpu))
    rows.set(`${line.name}|${line.unit}`, [...(rows.get(`${line.name}|${line.unit}`) ?? []), line]);
  return markdown([
    [axis, 'unit', ...places.map(shown), 'against'],
    [...rows.values()].map((its) => [
      its[0]?.name ?? '',
      its[0]?.unit ?? '',
      ...places
        .map((place) => its.find(({ at }) => at === place))
        .map((line) =>
          line ? `${shown(line.median)}${half(line)}${(line.against ?? []).map((ratio) => `, **${shown(ratio.median)} ×**`).join('')}` : '',
        ),
      [...new Set(its.flatMap(({ against = [] }) => against.map(({ of }) => of)))].join(', '),
    ]),
  ]);
}

const withCpu = (line: Line): Line[] =>
  line.cpu === undefined
    ? [line]
    : [
        line,
        {
          name: line.name,
          unit: 'µs of CPU in the server',
          count: line.count,
          median: line.cpu,
          low: line.cpu,
          high: line.cpu,
          ...(line.at !== undefined && { at: line.at }),
        },
      ];

/** A row for each variant, a column for each unit, with what it is compared with and the CPU that it took. */
function sideBySide(lines: readonly Line[]): string {
  const names = [...new Set(lines.map(({ name }) => name))];
  const columns = [...new Set(lines.map(({ unit }) => unit))].flatMap((unit) => {
    const its = new Map(lines.filter((line) => line.unit === unit).map((line) => [line.name, line]));
    const of = [...new Set([...its.values()].flatMap(({ against = [] }) => against.map((ratio) => ratio.of)))];
    const column = (head: string, cell: (line: Line) => string): { head: string; cells: string[] } => ({
      head,
      cells: names.map((name) => (its.has(name) ? cell(its.get(name)!) : '')),
    });
    return [
      column(unit, (line) => `${shown(line.median)}${half(line)}`),
      ...(of.length > 0
        ? [
            column(of.length === 1 ? `× ${of[0]}` : 'against', ({ against = [] }) =>
              against.map((ratio) => (of.length === 1 ? shown(ratio.median) : `${shown(ratio.median)} × ${ratio.of}`)).join('; '),
            ),
          ]
        : []),
      ...([...its.values()].some(({ cpu }) => cpu !== undefined)
        ? [column('µs of CPU in the server', ({ cpu }) => (cpu === undefined ? '' : shown(cpu)))]
        : []),
    ];
  });
  return markdown([
    ['', ...columns.map(({ head }) => head)],
    names.map((name, n) => [name, ...columns.map(({ cells }) => cells[n] ?? '')]),
  ]);
}

/** The goals beside what was measured last. */
export function goalsTable(results: readonly Result[]): string {
  const wanted = ({ atLeast, atMost, of, by, unit }: Goal): string =>
    `${atLeast === undefined ? `≤ ${shown(atMost ?? 0)}` : `≥ ${shown(atLeast)}`} ${of === undefined ? unit : `× ${of}${by === 'cpu' ? ', CPU' : ''}`}`;
  return markdown([
    ['', 'before', 'goal', 'now', ''],
    goals.map((goal) => {
      const found = judge(goal.question, results.find(({ question }) => question === goal.question)?.lines ?? []).find(
        (one) => one.goal === goal,
      );
      return [
        `[${goal.question}](#${goal.question}): ${goal.name}${goal.at === undefined ? '' : `, ${shown(goal.at)}`}`,
        goal.was,
        wanted(goal),
        found ? shown(found.value) : 'not measured',
        found ? (found.isMet ? 'met' : 'missed') : '',
      ];
    }),
  ]);
}

function markdown([head, rows]: [string[], string[][]]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');
}

const folder = new URL('../', import.meta.url);
const stored = (name: string): URL => new URL(`results/${name}`, folder);

function readResults(): Result[] {
  if (!existsSync(stored(''))) return []; // nothing was measured yet
  return readdirSync(stored(''))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(stored(name), 'utf8')) as Result);
}

export function store(result: Result): void {
  mkdirSync(stored(''), { recursive: true });
  // What each file costs is for scripts, and not kept.
  writeFileSync(stored(`${result.question}.json`), `${JSON.stringify({ ...result, files: undefined }, null, 1)}\n`);
}

/** What results/ has of a question; nothing if it was never kept. */
export const keptLines = (question: string): Line[] => readResults().find((result) => result.question === question)?.lines ?? [];

/** Every file that the results make, by its address. */
function made(): Map<string, string> {
  const results = readResults();
  const files = new Map<string, string>(results.map((result) => [stored(`${result.question}.svg`).href, plot(result)]));
  const readme = new URL('README.md', folder);
  const parts = new Map<string, string>([
    ['goals', goalsTable(results)],
    ...results.map((result): [string, string] => [result.question, figures(result)]),
  ]);
  // What was not measured yet stays as it is.
  files.set(
    readme.href,
    readFileSync(readme, 'utf8').replaceAll(
      /(<!-- figures of (\w+) -->\n)[^]*?(<!-- end -->)/g,
      (all, begin: string, name: string, end: string) => (parts.has(name) ? `${begin}\n${parts.get(name)}\n\n${end}` : all),
    ),
  );
  return files;
}

const figures = (result: Result): string =>
  `${result.date}, ${result.machine}${result.isQuick ? '; few and short rounds' : ''}:\n\n${table(result)}\n\n![${result.asks}](results/${result.question}.svg)`;

export function writeFigures(): void {
  for (const [address, text] of made()) writeFileSync(new URL(address), text);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (argv.includes('--verify')) {
    const other = [...made()]
      .filter(([address, text]) => text !== readOr(address))
      .map(([address]) => address.slice(address.indexOf('test/bench')));
    if (other.length > 0) {
      console.error(`not what the results say: ${other.join(', ')}; node test/bench/harness/report.ts writes them`);
      process.exit(1);
    }
  } else {
    writeFigures();
  }
}

function readOr(address: string): string | null {
  try {
    return readFileSync(new URL(address), 'utf8');
  } catch {
    return null;
  }
}
