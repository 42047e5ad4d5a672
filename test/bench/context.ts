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

const closeEvery = 5;
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
const naming = { keep: { ahead: 20, budget: 16_000 } };
const compacting = {
  truncate_closed_blocks: false,
  keep_auto: 0,
  context_window: 200_000,
  compact_threshold: 0.7,
  compact_keep_recent: 10,
};
const [EVERY_STEP, OVER_15K] = ['at every step, nothing kept', 'over 15,000, nothing kept'];
const policies: Record<string, Record<string, unknown>> = {
  none: whole,
  [EVERY_STEP]: eliding(0),
  'over 8,000 tokens, nothing kept': eliding(8_000),
  [OVER_15K]: eliding(15_000),
  'over 30,000, nothing kept': eliding(30_000),
  'over 15,000, what was read lately is kept (the default)': { ...eliding(15_000), keep_auto: 4000 },
  'over 8,000, steps name what the next 20 calls change': { ...eliding(8_000), ...naming },
  'over 15,000, steps name what the next 20 calls change': { ...eliding(15_000), ...naming },
  'ledger compaction alone, at 140,000': compacting,
  'sliding_window, at 140,000': { ...compacting, compact_strategy: 'sliding_window' },
  'sliding_window, at 140,000, every 20': { ...compacting, compact_strategy: 'sliding_window', compact_every: 20 },
  'selective, at 140,000': { ...compacting, compact_strategy: 'selective' },
  'selective, at 140,000, every 20': { ...compacting, compact_strategy: 'selective', compact_every: 20 },
  'results but the newest 3 cleared beyond 100,000': { clear_results_over: 100_000, clear_keep: 3 },
  'window of 20 messages that slides with every request': { keep_messages: 20 },
  'window of 40 messages that slides with every request': { keep_messages: 40 },
};
const ideals: Record<string, number> = { [EVERY_STEP]: 0, [OVER_15K]: 15_000 };

type FileReport = {
  file: string;
  format: string;
  model_calls: number;
  policies: Record<string, Cost & Losses>;
  ideals: Record<string, Cost>;
};

export const context: Question = {
  asks: 'What does a conversation cost under each context policy?',
  measure: ({ quick, runs, say }) =>
    withServer(
      async ({ admin: client }) => {
        await client.query('set search_path to work_ledger, public');
        await prepare(client);
        const files: FileReport[] = [];
        for (const file of await filesBelow(runs)) {
          const run = await readRun(runs, file);
          if (typeof run === 'string') say(`context: without ${file}, ${run}`);
          else
            files.push(
              await measure(client, file, run, quick ? { none: whole, [EVERY_STEP]: eliding(0), [OVER_15K]: eliding(15_000) } : policies),
            );
          if (quick && files.length > 0) break;
        }
        if (files.length === 0) say(`context: left out, there are no long recorded runs below ${runs}`);
        return linesOfFiles(files);
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

async function measure(client: pg.Client, file: string, run: RecordedRun, tried: typeof policies): Promise<FileReport> {
  const session = await load(client, run, closeEvery);
  const sizes = await readSizes(client, session);
  const edits = editsOf(run, sizes.per_char);
  const lines = new Lines();
  const texts = new Map<string, Text>();
  const nothingCut = await replay(client, session, whole, texts);
  const costs: FileReport['policies'] = {};
  for (const [name, policy] of Object.entries(tried)) {
    const replayed = policy === whole ? nothingCut : await replay(client, session, policy, texts);
    costs[name] = { ...replayed.cost, ...losses(edits, replayed.requests, nothingCut.requests, lines) };
  }
  return {
    file,
    format: formats[run.format] ?? run.format,
    model_calls: run.exchanges.length,
    policies: costs,
    ideals: Object.fromEntries(Object.entries(ideals).map(([name, budget]) => [name, ideal(sizes, budget)])),
  };
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
      lineOf(file.file, `× the ideal of ${name}`, [(file.policies[name]?.cost ?? 0) / (file.ideals[name]?.cost ?? 0)]),
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
  const share = (name: string, unit: string, part: number, all: number): Line[] =>
    all > 0 ? [lineOf(`${name}${whose}`, unit, [(100 * part) / all])] : [];
  const COST = '% of the cost of none';
  const best = Object.keys(ideals).flatMap((name) =>
    share(
      `ideal of ${name}`,
      COST,
      total((file) => file.ideals[name]?.cost),
      uncut,
    ),
  );
  return [
    ...Object.keys(files[0]?.policies ?? {}).flatMap((name) => {
      const sum = (key: keyof (Cost & Losses)): number => total((file) => file.policies[name]?.[key]);
      const bound = best.find((line) => line.name === `ideal of ${name}${whose}`);
      return [
        ...share(name, COST, sum('cost'), uncut).map((line) => (bound ? against(line, bound) : line)),
        ...share(name, `${COST} with re-reads`, sum('cost') + sum('extra_cost'), uncut),
        ...share(name, '% of edits lost', sum('lost'), sum('edits')),
        ...share(
          name,
          '% more calls',
          sum('lost'),
          total((file) => file.model_calls),
        ),
      ];
    }),
    ...best,
  ];
}
