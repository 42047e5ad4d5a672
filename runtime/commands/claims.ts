// Lists the claims that work holds now, and releases them by force.

import type { Settings } from '../config.ts';
import { UsageError } from '../ledger/errors.ts';
import { itemIdOf } from './ids.ts';
import { second } from './localTime.ts';
import { exit, print, visible } from './output.ts';
import { withLedger, withReader } from './withLedger.ts';

export const claims = (options: Settings): Promise<number> =>
  withReader(options, async (db) => {
    const held = await db.claims();
    const lines = held.map(
      (one) =>
        `${one.work_item_id}  ${visible(one.key)}  ${visible(one.by)}, ${one.is_binding ? one.mode : 'binds nobody'}, until ${second(one.ends_at)}: ` +
        visible(one.why ?? one.description).split('\n')[0],
    );
    print(held, lines.join('\n') || 'nothing is claimed', options.json ?? false);
    return exit.ok;
  });

export const breakClaim = (workItemId: string, key: string | undefined, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const id = await itemIdOf(db, workItemId);
    if (key === undefined) throw new UsageError('name one of its claims: "work-ledger claims" lists their keys');
    const isBroken = await db.claimBreak(id, key, options.reason ?? null);
    print({ is_broken: isBroken }, isBroken ? 'revoked' : 'it has no such claim', options.json ?? false);
    return isBroken ? exit.ok : exit.error;
  });
