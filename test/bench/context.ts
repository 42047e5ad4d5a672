// What a conversation costs under each context policy, and what it takes away: recorded runs are put into a ledger through
// the engine's own functions, a step riding with the next calls after every so many, and the engine assembles all their
// requests anew under each policy (context_replay). The ideals are plain arithmetic over the same sizes, with no engine.
//   npm run bench -- context [--runs DIR] [--close-every 5] [--json]

import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { parseRecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { editsOf, Lines, losses, readTexts } from './context/edits.ts';
import type { Losses, Request, Text } from './context/edits.ts';
import { ideal, prices } from './context/ideal.ts';
import type { Cost } from './context/ideal.ts';
import { load, prepare, readSizes } from './context/load.ts';

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '../shared/transcripts' }, 'close-every': { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const folder = options.runs;
const closeEvery = Number(options['close-every']);
/** Shorter runs have nothing to be elided. */
const minToolCalls = 50;
const formats: Partial<Record<RecordedRun['format'], string>> = { 'claude-code': 'claude', codex: 'codex', copilot: 'copilot', 'mini-swe-agent': 'miniswe' };

const whole = { truncate_closed_blocks: false, context_window: 2_000_000_000 };
/** Closed blocks leave over so many tokens, and nothing of them is kept. */
const eliding = (elide_budget: number): Record<string, unknown> => ({ truncate_closed_blocks: true, context_window: 2_000_000_000, elide_budget, keep_auto: 0 });
const naming = { keep: { ahead: 20, budget: 16_000 } };
const compacting = { truncate_closed_blocks: false, keep_auto: 0, context_window: 200_000, compact_threshold: 0.7, compact_keep_recent: 10 };
const policies: Record<string, Record<string, unknown>> = {
  none: whole,
  immediate: eliding(0),
  budget_8k: eliding(8_000),
  budget_15k: eliding(15_000),
  budget_30k: eliding(30_000),
  '15k_auto_4k': { ...eliding(15_000), keep_auto: 4000 },
  '8k_named': { ...eliding(8_000), ...naming },
  '15k_named': { ...eliding(15_000), ...naming },
  ledger_140k: compacting,
  window_140k: { ...compacting, compact_strategy: 'sliding_window' },
  window_every_20: { ...compacting, compact_strategy: 'sliding_window', compact_every: 20 },
  selective_140k: { ...compacting, compact_strategy: 'selective' },
  selective_every_20: { ...compacting, compact_strategy: 'selective', compact_every: 20 },
  clear_100k: { clear_results_over: 100_000, clear_keep: 3 },
  sliding_20: { keep_messages: 20 },
  sliding_40: { keep_messages: 40 },
};
const ideals: Record<string, number> = { immediate: 0, budget_15k: 15_000 };

type FileReport = { file: string; format: string; model_calls: number; policies: Record<string, Cost & Losses>; ideals: Record<string, Cost> };

const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query('set search_path to work_ledger, public; set synchronous_commit to off; set jit to off');
await prepare(client);

const files: FileReport[] = [];
try {
  for (const file of await filesBelow(folder)) {
    const run = await readRun(file);
    if (typeof run === 'string') console.error(`skipped ${file}: ${run}`);
    else files.push(await measure(file, run));
  }
} finally {
  await client.end();
  await stopEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
report(files);

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(directory, join(entry.parentPath, entry.name))).toSorted();
}

