// Moves a ledger to another server while work continues: rows are copied and followed by logical replication; then writers wait for
// seconds, while every row is compared, and continue at the target.
//
// The progress of a move is read from what exists at both ends, so that a command that was killed can be repeated, or undone:
//
//   source                               target                                   what a repeated move does
//   written                              nothing, or a copy, which is fenced      begins, with an empty copy
//   written, publication                 copy, fenced, subscription               waits until all is copied, then fences the source
//   fenced, publication                  copy, fenced, subscription or not        waits, compares, decides
//   fenced                               copy, fenced                             opens the target
//   fenced                               written                                  it is over
//
// Dropping the publication is the decision: one transaction at the source, which undoing requires as well. Before it the target cannot be
// opened; after it nothing opens the source. In between nobody can write at all.

import { atFailpoints } from '../failpoint.ts';
import { alone } from '../install/alone.ts';
import { patiently } from '../install/installLedger.ts';
import { isOurs, NoLedger, otherLedger, standing } from '../ledger/checkLedger.ts';
import { messageOf, sqlState, UsageError } from '../ledger/errors.ts';
import { fenceOf, fenceSql, inTransaction, isPublished, openEnd, subscriptionOn, unfenceSql } from './ends.ts';
import type { End, Fence } from './ends.ts';
import { missing } from './needs.ts';
import { caughtUp, copied, dropSlot, subscribe, unsubscribe } from './replication.ts';
import { compareRows, copySequences, emptyLedger } from './rows.ts';

export type MoveOrder = {
  source: string;
  target: string;
  schema: string;
  /** The source's address as the target's server reaches it. */
  fetchFrom: string;
  /**
   * Commands that hold clients back before the source rejects them, that change the address, and that let clients continue, at the target
   * or, if the move fails, at the source.
   */
  pause: () => Promise<void>;
  switchAddress: () => Promise<void>;
  resume: () => Promise<void>;
  /** The target is opened first, and compared afterwards as it was then, so that nobody waits for the comparison. */
  comparesLater: boolean;
  /** Stops the move until it is decided, and a later comparison; the error thrown then is the signal's reason. */
  stopped: AbortSignal;
  say: (text: string) => void;
  /** Reports the progress of a step. */
  progress: (text: string) => void;
};

/** `seconds`: how long nobody could write. Both are null if the move was already decided. */
export type Moved = { from: string; to: string; rows: number | null; seconds: number | null };

export async function moveLedger(order: MoveOrder): Promise<Moved> {
  const source = await openEnd(order.source, order.schema, '');
  try {
    const target = await openEnd(order.target, order.schema, '--to');
    try {
      if (source.name === target.name) throw new UsageError('--to is the database that the ledger is in already: name another one');
      await onlyMover(source);
      return await carry(order, source, target);
    } finally {
      await target.client.end().catch(() => {});
    }
  } finally {
    await source.client.end().catch(() => {});
  }
}

async function carry(order: MoveOrder, source: End, target: End): Promise<Moved> {
  const [fence, isUndecided] = [await sourceFence(source, target), await isPublished(source)];
  if (fence === null) {
    await begin(order, source, target, isUndecided);
    order.say('all tables are copied, and the target follows');
  }
  const since = performance.now();
  const isOver = fence !== null && !isUndecided;
  let rows = isOver ? null : await handOver(order, source, target, fence === null);
  const asItWas = order.comparesLater && !isOver ? await snapshotOf(order) : null;
  try {
    await open(source, target);
    await order.switchAddress();
    await order.resume();
    const seconds = isOver ? null : Math.round((performance.now() - since) / 100) / 10;
    await atFailpoints('move_tidy', () => tidy(source, target));
    if (asItWas !== null)
      rows = await sameRows(order, source, asItWas, 'the target, which is written by now, lacks rows of the source, which still has them');
    return { from: source.address, to: target.address, rows, seconds };
  } finally {
    await asItWas?.client.end().catch(() => {});
  }
}

