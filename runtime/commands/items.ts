// Commands that make one query or one change.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { z } from 'zod';

import type { Settings } from '../config.ts';
import type { CountedItem } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import type { DrawnOn } from '../ledger/reads.ts';
import type { DailyOwner } from '../ledger/submit.ts';
import { isNoTime, UsageError } from '../ledger/errors.ts';
import { jsonOfFile } from '../jsonFile.ts';
import { linkedDigests } from '../ledger/linked.ts';
import { projectOf } from '../project.ts';
import { idOf, itemIdOf } from './ids.ts';
import { io } from './io.ts';
import { entryLine, exit, itemLine, itemText, note, print, visible } from './output.ts';
import { withLedger, withLooking, withReader } from './withLedger.ts';

export type SubmitOptions = Settings & {
  type?: string;
  params?: string;
  faculty?: string;
  priority?: number;
  parent?: string;
  dedupKey?: string;
  externalId?: string;
  maxAttempts?: number;
  runAt?: string;
  workspace?: string;
  idempotencyKey?: string;
  budget?: string[];
  project?: string;
  /** JSON, or @FILE that contains it. */
  resultSchema?: string;
  /** From work-ledger.toml. */
  facultiesOfFile?: string[];
};

export const submit = (description: string, options: SubmitOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const project = options.project ?? (options.parent === undefined ? await projectOf(process.cwd()) : undefined);
    const item = await db
      .workSubmit({
        ...(options.type !== undefined && { workType: options.type }),
        description,
        ...(options.params !== undefined && { params: parseParams(options.params) }),
        ...(options.faculty !== undefined && { faculty: options.faculty }),
        ...(options.priority !== undefined && { priority: options.priority }),
        ...(options.parent !== undefined && { parentId: await itemIdOf(db, options.parent) }),
        ...(options.dedupKey !== undefined && { dedupKey: options.dedupKey }),
        ...(options.externalId !== undefined && { externalId: options.externalId }),
        ...(options.maxAttempts !== undefined && { maxAttempts: options.maxAttempts }),
        ...(options.runAt !== undefined && { runAt: options.runAt }),
        ...(options.workspace !== undefined && { workspaceDir: resolve(options.workspace) }),
        ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
        ...(project !== undefined && { project }),
        ...(options.resultSchema !== undefined && { resultSchema: await resultSchema(options.resultSchema) }),
        ...(options.budget && { budget: Object.fromEntries(options.budget.map(parseAmount)) }),
      })
      .catch((error: unknown) => {
        if (options.runAt === undefined || !isNoTime(error)) throw error;
        throw new UsageError(
          `--run-at "${options.runAt}" is not a time; one is "2027-01-31 18:00", "tomorrow 9:00" or, with its zone, "2027-01-31T18:00:00Z"`,
        );
      });
    print(item, item.id, options.json ?? false);
    const now = await db.workNow(item.id);
    if (now?.waits_for === 'faculty')
      note(
        `warning: nothing will take it: ${now.why}. Save one that does: work-ledger faculty FILE${options.facultiesOfFile ? ' (those of work-ledger.toml are saved when a worker starts: work-ledger work)' : ''}`,
      );
    return exit.ok;
  });

/** A JSON Schema as it was typed, or @FILE. The ledger checks its keywords. */
async function resultSchema(given: string): Promise<object> {
  const json = given.startsWith('@') ? await readFile(given.slice(1), 'utf8') : given;
  const schema = parsed(json, '--result-schema');
  if (typeof schema !== 'object' || schema === null) throw new UsageError('--result-schema must be a JSON Schema, or @FILE with one');
  return schema;
}

/** "tokens=200000". */
function parseAmount(given: string): [resource: string, amount: number] {
  const [, resource, amount] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(given) ?? [];
  if (resource === undefined) throw new UsageError(`"${given}" is not a budget; one is tokens=200000 (or money, seconds, calls, children)`);
  return [resource, Number(amount)];
}

export const budget = (workItemId: string, amounts: string[], options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const { id } = await itemOf(db, workItemId);
    for (const [resource, amount] of amounts.map(parseAmount)) await db.budgetSet(id, resource, amount);
    const budgets = await db.budgetsDrawnOn(id);
    print(
      budgets,
      [
        ...(budgets.some((one) => one.scope === null) ? [] : ['no budget of its own']),
        ...budgets.map((one) => `${one.resource.padEnd(8)}  ${used(one)}${one.scope === null ? '' : ' a day'}${of(one)}`),
      ].join('\n'),
      options.json ?? false,
    );
    return exit.ok;
  });

