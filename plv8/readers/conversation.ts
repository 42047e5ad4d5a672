// The readers of most formats report here what they read, record by record; this builds recorded runs from it, whole or in parts.

import { field, imageOf, inOrder, stringOf, timeOf } from './reading.ts';
import type { RecordedCall, RecordedExchange, RecordedImage, RecordedRun, RecordReader, Told } from './reading.ts';

/** What identifies an exchange. */
export type Place = Pick<RecordedExchange, 'id' | 'responseId'>;

/** Collects what a reader reports about one conversation, in file order; take() turns it into a RecordedRun. */
export class Conversation {
  model: string | null = null;
  system = '';
  outcome: string | null = null;
  sessionId: string | undefined;
  parentSessionId: string | undefined;
  cwd: string | undefined;
  /** The number of the line being read. */
  line = 0;
  /** The usage of the newest exchange is still to come. Until then peek() leaves the exchange out, unless nothing more follows. */
  isUncounted = false;
  readonly #format: RecordedRun['format'];
  readonly #skipped = new Map<string, { count: number; line: number }>();
  #raw: NonNullable<RecordedRun['raw']> = [];
  readonly #prompt: Told[] = [];
  #task: string | undefined;
  /** The exchanges that have not been taken yet, and the number of those taken. */
  #exchanges: RecordedExchange[] = [];
  #taken = 0;
  #lastTaken: RecordedExchange | undefined;
  /** By response id; null: already taken, with its calls. */
  readonly #byId = new Map<string, RecordedExchange | null>();
  /** By id, which providers may use more than once; empty: all have been taken. */
  readonly #calls = new Map<string, { call: RecordedCall; exchange: RecordedExchange }[]>();
  readonly #tools = new Set<string>();
  #summary: string | undefined;
  /** Images of the content that was read last; they are added to the next message or result. */
  #images: RecordedImage[] = [];
  #branch: { after: Place | null; said: Told[] } | undefined;

  constructor(format: RecordedRun['format']) {
    this.#format = format;
  }

  /** The number of exchanges so far. */
  get count(): number {
    return this.#taken + this.#exchanges.length;
  }