/** The run, or why the file is left out. */
async function readRun(file: string): Promise<RecordedRun | string> {
  try {
    const run = parseRecordedRun(await readFile(join(folder, file), 'utf8'));
    const calls = run.exchanges.reduce((sum, exchange) => sum + exchange.calls.length, 0);
    if (formats[run.format] === undefined) return `a ${run.format} run`;
    return calls < minToolCalls ? `${calls} tool calls are not long` : run;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function measure(file: string, run: RecordedRun): Promise<FileReport> {
  console.error(`${file}: ${run.exchanges.length} model calls`);
  const session = await load(client, run, closeEvery);
  const sizes = await readSizes(client, session);
  const edits = editsOf(run, sizes.per_char);
  const lines = new Lines();
  const texts = new Map<string, Text>();
  const nothingCut = await replay(session, whole, texts);
  const costs: FileReport['policies'] = {};
  for (const [name, policy] of Object.entries(policies)) {
    const replayed = policy === whole ? nothingCut : await replay(session, policy, texts);
    costs[name] = { ...replayed.cost, ...losses(edits, replayed.requests, nothingCut.requests, lines) };
  }
  const measured = {
    file, format: formats[run.format] ?? run.format, model_calls: run.exchanges.length, policies: costs,
    ideals: Object.fromEntries(Object.entries(ideals).map(([name, budget]) => [name, ideal(sizes, budget)])),
  };
  if (options.json) console.error(JSON.stringify(measured)); // a run takes its time
  return measured;
}

type Replayed = { input_tokens: number; cached_tokens: number; extra_output_tokens: number; kept_parts: number; cached_parts: number; tokens: number[]; depths: (number | null)[]; new_texts: string[] };

/** All requests of a session under a policy, and what they cost. */
async function replay(session: string, policy: Record<string, unknown>, texts: Map<string, Text>): Promise<{ cost: Cost; requests: Request[] }> {
  const { rows } = await client.query<Replayed>('select * from _replay_requests($1, $2)', [session, policy]);
  const requests: Request[] = [];
  const cost = { input_tokens: 0, cost: 0 };
  for (const row of rows) {
    cost.input_tokens += row.input_tokens;
    cost.cost += prices.read * row.cached_tokens + prices.write * (row.input_tokens - row.cached_tokens) + prices.output * row.extra_output_tokens;
    requests.push({
      inputTokens: row.input_tokens, cachedParts: row.cached_parts, depths: row.depths,
      texts: [...(requests.at(-1)?.texts.slice(0, row.kept_parts) ?? []), ...row.new_texts.map((one) => readTexts(texts, one))],
    });
  }
  return { cost, requests };
}

function report(all: readonly FileReport[]): void {
  if (options.json) {
    console.log(JSON.stringify({ files: all }, null, 2));
    return;
  }
  const names = Object.keys(policies);
  const ratio = (file: FileReport, name: string): string => ((file.policies[name]?.cost ?? 0) / (file.ideals[name]?.cost ?? 0)).toFixed(3);
  const table = (rows: (string | number)[][]): void => console.log(rows.map((row) => `| ${row.join(' | ')} |`).join('\n'));
  table([
    ['file', 'calls', ...names, ...Object.keys(ideals).flatMap((name) => [`ideal of ${name}`, `${name} / ideal`])],
    ...all.map((file) => {
      const percent = (cost: number | undefined): string => ((100 * (cost ?? 0)) / (file.policies['none']?.cost ?? 0)).toFixed(1);
      return [file.file, file.model_calls, ...names.map((name) => percent(file.policies[name]?.cost)), ...Object.keys(ideals).flatMap((name) => [percent(file.ideals[name]?.cost), ratio(file, name)])];
    }),
  ]);
  summarize('all runs', all, table);
  const ofClaudeCode = all.filter((file) => file.format === 'claude');
  if (ofClaudeCode.length > 0) summarize('Claude Code alone', ofClaudeCode, table);
  for (const name of Object.keys(ideals)) {
    const ratios = all.map((file) => Number(ratio(file, name)));
    console.log(`${name} / ideal: a file ${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`);
  }
}

function summarize(title: string, runs: readonly FileReport[], table: (rows: (string | number)[][]) => void): void {
  const total = (of: (file: FileReport) => number | undefined): number => runs.reduce((sum, file) => sum + (of(file) ?? 0), 0);
  const ofPolicy = (name: string, ...keys: (keyof (Cost & Losses))[]): number => total((file) => keys.reduce((sum, key) => sum + (file.policies[name]?.[key] ?? 0), 0));
  const percent = (part: number, of: number): string => ((100 * part) / of).toFixed(1);
  const calls = total((file) => file.model_calls);
  console.log(`\n${title}: ${runs.length}, ${calls} model calls, ${ofPolicy('none', 'edits')} edits`);
  table([
    ['policy', 'cost, % of none', 'with re-reads', 'lost edits, %', 'never seen, %', 'more calls, %', 'input tokens, % of none'],
    ...Object.keys(policies).map((name) => [
      name, percent(ofPolicy(name, 'cost'), ofPolicy('none', 'cost')), percent(ofPolicy(name, 'cost', 'extra_cost'), ofPolicy('none', 'cost')),
      percent(ofPolicy(name, 'lost'), ofPolicy('none', 'edits')), percent(ofPolicy(name, 'never_seen'), ofPolicy('none', 'edits')),
      percent(ofPolicy(name, 'lost'), calls), percent(ofPolicy(name, 'input_tokens', 'extra_input_tokens'), ofPolicy('none', 'input_tokens')),
    ]),
    ...Object.keys(ideals).map((name) => [`ideal of ${name}`, percent(total((file) => file.ideals[name]?.cost), ofPolicy('none', 'cost')), '', '', '', '', percent(total((file) => file.ideals[name]?.input_tokens), ofPolicy('none', 'input_tokens'))]),
  ]);
}