/** Without amounts, shows all daily budgets. The amount `none` removes one. */
export const dailyBudget = (
  amounts: string[],
  { project, faculty, ...options }: Settings & { project?: string; faculty?: string },
): Promise<number> =>
  withLedger(options, async (db) => {
    if (project !== undefined && faculty !== undefined)
      throw new UsageError('a daily budget belongs to a project or a faculty: give either --project or --faculty');
    const of: DailyOwner | null =
      faculty !== undefined ? { scope: 'faculty', name: faculty } : project !== undefined ? { scope: 'project', name: project } : null;
    for (const given of of ? amounts : []) {
      const [, none] = /^(\w+)=none$/.exec(given) ?? [];
      const [resource, amount] = none === undefined ? parseAmount(given) : [none, null];
      if (of) await db.dailyBudgetSet(resource, amount === null ? null : String(amount), of);
    }
    const budgets = await db.dailyBudgets(of);
    print(
      budgets,
      budgets.map((one) => `${one.resource.padEnd(8)}  ${used(one)} a day${of ? '' : `  ${one.scope} ${visible(one.name)}`}`).join('\n') ||
        'no budget by day',
      options.json ?? false,
    );
    return exit.ok;
  });

/** The owner of a budget that is not the item's own. */
const of = ({ scope, name }: DrawnOn): string => (scope === null ? '' : `  ${scope} ${visible(name ?? '')}`);

const used = (one: { spent: string; amount: string; reserved: string }): string =>
  `${one.spent} of ${one.amount}${one.reserved === '0' ? '' : `, ${one.reserved} held`}`;

/** The value of an option, parsed as JSON. */
function parsed(json: string, option: string): unknown {
  try {
    return jsonOfFile(json);
  } catch {
    throw new UsageError(`${option} must be JSON`);
  }
}

function parseParams(json: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(json));
  } catch {
    throw new UsageError('--params must be a JSON object');
  }
}

export const show = (workItemId: string, options: Settings): Promise<number> =>
  withLooking(options, async (db) => {
    const item = await itemOf(db, workItemId);
    const calls = await db.toolCalls(item.id);
    const progress = await db.workProgress(item.id);
    const failures = await db.failedCalls(item.id);
    const standing = await db.standing(item.id);
    const budgets = await db.budgetsDrawnOn(item.id);
    const why = (await db.workNow(item.id))?.why ?? null;
    const failed = calls.filter((call) => call.status === 'failed').length;
    const lines = [
      itemText(item, why),
      `  turns      ${progress.turns} (${progress.tokens} tokens)`,
      `  calls      ${calls.length}${calls.length > 0 ? `: ${[...new Set(calls.map((call) => call.tool_name))].join(', ')}` : ''}${failed > 0 ? `; ${failed} failed` : ''}`,
      ...failures.map(({ tool, says, times }) => `             ${times} × ${tool}: ${visible(says ?? 'it said nothing')}`),
      ...budgets.map(
        (one) => `  budget     ${one.resource} ${used(one)}${one.scope === null ? '' : ' a day'}, ${one.remaining} left${of(one)}`,
      ),
      ...(progress.turns > 0 || item.ledger_count > 0 ? ['', visible(standing)] : []), // else it would repeat the task
    ];
    print(
      { ...item, why, turns: progress.turns, tokens: progress.tokens, tool_calls: calls, failed_calls: failures, budgets, standing },
      lines.join('\n'),
      options.json ?? false,
    );
    return exit.ok;
  });

/** Content "-" is read from stdin. */
export const ledgerAppend = (workItemId: string, type: string, content: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const entry = await db.ledgerAppend(
      await itemIdOf(db, workItemId),
      type,
      content === '-' ? (await text(io().stdin)).trimEnd() : content,
    );
    print(entry, entryLine(entry), options.json ?? false);
    return exit.ok;
  });

export const ledgerRetract = (workItemId: string, seq: number, reason: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const entry = await db.ledgerRetract(await itemIdOf(db, workItemId), seq, reason);
    print(entry, entryLine(entry), options.json ?? false);
    return exit.ok;
  });

