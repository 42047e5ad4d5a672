// Checks whether anybody changed what was recorded: compares the ledger's code with this package, verifies its chains, then compares heads
// that were kept elsewhere.

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

import type { Settings } from '../config.ts';
import { comparedCode } from '../install/comparedCode.ts';
import { UsageError } from '../ledger/errors.ts';
import { head, verifyAloud } from '../ledger/evidence.ts';
import type { Head } from '../ledger/evidence.ts';
import { itemIdOf } from './ids.ts';
import { io } from './io.ts';
import { exit, note, print, StatusLine, visible } from './output.ts';
import { withLedger, withReader } from './withLedger.ts';

export type VerifyOptions = Settings & { heads?: boolean; against?: string };

/** `id`: a work item; undefined: all of them. */
export async function verify(id: string | undefined, options: VerifyOptions): Promise<number> {
  if (options.heads) return heads(id, options);
  const kept =
    options.against === undefined
      ? null
      : headsOf(options.against === '-' ? await text(io().stdin) : await readFile(options.against, 'utf8'));
  return withLedger(options, async (db, url) => {
    const code = await comparedCode(url, db.schema);
    if (code === null)
      note('the functions were not compared with this package: that requires a role that may create a schema (which is rolled back)');
    const status = new StatusLine();
    let verified = 0;
    const ofItems = await verifyAloud(
      url,
      db.schema,
      { workItemId: id === undefined ? null : await itemIdOf(db, id), heads: kept },
      (done, all) => {
        verified = done;
        status.show(`verified ${done} of ${all} work items`);
      },
    ).finally(() => status.clear());
    const found = [
      ...(code ?? []).map((one) => ({ work_item_id: null, ...one })),
      // The ledger's own check of its code finds the same as ours, and could itself have been replaced.
      ...ofItems.filter((one) => code === null || one.work_item_id !== null),
    ];
    const checked = kept === null ? '' : `, and ${kept.length} heads fit`;
    print(
      found,
      found.length === 0
        ? `everything is as it was written${checked}`
        : found.map((one) => visible([one.work_item_id, one.place, one.problem].filter(Boolean).join('  '))).join('\n'),
      options.json ?? false,
    );
    note(`verified ${verified} work items: ${found.length === 0 ? 'no problems' : `${found.length} problems`}`);
    return found.length === 0 ? exit.ok : exit.error;
  });
}

/** One JSON document per line. */
const heads = (id: string | undefined, options: Settings): Promise<number> =>
  withReader(options, async (db) => {
    for (const one of await db.ledgerHead(id === undefined ? null : await itemIdOf(db, id))) io().stdout.write(`${JSON.stringify(one)}\n`);
    return exit.ok;
  });

function headsOf(lines: string): Head[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, i) => {
      try {
        return head.parse(JSON.parse(line));
      } catch {
        throw new UsageError(`line ${i + 1} is not a line of "work-ledger verify --heads"`);
      }
    });
}