/** The number of rows; throws if they differ between the ends. */
async function sameRows({ progress, stopped }: MoveOrder, source: End, target: End, otherwise: string): Promise<number> {
  const { rows, differing } = await compareRows(source, target, ({ tables, of, rows: compared }) => {
    stopped.throwIfAborted();
    progress(`comparing: ${tables} of ${of} tables, ${compared} rows`);
  });
  if (differing.length > 0) throw new Error(`${otherwise}: ${differing.join(', ')}`);
  return rows;
}

/** A snapshot of the target as it is now, unaffected by later writes. */
async function snapshotOf(order: MoveOrder): Promise<End> {
  const target = await openEnd(order.target, order.schema, '--to');
  await target.client.query('begin isolation level repeatable read read only; select from pg_class limit 1');
  return target;
}

/** Only one command at a time moves a ledger. The lock is held by the connection that also makes the decision, and ends with it. */
async function onlyMover({ client, schema }: End): Promise<void> {
  try {
    await client.query(`set lock_timeout = '10s'`);
    await alone(client, 'move', schema, false);
    await client.query('set lock_timeout = 0');
  } catch (error) {
    throw sqlState(error) === '55P03' ? new Error('another "work-ledger move" of this ledger is running', { cause: error }) : error;
  }
}

/** Null: the source accepts writes. Throws if it, or the target, is part of another move. */
async function sourceFence(source: End, target: End): Promise<Fence> {
  const found = await standing(source.url, source.schema);
  if (found.ledger === null) throw new NoLedger(`there is no ledger in schema "${source.schema}" of ${source.address}`);
  if (!isOurs(found)) throw otherLedger(found, source.schema);
  const fence = await fenceOf(source);
  if (fence?.direction === 'from') throw new Error(`this ledger is being moved here from ${fence.address}: repeat or undo the move there`);
  if (fence !== null && fence.peer !== target.name) throw new Error(`this ledger has moved to ${fence.address}, not to ${target.address}`);
  const theirs = await fenceOf(target);
  if (theirs !== null && (theirs.direction === 'to' || theirs.peer !== source.name))
    throw new Error(
      `the ledger at the target ${theirs.direction === 'to' ? 'was moved to' : 'is being moved there from'} ${theirs.address}: move to where there is none`,
    );
  return fence;
}

/** Copies everything, and starts following. */
async function begin(order: MoveOrder, source: End, target: End, isUndecided: boolean): Promise<void> {
  if (!isUndecided || (await subscriptionOn(target, source.name)) !== 'there') {
    const lacking = await missing(source, target, await standing(target.url, target.schema), order.fetchFrom);
    if (lacking.length > 0) throw new UsageError(`the move cannot begin: ${lacking.join('; ')}`);
    await unsubscribe(source, target);
    const isCopy = (await fenceOf(target)) !== null;
    await atFailpoints('move_prepare', () => patiently(target.url, () => emptyLedger(source, target, isCopy)));
    await atFailpoints('move_subscribe', () => subscribe(source, target, order.fetchFrom));
  }
  await copied(source, target, order);
}

/**
 * From the fence at the source to the decision, while nobody can write. Returns the number of rows, or null if they are compared later. If
 * it fails before the decision, the source accepts writes again.
 */
async function handOver(order: MoveOrder, source: End, target: End, isWritten: boolean): Promise<number | null> {
  try {
    if (isWritten) {
      await order.pause();
      await atFailpoints('move_fence', () => patiently(source.url, () => inTransaction(source, fenceSql(source, 'to', target))));
    }
    order.say('writers wait');
    if ((await subscriptionOn(target, source.name)) === 'there') await caughtUp(source, order.stopped);
    const rows = await atFailpoints('move_compare', async () =>
      order.comparesLater
        ? null
        : sameRows(
            order,
            source,
            target,
            'the target does not have the rows of the source (run "work-ledger move --undo", then start again)',
          ),
    );
    order.stopped.throwIfAborted(); // for the last time: what follows takes only a moment
    await copySequences(source, target);
    await atFailpoints('move_unsubscribe', () => unsubscribe(source, target));
    await atFailpoints('move_decide', () => inTransaction(source, `drop publication ${source.name}`));
    return rows;
  } catch (error) {
    await giveBack(order, source).catch((also: unknown) =>
      order.say(`the source may still refuse writers (${messageOf(also)}): repeat the command, or undo it`),
    );
    throw error;
  }
}