export const complete = (
  workItemId: string,
  summary: string,
  options: Settings & { evidence?: string[]; result?: string },
): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workComplete(
      await itemIdOf(db, workItemId),
      summary,
      options.evidence ?? [],
      options.result === undefined ? undefined : parsed(options.result, '--result'),
    );
    print(item, itemLine(item), options.json ?? false);
    return exit.ok;
  });

export const ledger = (workItemId: string, options: Settings & { type?: string; last?: number; formatted?: boolean }): Promise<number> =>
  withReader(options, async (db) => {
    if (options.formatted) {
      const formatted = await db.ledgerReadFormatted(await itemIdOf(db, workItemId));
      print({ text: formatted }, visible(formatted), options.json ?? false);
      return exit.ok;
    }
    const entries = await db.ledgerRead(await itemIdOf(db, workItemId), options.type ?? null, options.last ?? null);
    print(entries, entries.length > 0 ? entries.map((entry) => entryLine(entry)).join('\n') : '(no entries)', options.json ?? false);
    return exit.ok;
  });

export const digest = (workItemId: string | undefined, options: Settings & { across?: boolean }): Promise<number> =>
  withReader(options, async (db, url) => {
    const id = workItemId === undefined ? null : await itemIdOf(db, workItemId);
    const own = await db.awarenessDigest(id);
    if (!options.json) print(null, visible(own), false);
    const linked: string[] = [];
    // Others are printed as they arrive, and the ledger's own part waits for none of them.
    for (const one of options.across ? await linkedDigests(db, url) : []) {
      linked.push(await one);
      if (!options.json) print(null, `\n${visible(linked.at(-1) ?? '')}`, false);
    }
    if (options.json) print({ text: [own, ...linked].join('\n\n') }, '', true);
    return exit.ok;
  });

export const cancel = (workItemId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const items = await db.workCancel(await itemIdOf(db, workItemId), options.reason ?? null);
    print(items, items.length > 0 ? items.map(itemLine).join('\n') : 'nothing to cancel: it has ended', options.json ?? false);
    return exit.ok;
  });

export const message = (workItemId: string, said: string, options: Settings & { interrupt?: boolean }): Promise<number> =>
  withLedger(options, async (db) => {
    const id = await db.workMessage(await itemIdOf(db, workItemId), said, options.interrupt ?? false);
    print(
      { id },
      options.interrupt ? 'delivered: the agent was interrupted' : 'will be delivered with its next request',
      options.json ?? false,
    );
    return exit.ok;
  });

export const fork = (turnId: string, said: string | undefined, options: Settings & { faculty?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workFork(idOf(turnId, 'turn'), said ?? null, options.faculty ?? null);
    print(item, item.id, options.json ?? false);
    return exit.ok;
  });

export const goOn = (workItemId: string, said: string, options: Settings & { idempotencyKey?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workContinue(await itemIdOf(db, workItemId), said, options.idempotencyKey);
    print(item, item.id, options.json ?? false);
    return exit.ok;
  });

export const retry = (workItemId: string, said: string | undefined, options: Settings & { idempotencyKey?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workRetry(await itemIdOf(db, workItemId), said ?? null, options.idempotencyKey);
    print(item, item.id, options.json ?? false);
    return exit.ok;
  });

export const pause = (workItemId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workPause(await itemIdOf(db, workItemId), options.reason ?? null);
    print(item, item.state === 'paused' ? itemLine(item) : 'will pause after its current iteration', options.json ?? false);
    return exit.ok;
  });

export const resume = (workItemId: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workResume(await itemIdOf(db, workItemId));
    print(item, itemLine(item), options.json ?? false);
    return exit.ok;
  });

export const abandonFiles = (workItemId: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const item = await db.workspaceAbandon(await itemIdOf(db, workItemId));
    print(item, itemLine(item), options.json ?? false);
    return exit.ok;
  });

export async function itemOf(db: Pick<Db, 'workId' | 'workItem'>, workItemId: string): Promise<CountedItem> {
  const item = await db.workItem(await itemIdOf(db, workItemId));
  if (!item) throw new Error(`there is no work item ${workItemId}; "work-ledger list" shows the newest`);
  return item;
}
