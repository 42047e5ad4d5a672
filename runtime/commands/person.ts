// Manages the people who act under their own names: on the console, and from anywhere with their token.

import type { Settings } from '../config.ts';
import { day } from './localTime.ts';
import { exit, note, print, visible } from './output.ts';
import { withLedger } from './withLedger.ts';

export const personAdd = (name: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const added = await db.personAdd(name);
    print(added, added.token, options.json ?? false);
    note(
      `The token of ${visible(added.name)}, shown this once. Whoever has it acts in that name: on a console, or with WORK_LEDGER_PERSON_TOKEN set.`,
    );
    return exit.ok;
  });

export const personList = (options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const all = await db.personList();
    const width = Math.max(0, ...all.map(({ name }) => name.length));
    print(
      all,
      all.length === 0
        ? 'nobody: work-ledger person add NAME'
        : all
            .map(
              (one) =>
                `${visible(one.name).padEnd(width)}  since ${day(one.created_at)}${one.revoked_at === null ? '' : `, revoked ${day(one.revoked_at)}`}`,
            )
            .join('\n'),
      options.json ?? false,
    );
    return exit.ok;
  });

export const personRevoke = (name: string, options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const revokedAt = await db.personRevoke(name);
    print({ name, revoked_at: revokedAt }, `the token of ${visible(name)} is revoked`, options.json ?? false);
    return exit.ok;
  });
