// The position of a work item's watcher, as a short text that a client can keep and send back: which entries it has received, and how much
// of the current turn. It reveals nothing of the content.

import { createHash } from 'node:crypto';

import { LedgerError } from './errors.ts';

/** How much of a text was sent to the watcher, and a hash of that: a response that is sent again begins differently. */
export type Told = { chars: number; hash: string };

/**
 * What the watcher has received of the current turn: how many messages to the agent, how much thinking and text, whether the response is
 * complete, the status of each call by the end of its id.
 */
export type TurnTold = {
  turnId: string;
  messages: number;
  thinking: Told;
  said: Told;
  isAnswered: boolean;
  calls: ReadonlyMap<string, string>;
};

export type Position = { seq: number; turn: TurnTold | null; isEnd: boolean };

export const NOTHING_TOLD: Told = { chars: 0, hash: '' };

/** The record for the first `chars` of a text. */
export const toldOf = (text: string, chars = text.length): Told =>
  chars === 0 ? NOTHING_TOLD : { chars, hash: createHash('sha256').update(text.slice(0, chars)).digest('hex').slice(0, 8) };

/** A short tag for a call of a turn. */
export const callTag = (id: string): string => Buffer.from(id.slice(-6), 'hex').toString('base64url');

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const told = String.raw`(\d{1,9})(?:x([0-9a-f]{8}))?`;
const pattern = new RegExp(String.raw`^[0-9a-f]{6}\.(\d{1,9})(?:\.(${uuid})\.${told}\.${told}\.(\d{0,4})(a?)\.((?:[\w-]{5})*))?(\.end)?$`);

/** `seq`: the newest entry that the watcher has received. `isEnd`: it has received everything, to the end. */
export function positionText(workItemId: string, { seq, turn, isEnd }: Position): string {
  const ofText = ({ chars, hash }: Told): string => (chars === 0 ? '0' : `${chars}x${hash}`);
  const calls = [...(turn?.calls ?? [])].map(([tag, status]) => tag + status.slice(0, 1)).join('');
  const ofTurn =
    turn === null
      ? ''
      : `.${turn.turnId}.${ofText(turn.thinking)}.${ofText(turn.said)}.${turn.messages || ''}${turn.isAnswered ? 'a' : ''}.${calls}`;
  return `${workItemId.slice(-6)}.${seq}${ofTurn}${isEnd ? '.end' : ''}`;
}

/** Parses what positionText() wrote. Throws WL002 if it wrote no such text for this item. */
export function positionOf(text: string, workItemId: string): Position {
  const [, seq, turnId, thinkingChars, thinkingHash, saidChars, saidHash, messages, answered, calls, end] = pattern.exec(text) ?? [];
  if (seq === undefined || !text.startsWith(workItemId.slice(-6)))
    throw new LedgerError(
      'WL002',
      'this is not a position of this work item',
      '',
      'Pass the position of an event of the same item, or none.',
    );
  const toldAs = (chars = '0', hash = ''): Told => (chars === '0' ? NOTHING_TOLD : { chars: Number(chars), hash });
  return {
    seq: Number(seq),
    isEnd: end !== undefined,
    turn:
      turnId === undefined
        ? null
        : {
            turnId,
            messages: Number(messages),
            thinking: toldAs(thinkingChars, thinkingHash),
            said: toldAs(saidChars, saidHash),
            isAnswered: answered === 'a',
            calls: new Map((calls?.match(/.{5}/g) ?? []).map((one) => [one.slice(0, 4), one.slice(4)])),
          },
  };
}
