// What came of a storm, counted from outside of the ledger: from what the model was told, what tools wrote down and what clients were
// answered.

import type { Db } from '../../runtime/ledger/db.ts';
import { effectsIn } from './effects.ts';
import type { Ground } from './ground.ts';
import { callOutcomes, entryContents, itemOutcomes } from './outcomes.ts';
import type { Witness } from './witness.ts';

export type Scorecard = {
  seed: number;
  seconds: number;
  items: number;
  completed: number;
  iterations: number;
  /** Processes killed, and those frozen for longer than their lease. */
  kills: number;
  freezes: number;
  /** By kind, of the database; and of the model. */
  faults: Record<string, number>;
  /** Entries of which a model or a client was told that they are recorded. */
  acknowledged: number;
  /** Runs of tools, by who ran them. */
  effects: number;
  lost: string[];
  doubled: string[];
  /** Calls reported as uncertain: they may have happened; and how many of them had. */
  uncertain: number;
  uncertainHappened: number;
  /** Items that nothing moves any more. */
  stuck: string[];
  /** Items that ended otherwise than completed. */
  failed: string[];
  /** What work_ledger_check() and ledger_verify() found. */
  violations: string[];
};

export const isClean = (card: Scorecard): boolean =>
  [card.lost, card.doubled, card.stuck, card.failed, card.violations].every((list) => list.length === 0);

/** What only the ledger and the file of effects can say. */
export async function counted(
  ground: Ground,
  db: Db,
  witness: Witness,
  effectsFile: string,
): Promise<
  Pick<
    Scorecard,
    | 'items'
    | 'completed'
    | 'iterations'
    | 'acknowledged'
    | 'effects'
    | 'lost'
    | 'doubled'
    | 'uncertain'
    | 'uncertainHappened'
    | 'failed'
    | 'violations'
  >
> {
  const [effects, calls, entries, items] = [
    await effectsIn(effectsFile),
    await callOutcomes(ground),
    await entryContents(ground),
    await itemOutcomes(ground),
  ];
  const entered = witness.compare(entries);
  const known = calls.filter(({ id }) => effects.has(id));
  const uncertain = calls.filter(({ status }) => status === 'uncertain');
  return {
    items: items.length,
    completed: items.filter(({ state }) => state === 'completed').length,
    iterations: items.reduce((sum, { iterations }) => sum + iterations, 0),
    acknowledged: witness.acknowledgedCount,
    effects: effects.size,
    lost: [
      ...entered.lost.map((content) => `entry "${content}"`),
      ...known.filter(({ id, status }) => status === 'completed' && effects.get(id)?.ended === 0).map(({ id, tool }) => `${tool} ${id}`),
    ],
    doubled: [
      ...entered.doubled.map((content) => `entry "${content}"`),
      ...[...effects]
        .filter(([, { effect, began }]) => effect === 'unsafe' && began > 1)
        .map(([id, { began }]) => `call ${id}, ${began} times`),
    ],
    uncertain: uncertain.length,
    uncertainHappened: uncertain.filter(({ id }) => effects.has(id)).length,
    failed: items
      .filter(({ state }) => ['failed', 'dead', 'cancelled'].includes(state))
      .map(({ id, state, reason }) => `${id} ${state}: ${reason}`),
    violations: [
      ...(await db.check()).map(({ invariant, work_item_id: id, says }) => `${invariant} of ${id}: ${says}`),
      ...(await db.ledgerVerify(null, null)).map(({ work_item_id: id, place, problem }) => `chain of ${id}: ${place} ${problem}`),
    ],
  };
}

/** As a person reads it. */
export function scorecardText(card: Scorecard): string {
  const line = (what: string, n: number, more = ''): string =>
    `${what.padEnd(13)} ${String(n).padStart(6)}${more === '' ? '' : `   ${more}`}`;
  const list = (what: string, found: readonly string[], says = ''): string =>
    [line(what, found.length, says), ...found.slice(0, 10).map((one) => `    ${one}`)].join('\n');
  const faults = Object.entries(card.faults);
  return [
    `seed ${card.seed}, ${Math.round(card.seconds)} s: ${card.completed} of ${card.items} work items completed, ${card.iterations} iterations`,
    line('kills', card.kills, card.freezes > 0 ? `and ${card.freezes} processes frozen for longer than their lease` : ''),
    line(
      'faults',
      faults.reduce((sum, [, n]) => sum + n, 0),
      faults.map(([kind, n]) => `${kind.replaceAll('_', ' ')} ${n}`).join(', '),
    ),
    line('acknowledged', card.acknowledged, 'entries that somebody was told are recorded'),
    line('effects', card.effects, 'calls whose tool began to act'),
    list('lost', card.lost),
    list('doubled', card.doubled),
    line(
      'uncertain',
      card.uncertain,
      card.uncertain > 0 ? `calls of unsafe tools, reported as such; ${card.uncertainHappened} of them had begun` : '',
    ),
    list('stuck', card.stuck),
    list('failed', card.failed),
    list('violations', card.violations, 'found by work_ledger_check() and ledger_verify()'),
  ].join('\n');
}
