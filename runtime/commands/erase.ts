// Erasing work by hand or by policy, and exporting it first.

import { createInterface } from 'node:readline/promises';

import type { Settings } from '../config.ts';
import type { Db } from '../ledger/db.ts';
import type { ErasureLine, RetentionPolicy } from '../ledger/erasure.ts';
import { isNoFunction, isNoTime, LedgerError, UsageError } from '../ledger/errors.ts';
import { retain } from '../worker/retention.ts';
import { isWhole, itemIdOf } from './ids.ts';
import { io } from './io.ts';
import { exit, note, print, StatusLine } from './output.ts';
import { withLedger, withReader } from './withLedger.ts';

export type EraseOptions = Settings & { dryRun?: boolean; yes?: boolean; withForks?: boolean; reason?: string };

/** `what`: the label of a session, or a work item as people type it. */
export const erase = (what: string, options: EraseOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const id = await workOf(db, what);
    const ask = { reason: options.reason ?? 'erased by hand', withForks: options.withForks ?? false };
    const wouldGo = await db.workErase(id, { ...ask, isDryRun: true });
    if (options.dryRun || !options.yes) print(wouldGo, eraseText(wouldGo), options.json ?? false);
    if (options.dryRun) return exit.ok;
    if (!options.yes && !(await agrees(id))) {
      note('nothing was erased; --yes erases without asking');
      return exit.error;
    }
    const gone = await db.workErase(id, { ...ask, isDryRun: false });
    if (options.yes) print(gone, eraseText(gone), options.json ?? false);
    note(`permanently erased ${gone.filter(({ kind }) => kind === 'item').length} work items`);
    return exit.ok;
  });

async function workOf(db: Db, what: string): Promise<string> {
  if (isWhole(what)) return what;
  try {
    const id = await db.sessionWork(what);
    if (id !== null) return id;
  } catch (error) {
    if (!(error instanceof LedgerError && error.code === 'WL001')) throw error;
    return await itemIdOf(db, what).catch((noItem: unknown) => {
      throw noItem instanceof Error ? new UsageError(`${error.message}, and ${noItem.message}`) : noItem;
    });
  }
  throw new UsageError(`the session "${what}" has no turns: no work belongs to it`);
}

async function agrees(id: string): Promise<boolean> {
  if (!io().stdin.isTTY) return false;
  const terminal = createInterface({ input: io().stdin, output: io().stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`Erase ${id} and all of this for good? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

function eraseText(lines: readonly ErasureLine[]): string {
  const of = (kind: ErasureLine['kind']): ErasureLine[] => lines.filter((line) => line.kind === kind);
  const tables = of('table');
  const bytes = tables.reduce((sum, line) => sum + (line.bytes ?? 0), 0);
  return [
    ...of('item').map(({ name }) => `goes       ${name}`),
    ...of('not over').map(({ name }) => `not over   ${name}`),
    ...of('fork').map(({ name }) => `fork       ${name}  shares its turns: --with-forks`),
    ...of('quoted in').map(({ name, row_count }) => `quoted in  ${name}  ${row_count} digests`),
    ...of('note').map(({ name, bytes: size }) => `stays      ${name}  ${size} bytes of a note, see work-ledger memory erase`),
    ...tables.map(
      ({ name, row_count, bytes: size }) => `${String(row_count).padStart(9)}  ${name.padEnd(20)} ${String(size).padStart(12)} bytes`,
    ),
    tables.length === 0 ? 'nothing is left to erase' : `${bytes} bytes of words`,
  ].join('\n');
}

/** One JSON document per line: {relation, row}. */
export const exportWork = (what: string, options: Settings): Promise<number> =>
  withReader(options, async (db) => {
    for (const row of await db.workExport(await workOf(db, what))) io().stdout.write(`${JSON.stringify(row)}\n`);
    return exit.ok;
  });

export type RetentionOptions = Settings & { state?: string; faculty?: string; keep?: string; export?: string; run?: boolean };

/** `age`: sets a policy, or removes it if it is "never"; without one, shows the policies and what is due. */
export const retention = (age: string | undefined, options: RetentionOptions): Promise<number> => {
  // PostgreSQL would read 90 as seconds.
  if (age !== undefined && /^\s*[+-]?[\d.]+\s*$/.test(age))
    throw new UsageError(`"${age}" has no unit: did you mean "${age.trim()} days"? Other ages are "12 hours" and never`);
  return withLedger(options, async (db) => {
    if (age !== undefined) {
      await db
        .retentionPolicySave(
          age === 'never' ? null : age,
          options.state ?? null,
          options.faculty ?? null,
          options.keep ?? 'nothing',
          options.export ?? null,
        )
        .catch((error: unknown) => {
          if (options.export !== undefined && isNoFunction(error))
            throw new UsageError(`there is no function ${options.export}: name one that takes the root of the tree, such as archive(uuid)`);
          if (!isNoTime(error)) throw error;
          throw new UsageError(`"${age}" is not an age; one is "30 days", "12 hours" or never`);
        });
    }
    if (options.run) {
      const due = (await db.retentionDue()).length;
      const status = new StatusLine();
      const done = await retain(
        db,
        new AbortController().signal,
        (root, error) => {
          status.clear();
          note(`kept ${root}: ${error}`);
        },
        ({ trees, rows }) => status.show(`${trees} of ${due}${due === 1000 ? ' or more' : ''} trees, ${rows} rows`),
      );
      status.clear();
      print(done, `erased ${done.trees} trees, ${done.rows} rows`, options.json ?? false);
      return exit.ok;
    }
    const [policies, due] = await Promise.all([db.retentionPolicies(), db.retentionDue()]);
    print(
      { policies, due },
      [
        ...policies.map(policyText),
        ...(policies.length === 0
          ? ['no policy: nothing is erased by itself']
          : [`due now: ${due.length === 1000 ? '1000 trees or more' : `${due.length} trees`}`]),
      ].join('\n'),
      options.json ?? false,
    );
    return exit.ok;
  });
};

const policyText = ({ state, faculty, age, keep, export_function: exported }: RetentionPolicy): string =>
  `${(state ?? 'any state').padEnd(10)} ${(faculty ?? 'any faculty').padEnd(16)} after ${age.padEnd(10)} ${keep === 'all' ? 'nothing goes' : keep === 'ledger' ? 'the conversation goes, the ledger stays' : 'all goes'}${exported === null ? '' : `, after ${exported}()`}`;
