// What a conversation costs under each context policy, and what it takes away: recorded runs are put into a ledger through
// the engine's own functions, a step riding with the next calls after every five, and the engine assembles all their
// requests anew under each policy (context_replay). The ideals are plain arithmetic over the same sizes, with no engine.
// No figure depends on the clock.

import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import type pg from 'pg';

import { parseRecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { editsOf, Lines, losses, readTexts } from './context/edits.ts';
import type { Losses, Request, Text } from './context/edits.ts';
import { ideal, prices } from './context/ideal.ts';
import type { Cost } from './context/ideal.ts';
import { load, prepare, readSizes } from './context/load.ts';
import { against, lineOf } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

/** Shorter runs have nothing to be elided. */
const minToolCalls = 50;
const formats: Partial<Record<RecordedRun['format'], string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  copilot: 'copilot',
  'mini-swe-agent': 'miniswe',
};

const whole = { truncate_closed_blocks: false, context_window: 2_000_000_000 };
/** Closed blocks leave over so many tokens, and nothing of them is kept. */
const eliding = (elide_budget: number): Record<string, unknown> => ({
  truncate_closed_blocks: true,
  context_window: 2_000_000_000,
  elide_budget,
  keep_auto: 0,
});
const naming = { ahead: 20, budget: 16_000 };
const compacting = {
  truncate_closed_blocks: false,
  keep_auto: 0,
  context_window: 200_000,
  compact_threshold: 0.7,
  compact_keep_recent: 10,
};
type Policy = { label: string; keys: Record<string, unknown> };
const keepingReads = 'what was read lately is kept';
const namingFiles = 'steps name what the next 20 calls change';
const namingLines = 'steps name the lines that the next 20 calls change';
/** By the name that --json has. */
const policies: Record<string, Policy> = {
  none: { label: 'none', keys: whole },
  immediate: { label: 'at every step, nothing kept', keys: eliding(0) },
  over_8000: { label: 'over 8,000 tokens, nothing kept', keys: eliding(8_000) },
  over_15000: { label: 'over 15,000, nothing kept', keys: eliding(15_000) },
  over_30000: { label: 'over 30,000, nothing kept', keys: eliding(30_000) },
  reads_8000: { label: `over 8,000, ${keepingReads} (the default)`, keys: { ...eliding(8_000), keep_auto: 4000 } },
  reads_15000: { label: `over 15,000, ${keepingReads}`, keys: { ...eliding(15_000), keep_auto: 4000 } },
  files_8000: { label: `over 8,000, ${namingFiles}`, keys: { ...eliding(8_000), keep: naming } },
  files_15000: { label: `over 15,000, ${namingFiles}`, keys: { ...eliding(15_000), keep: naming } },
  lines_8000: { label: `over 8,000, ${namingLines}`, keys: { ...eliding(8_000), keep: { ...naming, lines: 30 } } },
  lines_15000: { label: `over 15,000, ${namingLines}`, keys: { ...eliding(15_000), keep: { ...naming, lines: 30 } } },
  ledger: { label: 'ledger compaction alone, at 140,000', keys: compacting },
  sliding: { label: 'sliding_window, at 140,000', keys: { ...compacting, compact_strategy: 'sliding_window' } },
  sliding_every_20: {
    label: 'sliding_window, at 140,000, every 20',
    keys: { ...compacting, compact_strategy: 'sliding_window', compact_every: 20 },
  },
  selective: { label: 'selective, at 140,000', keys: { ...compacting, compact_strategy: 'selective' } },
  selective_every_20: {
    label: 'selective, at 140,000, every 20',
    keys: { ...compacting, compact_strategy: 'selective', compact_every: 20 },
  },
  cleared: { label: 'results but the newest 3 cleared beyond 100,000', keys: { clear_results_over: 100_000, clear_keep: 3 } },
  window_20: { label: 'window of 20 messages that slides with every request', keys: { keep_messages: 20 } },
  window_40: { label: 'window of 40 messages that slides with every request', keys: { keep_messages: 40 } },
};
const quickPolicies = ['none', 'immediate', 'over_15000'];
/** What a policy that is compared with its ideal leaves over. */
const ideals: Record<string, number> = { immediate: 0, over_15000: 15_000 };

type FileReport = {
  file: string;
  format: string;
  model_calls: number;
  /** By the names of policies, and ideal_NAME of those that have an ideal. */
  policies: Record<string, Cost & Partial<Losses>>;
};

