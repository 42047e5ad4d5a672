// What an agent does, as it happens, in lines: each begins with its time and ends with a whole word.

import { stripVTControlCharacters } from 'node:util';

import type { ActivityEvent } from '../ledger/activity.ts';
import type { LedgerEntry } from '../ledger/answers.ts';
import { money } from '../money.ts';
import { widthOf } from './cells.ts';
import { io } from './io.ts';
import type { Output } from './io.ts';
import { clock } from './localTime.ts';
import { callText, entryLine, paint, toldBy, tokensText, visible } from './output.ts';

/** To align with the text after the time. */
const INDENT = ' '.repeat(10);
/** A longer word is written as it arrives. */
const LONGEST = 60;

/** A line that grows by whole words; on a terminal, no word is broken at its edge. */
export class GrowingLine {
  readonly #out: Output;
  #column = 0;
  #blanks = '';
  #held = '';

  constructor(out: Output) {
    this.#out = out;
  }

  begin(head: string): void {
    this.#out.write(head);
    this.#column = this.#width(head);
  }

  more(text: string): void {
    const pieces = `${this.#held}${text}`.match(/\n| +|[^ \n]+/g) ?? [];
    const last = pieces.at(-1) ?? ' ';
    this.#held = last.length > LONGEST || /[ \n]/.test(last) ? '' : (pieces.pop() ?? '');
    for (const piece of pieces) this.#put(piece);
  }

  end(): void {
    if (this.#held !== '') this.#put(this.#held);
    this.#held = this.#blanks = '';
    this.#out.write('\n');
  }

  #put(piece: string): void {
    if (piece.startsWith(' ')) {
      this.#blanks += piece;
      return;
    }
    const edge = this.#out.isTTY ? (this.#out.columns ?? 80) : Infinity;
    const room = this.#column + this.#blanks.length + this.#width(piece);
    if (piece === '\n' || (room > edge && this.#column > INDENT.length)) {
      this.#out.write(`\n${INDENT}`);
      this.#column = INDENT.length;
      this.#blanks = '';
      if (piece === '\n') return;
    }
    this.#out.write(this.#blanks + piece);
    this.#column += this.#blanks.length + this.#width(piece);
    this.#blanks = '';
  }

  #width = (text: string): number => widthOf(stripVTControlCharacters(text));
}

/**
 * The agent's text grows on its own line, which ends with the cost of the response. A message, an entry and a call that has ended get a
 * line each.
 */
export class Words {
  readonly #line = new GrowingLine(io().stdout);
  /** The turn whose text is growing, and whether it is thinking or speech. */
  #open = '';

  /** Whether a line has begun that may still grow. */
  get isOpen(): boolean {
    return this.#open !== '';
  }

  entry(entry: LedgerEntry): void {
    this.#whole(entry.created_at, entryLine(entry));
  }

  show(event: ActivityEvent): void {
    const turn = event.iteration === null ? 'a summary' : `turn ${event.iteration}`;
    switch (event.kind) {
      case 'told':
        return this.#whole(event.at, `${toldBy(event.by, event.name)}: ${visible(event.text)}`);
      case 'thinking':
      case 'said': {
        const key = `${event.turn_id} ${event.kind}`;
        if (this.#open !== key) {
          this.end();
          this.#line.begin(`${timeOf(event.at)}${turn} ${event.kind === 'said' ? 'says' : 'thinks'}: `);
        }
        this.#line.more(visible(event.text));
        this.#open = key;
        break;
      }
      case 'answered': {
        if (event.input_tokens + event.output_tokens === 0) return; // the tokens were not counted
        const used = usedText(event);
        if (this.#open.startsWith(event.turn_id)) this.#line.more(` ${paint('dim', `(${used})`)}`);
        else this.#whole(event.at, paint('dim', `${turn}: ${used}`));
        return this.end();
      }
      case 'broken_off':
        return this.#whole(event.at, `${turn}: the response broke off`);
      case 'call':
        // Until a call has ended, the status line shows it; an entry appears as an entry.
        if (['running', 'waiting'].includes(event.status) || event.name === 'ledger_append') return;
        return this.#whole(event.at, `${event.parent_call_id === null ? '' : '  '}${callText(event)}`);
    }
  }

  /** Called before anything else is printed. */
  end(): void {
    if (this.isOpen) this.#line.end();
    this.#open = '';
  }

  #whole(at: string | null, text: string): void {
    this.end();
    this.#line.begin(timeOf(at));
    this.#line.more(text);
    this.#line.end();
  }
}

const timeOf = (at: string | null): string => `${paint('dim', at === null ? '        ' : clock(at))}  `;

const usedText = ({ input_tokens: read, output_tokens: wrote, cost }: Extract<ActivityEvent, { kind: 'answered' }>): string =>
  `${tokensText(read)} tokens in, ${tokensText(wrote)} out${cost === null ? '' : `, cost ${money(cost)}`}`;