/** Does nothing if the move is decided: the publication is gone. */
async function giveBack(order: MoveOrder, source: End): Promise<void> {
  if (!(await isPublished(source))) return;
  if ((await fenceOf(source)) !== null) await patiently(source.url, () => inTransaction(source, unfenceSql(source)));
  if (!order.stopped.aborted) order.say('the source is written again: repeat the command, or undo it');
  await order.resume();
}

/** The state of the source, as a sentence for the person who stopped a move. */
export async function standsAt({ source: url, schema }: Pick<MoveOrder, 'source' | 'schema'>): Promise<string> {
  const source = await openEnd(url, schema, '');
  try {
    const [fence, isUndecided] = [await fenceOf(source), await isPublished(source)];
    if (fence === null)
      return `the ledger is written here as before${isUndecided ? ', and the target has a part of the copy: the same command goes on, --undo takes it back' : ''}`;
    return isUndecided
      ? 'nobody can write to the ledger until the same command is repeated, or undone with --undo'
      : `the ledger is at ${fence.address} by now: the same command ends what is left, and compares no rows`;
  } finally {
    await source.client.end().catch(() => {});
  }
}

/** Lets the target accept writes, if it is still the copy that this move made. */
async function open(source: End, target: End): Promise<void> {
  await atFailpoints('move_open', async () => {
    const fence = await fenceOf(target);
    if (fence?.direction === 'from' && fence.peer === source.name)
      await patiently(target.url, () => inTransaction(target, unfenceSql(target)));
  });
}

/** Nothing is lost if this does not happen. Jobs are not moved: they only say "look at this item", and a sweep enqueues what is due. */
async function tidy(source: End, target: End): Promise<void> {
  await unsubscribe(source, target);
  await dropSlot(source);
  for (let enqueued = 1; enqueued > 0;) {
    const {
      rows: [swept],
    } = await target.client.query<{ enqueued: number }>(`select (${target.quoted}.work_sweep() ->> 'enqueued')::integer as enqueued`);
    enqueued = swept?.enqueued ?? 0;
  }
}

/** Undoes a move that is not decided; false: there is none. `target`: null if its server is gone for good. */
export async function undoMove(order: Pick<MoveOrder, 'source' | 'schema' | 'resume'> & { target: string | null }): Promise<boolean> {
  const source = await openEnd(order.source, order.schema, '');
  try {
    await onlyMover(source);
    const [fence, isUndecided] = [await fenceOf(source), await isPublished(source)];
    if (fence?.direction === 'to' && !isUndecided)
      throw new Error(`this ledger was moved to ${fence.address}, where work goes on: move it back from there, to a database of its own`);
    const target = order.target === null ? null : await openEnd(order.target, order.schema, '--to');
    try {
      const isFollowed = target !== null && (await subscriptionOn(target, source.name)) !== 'none';
      // The source first, since people wait there. Repeating this command, or the move, finds what is left after that.
      if (isUndecided)
        await atFailpoints('undo_source', () =>
          patiently(source.url, () =>
            inTransaction(source, [`drop publication ${source.name}`, ...(fence === null ? [] : [unfenceSql(source)])].join(';\n')),
          ),
        );
      if (isUndecided) await order.resume();
      if (target !== null) await atFailpoints('undo_target', () => unsubscribe(source, target));
      await dropSlot(source);
      return isUndecided || isFollowed;
    } finally {
      await target?.client.end().catch(() => {});
    }
  } finally {
    await source.client.end().catch(() => {});
  }
}