export const context: Question = {
  asks: 'What does a conversation cost under each context policy?',
  measure: ({ quick, runs, closeEvery, say }) =>
    withServer(
      async ({ admin: client }) => {
        await client.query('set search_path to work_ledger, public');
        await prepare(client);
        const files: FileReport[] = [];
        for (const file of await filesBelow(runs)) {
          const run = await readRun(runs, file);
          if (typeof run === 'string') say(`context: without ${file}, ${run}`);
          else files.push(await measure(client, file, run, closeEvery, quick ? quickPolicies : Object.keys(policies)));
          if (quick && files.length > 0) break;
        }
        if (files.length === 0) say(`context: left out, there are no long recorded runs below ${runs}`);
        return { lines: linesOfFiles(files), files };
      },
      { synchronous_commit: 'off' },
    ),
};

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** The run, or why the file is left out. */
async function readRun(folder: string, file: string): Promise<RecordedRun | string> {
  try {
    const run = parseRecordedRun(await readFile(join(folder, file), 'utf8'));
    const calls = run.exchanges.reduce((sum, exchange) => sum + exchange.calls.length, 0);
    if (formats[run.format] === undefined) return `a ${run.format} run`;
    return calls < minToolCalls ? `${calls} tool calls are not long` : run;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function measure(
  client: pg.Client,
  file: string,
  run: RecordedRun,
  closeEvery: number,
  tried: readonly string[],
): Promise<FileReport> {
  const session = await load(client, run, closeEvery);
  const sizes = await readSizes(client, session);
  const edits = editsOf(run, sizes.per_char);
  const lines = new Lines();
  const texts = new Map<string, Text>();
  const nothingCut = await replay(client, session, whole, texts);
  const costs: FileReport['policies'] = {};
  for (const name of tried) {
    const replayed = name === 'none' ? nothingCut : await replay(client, session, policies[name]!.keys, texts);
    costs[name] = { ...replayed.cost, ...losses(edits, replayed.requests, nothingCut.requests, lines) };
  }
  for (const [name, budget] of Object.entries(ideals)) costs[`ideal_${name}`] = ideal(sizes, budget);
  return { file, format: formats[run.format] ?? run.format, model_calls: run.exchanges.length, policies: costs };
}

type Replayed = {
  input_tokens: number;
  cached_tokens: number;
  extra_output_tokens: number;
  kept_parts: number;
  cached_parts: number;
  tokens: number[];
  depths: (number | null)[];
  new_texts: string[];
};

/** All requests of a session under a policy, and what they cost. */
async function replay(
  client: pg.Client,
  session: string,
  policy: Record<string, unknown>,
  texts: Map<string, Text>,
): Promise<{ cost: Cost; requests: Request[] }> {
  const { rows } = await client.query<Replayed>('select * from _replay_requests($1, $2)', [session, policy]);
  const requests: Request[] = [];
  const cost = { input_tokens: 0, cost: 0 };
  for (const row of rows) {
    cost.input_tokens += row.input_tokens;
    cost.cost +=
      prices.read * row.cached_tokens + prices.write * (row.input_tokens - row.cached_tokens) + prices.output * row.extra_output_tokens;
    requests.push({
      inputTokens: row.input_tokens,
      cachedParts: row.cached_parts,
      depths: row.depths,
      texts: [...(requests.at(-1)?.texts.slice(0, row.kept_parts) ?? []), ...row.new_texts.map((one) => readTexts(texts, one))],
    });
  }
  return { cost, requests };
}

/** In percent of what it costs with nothing cut; of Claude Code's runs alone, too; and each file against its ideals. */
function linesOfFiles(all: readonly FileReport[]): Line[] {
  const ofClaudeCode = all.filter(({ format }) => format === 'claude');
  const byFile = all.flatMap((file) =>
    Object.keys(ideals).map((name) =>
      lineOf(file.file, `× the ideal of ${policies[name]?.label}`, [
        (file.policies[name]?.cost ?? 0) / (file.policies[`ideal_${name}`]?.cost ?? 0),
      ]),
    ),
  );
  return [
    ...linesOfRuns(all, ''),
    ...(ofClaudeCode.length < all.length ? linesOfRuns(ofClaudeCode, ', Claude Code alone') : []),
    ...byFile,
  ];
}

function linesOfRuns(files: readonly FileReport[], whose: string): Line[] {
  const total = (of: (file: FileReport) => number | undefined): number =>
    files.map((file) => of(file) ?? 0).reduce((sum, one) => sum + one, 0);
  const uncut = total((file) => file.policies['none']?.cost);
  const share = (label: string, unit: string, part: number, all: number): Line[] =>
    all > 0 ? [lineOf(`${label}${whose}`, unit, [(100 * part) / all])] : [];
  const COST = '% of the cost of none';
  const best = new Map(
    Object.keys(ideals).map((name) => [
      name,
      share(
        `ideal of ${policies[name]?.label}`,
        COST,
        total((file) => file.policies[`ideal_${name}`]?.cost),
        uncut,
      ),
    ]),
  );
  return [
    ...Object.entries(policies).flatMap(([name, { label }]) => {
      if (files.every((file) => file.policies[name] === undefined)) return [];
      const sum = (key: keyof (Cost & Losses)): number => total((file) => file.policies[name]?.[key]);
      const [bound] = best.get(name) ?? [];
      return [
        ...share(label, COST, sum('cost'), uncut).map((line) => (bound ? against(line, bound) : line)),
        ...share(label, `${COST} with re-reads`, sum('cost') + sum('extra_cost'), uncut),
        ...share(label, '% of edits lost', sum('lost'), sum('edits')),
        ...share(
          label,
          '% more calls',
          sum('lost'),
          total((file) => file.model_calls),
        ),
      ];
    }),
    ...[...best.values()].flat(),
  ];
}