  /** The exchange that the next one continues; null before the first. */
  get last(): Place | null {
    if (this.#branch) return this.#branch.after;
    const exchange = this.#exchanges.at(-1) ?? this.#lastTaken;
    return exchange === undefined
      ? null
      : {
          ...(exchange.id !== undefined && { id: exchange.id }),
          ...(exchange.responseId !== undefined && { responseId: exchange.responseId }),
        };
  }

  /** The exchange of a response; created if it is new. */
  exchange(responseId: string | null): RecordedExchange {
    const known = responseId === null ? undefined : this.#byId.get(responseId);
    if (known) return known;
    const exchange: RecordedExchange = { text: '', calls: [], usage: null };
    if (known === null) {
      this.skip('part of a response that came too late');
      return exchange;
    }
    if (this.#summary !== undefined) exchange.compactSummary = this.#summary;
    if (this.#branch !== undefined) {
      exchange.after = this.#branch.after?.id ?? '';
      if (this.#branch.after?.responseId !== undefined) exchange.afterResponse = this.#branch.after.responseId;
      exchange.said = textOfAll(this.#branch.said);
      if (isInParts(this.#branch.said)) exchange.saidParts = this.#branch.said;
    }
    this.#summary = this.#branch = undefined;
    this.#exchanges.push(exchange);
    if (responseId !== null) {
      this.#byId.set(responseId, exchange);
      exchange.responseId = responseId.slice(0, 200);
    }
    return exchange;
  }

  /** The newest exchange. */
  current(): RecordedExchange {
    return this.#exchanges.at(-1) ?? this.exchange(null);
  }

  /**
   * Adds a call to an exchange (default: the newest). Some providers start numbering again in each response, so an id alone identifies
   * nothing: a call counts as a copy only if the same exchange has the same call already and the records have no ids (`record`; a repeated
   * record is never read).
   */
  call(id: string | null, call: RecordedCall, exchange = this.current(), record: string | null = null): void {
    const known = id === null ? [] : (this.#calls.get(id) ?? []);
    const isCopy = (one: (typeof known)[number]): boolean =>
      record === null &&
      one.exchange === exchange &&
      one.call.name === call.name &&
      JSON.stringify(one.call.input) === JSON.stringify(call.input);
    if (known.some(isCopy)) return this.skip('repeated call', call);
    exchange.calls.push(call);
    this.#tools.add(call.name);
    if (id === null) return;
    this.#calls.set(id, [...known, { call, exchange }]);
    call.id = id;
  }

  /** Sets the result of a call; if there are several, the first counts. */
  result(id: string | null, text: string, isError: boolean): RecordedCall | undefined {
    const calls = id === null ? undefined : this.#calls.get(id);
    // If several calls have this id: the first unanswered one in the newest response.
    const open = calls?.filter((one) => one.call.result === null) ?? [];
    const call = (open.find(({ exchange }) => exchange === open.at(-1)?.exchange) ?? calls?.at(-1))?.call;
    const images = this.#images.splice(0);
    if (!call) {
      this.skip(calls ? 'result that came too late' : 'result without its call', {
        id,
        text,
        ...(images.length > 0 && { images }),
      });
      const last = this.#exchanges.at(-1);
      if (last && id !== null) (last.results ??= []).push({ id, result: text, isError, ...(images.length > 0 && { images }) });
    } else if (call.result !== null) this.skip('second result of a call', { id, text, ...(images.length > 0 && { images }) });
    else Object.assign(call, { result: text, isError, ...(images.length > 0 && { images }) });
    return call;
  }

  /** The calls without a result. */
  openCalls(): RecordedCall[] {
    return this.#exchanges.flatMap(({ calls }) => calls).filter((call) => call.result === null);
  }

  /** The context was compacted: `summary` replaces everything before the next exchange. */
  compacted(summary: string): void {
    if (this.count > 0) this.#summary = summary;
    else this.said(summary, true); // the file begins after the compaction
  }

  /** Adds what the model thought before it answered. Thinking without a signature cannot be sent back. */
  thought(exchange: RecordedExchange, thinking: string, signature = ''): void {
    (exchange.thinking ??= []).push({ thinking, signature });
    if (signature === '' && thinking !== '') this.skip('thinking without a signature', { thinking });
  }

  /** Keeps an image of the content being read; false if it is not one that a model can be shown again. */
  image(block: unknown): boolean {
    const image = imageOf(block);
    if (image !== null) this.#images.push(image);
    return image !== null;
  }

  /** Content as text: a string, or the texts of its blocks. Images are added to the next message or result; other blocks are left out. */
  textOf(content: unknown, between = '\n'): string {
    if (typeof content === 'string') return content;
    if (!Array.isArray(content)) return '';
    return content
      .flatMap((block: unknown) => {
        const text = stringOf(field(block, 'text'));
        if (text === null && !this.image(block)) this.skip(`content block of type ${stringOf(field(block, 'type')) ?? 'unknown'}`, block);
        return text ?? [];
      })
      .join(between);
  }

  /** Someone went back: what follows continues that exchange (null: the beginning) instead of the newest. */
  goBackTo(place: Place | null): void {
    this.#branch = { after: place, said: [] };
    this.#summary = undefined;
  }

  /** Adds what the model was told, by a human or by the harness. */
  said(text: string, isByHarness = false): void {
    const images = this.#images.splice(0);
    if (text.trim() === '' && images.length === 0) return;
    if (!isByHarness && text.trim() !== '') this.#task ??= text;
    const told: Told = { text, ...(isByHarness && { isByHarness }), ...(images.length > 0 && { images }) };
    const last = this.#exchanges.at(-1);
    if (this.#branch) add(this.#branch.said, told);
    else if (!last) add(this.#prompt, told);
    else {
      const parts =
        last.followUpParts ??
        (last.followUp === undefined ? [] : [{ text: last.followUp, ...(last.isFollowUpByHarness && { isByHarness: true as const }) }]);
      add(parts, told);
      last.followUp = textOfAll(parts);
      if (isInParts(parts)) last.followUpParts = parts;
      delete last.isFollowUpByHarness;
      if (parts.every((part) => part.isByHarness)) last.isFollowUpByHarness = true;
    }
  }

  /** Sets the usage of the newest exchange unless it has one already. */
  usage(usage: NonNullable<RecordedExchange['usage']>): void {
    const last = this.#exchanges.at(-1);
    if (last && last.usage === null) last.usage = usage;
  }

  /** Counts something that is not part of the exchanges; its content, if given, is kept verbatim. */
  skip(reason: string, content?: unknown): void {
    const skipped = this.#skipped.get(reason);
    if (skipped) skipped.count++;
    else this.#skipped.set(reason, { count: 1, line: this.line });
    if (content !== undefined)
      this.#raw.push({ line: this.line, reason, content: typeof content === 'string' ? content : JSON.stringify(content) });
  }

  /** Keeps a line of the file verbatim. */
  keep(reason: string, text: string, line: number): void {
    this.line = line;
    this.skip(reason, text);
  }

  /** A time from the record; null if it is not a plausible one. */
  time(value: unknown): string | null {
    const time = timeOf(value);
    if (time === null && value !== undefined && value !== null) this.skip('time that cannot be', { time: value });
    return time;
  }

  /** Called for an implausible token count. */
  readonly wrongCount = (count: unknown): void => this.skip('count of tokens that cannot be', { count });

  /** A reader for a file that holds only this conversation. */
  reader(read: (record: unknown) => void): RecordReader {
    return {
      read: (record, line) => {
        this.line = line;
        read(record);
      },
      keep: (reason, text, line) => this.keep(reason, text, line),
      take: (isEnd) => this.takeWhole(isEnd),
      peek: (isEnd) => [this.peek(isEnd) ?? []].flat(),
      isWaiting: () => this.openCalls().length > 0,
    };
  }

  /** take() for a file that holds only this conversation. Throws if there is no model call by the end. */
  takeWhole(isEnd: boolean): RecordedRun[] {
    if (isEnd && this.count === 0) {
      const [[left, { line }] = [null, { line: 0 }]] = this.#skipped;
      throw new Error(
        `the recorded ${this.#format} run has no model call${left === null ? '' : `; left out: ${left}${line > 0 ? ` (line ${line})` : ''}`}`,
      );
    }
    const run = this.take(isEnd);
    return run === null ? [] : [run];
  }

  /** What was read since the last call; null: nothing. The newest exchange, and recent ones that wait for results, stay until the end. */
  take(isEnd: boolean): RecordedRun | null {
    const open = this.#exchanges.slice(-100).findIndex(({ calls }) => calls.some(({ result }) => result === null));
    const length = this.#exchanges.length;
    const taken = this.#exchanges.splice(
      0,
      isEnd ? length : Math.max(0, open === -1 ? length - 1 : Math.min(length - 1, Math.max(0, length - 100) + open)),
    );
    if (taken.length === 0 && this.#raw.length === 0 && !isEnd) return null;
    const run = this.#runOf(taken, isEnd);
    this.#taken += taken.length;
    this.#lastTaken = taken.at(-1) ?? this.#lastTaken;
    this.#raw = [];
    const gone = new Set(taken);
    for (const { calls } of taken)
      for (const { id } of calls)
        if (id !== undefined)
          this.#calls.set(
            id,
            (this.#calls.get(id) ?? []).filter(({ exchange }) => !gone.has(exchange)),
          );
    for (const [id, exchange] of this.#byId) if (exchange && gone.has(exchange)) this.#byId.set(id, null);
    return run;
  }

  /** What is waiting to be taken, in its current state; it may still grow. Null if there is nothing, not even a prompt. */
  peek(isEnd = false): RecordedRun | null {
    const waiting = !isEnd && this.isUncounted && this.#exchanges.at(-1)?.usage === null ? this.#exchanges.slice(0, -1) : this.#exchanges;
    return waiting.length === 0 && (this.#taken > 0 || this.#prompt.length === 0) ? null : this.#runOf(waiting, true);
  }

  #runOf(exchanges: RecordedExchange[], isEnd: boolean): RecordedRun {
    const first = this.#taken;
    const before = this.#lastTaken;
    const told = first === 0 ? this.#prompt : before?.followUpParts;
    return {
      format: this.#format,
      model: this.model,
      system: this.system,
      prompt: first === 0 ? textOfAll(this.#prompt) : (before?.followUp ?? ''),
      ...((first === 0 ? this.#prompt.length > 0 && this.#prompt.every((part) => part.isByHarness) : before?.isFollowUpByHarness) && {
        isPromptByHarness: true,
      }),
      ...(told !== undefined && isInParts(told) && { promptParts: told }),
      ...(first === 0 && this.#task !== undefined && this.#task !== this.#prompt[0]?.text && { task: this.#task }),
      exchanges,
      tools: inOrder(this.#tools),
      ...(first > 0 && { first }),
      ...(before?.id !== undefined && { firstAfter: before.id }),
      ...(before?.responseId !== undefined && { firstAfterResponse: before.responseId }),
      ...(!isEnd && { isPart: true }),
      outcome: this.outcome,
      ...(this.sessionId !== undefined && { sessionId: this.sessionId }),
      ...(this.parentSessionId !== undefined && { parentSessionId: this.parentSessionId }),
      ...(this.cwd !== undefined && { cwd: this.cwd }),
      skipped: [...this.#skipped].map(([reason, { count, line }]) => ({ reason, count, ...(line > 0 && { line }) })),
      ...(this.#raw.length > 0 && { raw: this.#raw }),
    };
  }
}

/** The most separate messages between two answers; further ones are joined. */
const MAX_PARTS = 500;

/** Adds a message: consecutive texts of the harness become one message, those of humans stay separate. */
function add(parts: Told[], told: Told): void {
  const last = parts.at(-1);
  if (last && ((last.isByHarness && told.isByHarness) || parts.length >= MAX_PARTS)) {
    last.text = `${last.text}\n\n${told.text}`;
    if (!told.isByHarness) delete last.isByHarness;
    if (told.images) last.images = [...(last.images ?? []), ...told.images];
  } else parts.push(told);
}

const isInParts = (parts: readonly Told[]): boolean => parts.length > 1 || parts.some(({ images }) => images !== undefined);

function textOfAll(parts: readonly Told[]): string {
  return parts.map(({ text }) => text).join('\n\n');
}
