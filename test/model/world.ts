// What was said and done in a conversation, as whoever said and did it remembers: nothing here knows how the engine decides.
// Every word of a person, every entry and every result has a mark of its own (w7, e12, r30), by which it is found again.

import { randomUUID } from 'node:crypto';

import type { ContentBlock } from '../../runtime/model/message.ts';
import type { PlayedCall } from './commands.ts';
import type { Policy } from './policies.ts';

export type Image = { media_type: 'image/png'; data: string };
export type Result = { text: string; isError: boolean; images: readonly Image[] };

/** A call of the model, or of its code. */
export type Call = {
  /** Of its row. */
  id: string | null;
  name: string;
  input: Record<string, unknown>;
  /** What its tool returned, where the test played the tool; `stopped`: it never came to that. */
  result: Result | 'stopped' | null;
  played: PlayedCall;
  /** What the model was shown of it first, where the test did not play its tool. */
  learned: string | null;
  /** A request that was answered had it whole. */
  isSeen: boolean;
  /** An entry that was acknowledged. */
  isEntry: boolean;
  isOpen: boolean;
  isWaiting: boolean;
  /** Begun, and not a call that can run again. */
  isRunning: boolean;
  /** Of execute_code: the calls that its code made. */
  nested: Call[];
};

/** Words of a person, or what came of a child. */
export type Told = { mark: string; text: string; source: 'person' | 'child' | 'agent' };
export type Entry = {
  type: string;
  content: string;
  turnId: string | null;
  at: number;
  isAuto: boolean;
  isInherited: boolean;
  /** Of a step: what it named as still needed. */ keep: readonly string[] | null;
};

/** A request that was answered, the response, and the calls that it made. */
export type Exchange = {
  turnId: string;
  parent: Exchange | null;
  item: Item;
  attempt: number;
  sent: Sent;
  content: ContentBlock[];
  stopReason: string;
  calls: Call[];
  told: Told[];
  /** What people said in earlier attempts; of the first exchange of an attempt. */
  carried: Told[];
  /** The block that was open then; of the first exchange of an attempt. */
  firstBlock: number;
  at: number;
};

export type Sent = { turnId: string; body: string; elisionId: string | null; cut: Cut; shown: Call[] };
/**
 * What the database says of the cuts of a request: facts, not reasons. `kind`: of the newest, elision or the type of a compaction;
 * `isShort`: results of pure calls are shortened.
 */
export type Cut = { kind: string; isPeriodic: boolean; isCompacted: boolean; isFloor: boolean; isShort: boolean };
/** A request that is fixed; held: something still stands between it and the model. */
export type Pending = { sent: Sent; isHeld: boolean; told: Told[]; news: Set<string> };

export type Item = {
  id: string;
  name: string;
  faculty: string;
  /** Under which its attempt runs. */
  policy: Policy;
  /** It asks for a result of its own shape. */
  hasOwnShape: boolean;
  /** Nobody drives it: it is written from outside. */
  isOutside: boolean;
  isFork: boolean;
  parent: Item | null;
  attempt: number;
  focusId: string | null;
  head: Exchange | null;
  /** The newest head of its attempts that are over. */
  last: Exchange | null;
  /** From whose end it goes on, and which goes on from its own. */
  from: Item | null;
  next: Item | null;
  lease: string | null;
  pending: Pending | null;
  /** The response is stored, and the iteration not over. */
  isOpen: boolean;
  isInFlight: boolean;
  inbox: Told[];
  /** What people said in attempts before this one. */
  earlier: Told[];
  /** Numbers of blocks go on from attempt to attempt. */
  firstBlock: number;
  entries: Entry[];
  /** Marks of others' findings that each focus was told in requests that were answered. */
  news: Map<string, Set<string>>;
  /** News of the request that was broken off last: to be told again. */
  unheard: Set<string>;
  end: string | null;
  outcome: string | null;
  /** Of each focus's session. */
  moves: Map<string, number>;
  features: Set<string>;
};

export type Notes = { readonly path: string; lines: string[] | null; version: number; seen: Map<string, number>; done: Set<string> };

export class World {
  readonly items: Item[] = [];
  readonly exchanges: Exchange[] = [];
  /** All requests that were asked for, answered or not. */
  readonly sent = new Map<string, Sent>();
  /** Turns of summaries that were answered. */
  readonly summaries: string[] = [];
  /** Texts of agents that pretend to be the engine's. */
  readonly forged: string[] = [];
  readonly pairs = new Set<string>();
  /** Marks of what a kept session found. */
  readonly newsOfSession = new Set<string>();
  /** Its model refuses thinking when anything before it has changed. */
  bindsThinking = false;
  /** What each faculty says now; an attempt keeps what it began with. */
  readonly policies = new Map<string, Policy>();
  /** Where all of it is; null: of no project. */
  project: string | null = null;
  /** The file of notes that all its items share: what it says (null: it is not there), and which version each item knows. */
  readonly notes: Notes = { path: `/memories/${randomUUID()}.md`, lines: null, version: 0, seen: new Map(), done: new Set() };
  #marks = 0;

  /** A mark that no other text has. */
  mark(kind: string): string {
    return `${kind}${++this.#marks}z`;
  }

