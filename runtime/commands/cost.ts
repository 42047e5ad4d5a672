// `work-ledger cost`: what work cost, where the money went, and which models have no price. 80 columns.

import type { Settings } from '../config.ts';
import type { Cost, CostOfCut } from '../ledger/cost.ts';
import { UsageError } from '../ledger/errors.ts';
import { money } from '../money.ts';
import { fitting, padded } from './cells.ts';
import { itemIdOf } from './ids.ts';
import { exit, note, print, tokensText, visible } from './output.ts';
import { whereOf } from './where.ts';
import type { Where } from './where.ts';
import { withReader } from './withLedger.ts';

export type CostOptions = Settings & Where & { by?: 'tree' | 'item' | 'child' | 'project' | 'faculty' | 'model' | 'day' | 'cache' };

export const cost = (workItemId: string | undefined, options: CostOptions): Promise<number> =>
  withReader(options, async (db) => {
    const item = workItemId === undefined ? null : await itemIdOf(db, workItemId, options);
    const by = options.by ?? (item === null ? 'tree' : 'child');
    if (by === 'child' && item === null) throw new UsageError('--by child needs a work item: work-ledger cost ID --by child');
    const project = item === null && by !== 'project' ? await whereOf(options) : null;
    const rows = await db.costBy(by, item, project);
    const [total] = await db.costBy('total', item, project);
    const cache = await db.costBy('cache', item, project);
    const unpriced = (await db.costBy('model', item, project)).filter((model) => model.unpriced_requests > 0).map((model) => model.key);
    const cuts = item === null ? [] : await db.costCuts(item);
    print(
      { by, rows, total: total ?? null, cache, cuts, models_without_price: unpriced },
      total ? report(by, rows, total, cache, cuts, unpriced) : `no model was asked${project === null ? '' : ` in ${visible(project)}`} yet`,
      options.json ?? false,
    );
    const elsewhere = project === null ? 0 : ((await db.costBy('total', null))[0]?.requests ?? 0) - (total?.requests ?? 0);
    if (elsewhere > 0) note(`${count(elsewhere, 'request')} more in other projects: work-ledger cost --all`);
    return exit.ok;
  });

function report(
  by: string,
  rows: readonly Cost[],
  total: Cost,
  cache: readonly Cost[],
  cuts: readonly CostOfCut[],
  unpriced: readonly string[],
): string {
  const isPartial = total.unpriced_requests > 0 && total.cost !== null;
  return [
    line(by, 'requests', 'input', 'cached', 'output', 'cost'),
    ...rows.flatMap((row) => [costLine(row.key, row), ...(row.says === null ? [] : [`  ${fitting(visible(row.says), 78)}`])]),
    costLine('total', total),
    '',
    ...parts(total, cache),
    ...(cuts.length > 0 ? ['', ...cutLines(cuts)] : []),
    ...(isPartial ? ['', `+ and what ${count(total.unpriced_requests, 'request')} without a price cost`] : []),
    ...unpriced.flatMap((model) => [
      '',
      `${visible(model)} has no price. Set those of a million tokens in and out:`,
      `  select model_price_save('${visible(model).replaceAll("'", "''")}', INPUT, OUTPUT);`,
    ]),
  ].join('\n');
}

const line = (name: string, requests: string, input: string, cached: string, output: string, price: string): string =>
  `${padded(fitting(name, 36), 36)}${requests.padStart(9)}${input.padStart(8)}${cached.padStart(8)}${output.padStart(8)}${price.padStart(11)}`;

function costLine(name: string, row: Cost): string {
  const input = row.input_tokens + row.cached_input_tokens + row.cache_write_tokens;
  return line(
    visible(name),
    String(row.requests),
    tokens(input),
    input === 0 ? '–' : `${Math.floor((100 * row.cached_input_tokens) / input)} %`,
    tokens(row.output_tokens),
    `${money(row.cost)}${row.unpriced_requests > 0 && row.cost !== null ? '+' : ''}`,
  );
}

/** How the total splits up, and what the cache saved. */
function parts(total: Cost, cache: readonly Cost[]): string[] {
  const spent = (
    [
      ['steps', total.step_cost],
      ['summaries of compactions', total.summary_cost],
      ['missing the cache', total.missed_cost],
    ] as const
  ).flatMap(([name, amount]) => (amount ? [`${name} ${money(amount)}`] : []));
  const why = cache.map(
    ({ key, requests, missed_tokens: missed, missed_cost: more }) =>
      `${key} ${requests}${missed > 0 ? ` (${tokens(missed)} tokens${more === null ? '' : `, ${money(more)} more`})` : ''}`,
  );
  return [...(spent.length > 0 ? wrapped('of that: ', spent) : []), ...wrapped('cache:   ', why)];
}

/** Wraps a list into lines of at most 80 characters. */
function wrapped(head: string, words: readonly string[]): string[] {
  const lines = [head];
  for (const [n, word] of words.entries()) {
    const last = lines.at(-1) ?? '';
    const next = `${word}${n < words.length - 1 ? ', ' : ''}`;
    if (`${last}${next}`.trimEnd().length > 80 && last.trim() !== '') lines.push(`${' '.repeat(head.length)}${next}`);
    else lines[lines.length - 1] = last + next;
  }
  return lines.map((text) => text.trimEnd());
}

/** For each cut the actual figures and, in brackets, the expected ones. */
function cutLines(cuts: readonly CostOfCut[]): string[] {
  const row = (...[what, at, left, rewritten, pays, requests, saved]: [string, string, string, string, string, string, string]): string =>
    `${padded(fitting(what, 16), 16)}${at.padStart(5)}${left.padStart(16)}${rewritten.padStart(16)}${pays.padStart(9)}${requests.padStart(5)}${saved.padStart(13)}`;
  const both = (came: string, expected: string): string => `${came} (${expected})`;
  return [
    row('cut (expected)', 'at', 'left', 'rewritten', 'pays', 'used', 'saved'),
    ...cuts.map((one) =>
      row(
        one.cut === 'elision' ? `blocks ${one.blocks}` : one.cut,
        `${one.attempt}.${one.iteration}`,
        both(tokens(one.left_tokens), tokens(one.expected_left)),
        both(tokens(one.rewritten_tokens), tokens(one.expected_rewritten)),
        both(one.paid_after === null ? '–' : String(one.paid_after), String(one.expected_after)),
        String(one.requests),
        one.saved_cost === null ? `${tokens(one.saved_tokens)} tok` : money(one.saved_cost),
      ),
    ),
  ];
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

const tokens = (n: number | null): string => (n === null ? '–' : tokensText(n));