  add(given: Pick<Item, 'id' | 'faculty' | 'parent'>): Item {
    const item: Item = {
      ...given,
      policy: this.policies.get(given.faculty) ?? 'every step',
      hasOwnShape: false,
      isOutside: false,
      isFork: false,
      name: String.fromCodePoint(65 + (this.items.length % 26)) + (this.items.length >= 26 ? Math.floor(this.items.length / 26) : ''),
      attempt: 0,
      focusId: null,
      head: null,
      last: null,
      from: null,
      next: null,
      lease: null,
      pending: null,
      isOpen: false,
      isInFlight: false,
      inbox: [],
      earlier: [],
      firstBlock: 1,
      entries: [],
      news: new Map(),
      unheard: new Set(),
      end: null,
      outcome: null,
      moves: new Map(),
      features: new Set(),
    };
    this.items.push(item);
    return item;
  }

  fork(id: string, turn: Exchange, faculty: string): Item {
    const item = this.add({ id, faculty, parent: null });
    item.isFork = true;
    item.hasOwnShape = turn.item.hasOwnShape;
    const { entries } = turn.item;
    const last = entries.findLastIndex((entry) => entry.at <= turn.at || entry.turnId === turn.turnId);
    item.entries = entries.slice(0, last + 1).map((entry) => ({ ...entry, isInherited: true }));
    item.head = item.last = turn;
    item.features = new Set(turn.item.features);
    return item;
  }

  /** A new item that goes on from the end of one that is over. */
  goOn(id: string, from: Item): Item {
    const item = this.add({ id, faculty: from.faculty, parent: null });
    item.isFork = from.last !== null;
    item.hasOwnShape = from.hasOwnShape;
    item.entries = from.entries.map((entry) => ({ ...entry, isInherited: true }));
    item.head = item.last = from.last;
    item.inbox = from.inbox.filter((told) => told.source === 'person');
    item.features = new Set(from.features);
    from.next = item;
    item.from = from;
    return item;
  }

  /** A mark that stands in words which pretend to be the engine's. */
  forge(): string {
    const mark = this.mark('f');
    this.forged.push(mark);
    return mark;
  }

  get open(): Item[] {
    return this.items.filter((item) => item.end === null && !item.isOutside);
  }

  note(item: Item, ...features: string[]): void {
    for (const feature of features) item.features.add(feature);
  }

  /** Two features that met in one place, not only in one conversation. */
  met(one: string, other: string): void {
    this.pairs.add(pairOf(one, other));
  }

  /** What the item was asking was not heard: what it said waits again. */
  abandoned(item: Item): void {
    if (!item.pending) return;
    item.inbox = [...item.pending.told, ...item.inbox];
    item.unheard = new Set([...item.unheard, ...item.pending.news]);
    item.pending = null;
    item.isInFlight = false;
  }

  /** The item has reached a final state; its parent hears of it. */
  ended(item: Item, end: string): void {
    if (item.end !== null) return;
    this.attemptEnded(item);
    item.end = end;
    this.note(item, end);
    if (item.parent && item.parent.end === null) item.parent.inbox.push({ mark: item.id, text: item.id, source: 'child' });
  }

  /** The attempt is over; the next one begins with its first request. */
  attemptEnded(item: Item): void {
    this.abandoned(item);
    for (const call of item.head?.calls ?? []) if (call.isOpen) stop(call);
    item.last = item.head ?? item.last;
    item.earlier = toldIn(item.head, item.earlier);
    item.firstBlock = (blocksOf(item.head).placed.at(-1)?.block ?? item.firstBlock - 1) + 1;
    item.head = null;
    item.focusId = null;
    item.isOpen = false;
    item.lease = null;
    item.unheard = new Set();
  }
}

/** The letter with which the mark of its result begins; null: its result may be anything. */
export const shapeOf = (item: Item): 'o' | 'y' | null => (item.hasOwnShape ? 'o' : item.policy === 'answers with a shape' ? 'y' : null);

/** The engine answered the call in the tool's place. */
export function stop(call: Call): void {
  call.result = 'stopped';
  call.isOpen = call.isWaiting = call.isRunning = false;
}

export const pairOf = (one: string, other: string): string => [one, other].toSorted().join(' × ');

/** The exchanges that led to one, oldest first. */
export function chainOf(head: Exchange | null): Exchange[] {
  const chain: Exchange[] = [];
  for (let one = head; one; one = one.parent) chain.push(one);
  return chain.toReversed();
}

/** All that was told in a conversation, and in the attempts before it. */
export function toldIn(head: Exchange | null, earlier: readonly Told[]): Told[] {
  const chain = chainOf(head);
  return [...(chain[0]?.carried ?? earlier), ...chain.flatMap((one) => one.told)];
}

/** The steps that were recorded with a response. */
export function stepsOf({ item, turnId }: Exchange): Entry[] {
  return item.entries.filter((entry) => entry.type === 'step' && !entry.isInherited && entry.turnId === turnId);
}

export type Placed = { exchange: Exchange; block: number };

/** What the design says of blocks: of each exchange the block that it belongs to, and the one that is open behind them all. */
export function blocksOf(head: Exchange | null): { placed: Placed[]; open: number } {
  const chain = chainOf(head);
  let open = chain[0]?.firstBlock ?? 1;
  const placed = chain.map((exchange) => {
    const hasStep = stepsOf(exchange).length > 0;
    const isRiding = hasStep && exchange.calls.some((call) => !call.isEntry);
    const block = isRiding ? open + 1 : open;
    if (hasStep) open += 1;
    return { exchange, block };
  });
  return { placed, open };
}
