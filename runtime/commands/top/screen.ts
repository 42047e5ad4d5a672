// A terminal that one program has for itself: it is drawn line by line, and is as it was when the program is over, however that ends.

import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

const ESC = '\u001b[';
/** The other screen, no cursor, no lines that break by themselves, pastes between marks. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}?2004h${ESC}2J`;
const LEAVE = `${ESC}?2004l${ESC}?7h${ESC}?25h${ESC}?1049l`;

/** name: as readline calls it, such as return, escape, up; text: what it writes, null: nothing. */
export type Key = { name: string; text: string | null; isControl: boolean };
type Pressed = { name?: string; sequence?: string; ctrl?: boolean; meta?: boolean };

export class Screen {
  readonly #in: ReadStream;
  readonly #out: WriteStream;
  readonly #onKey: (key: Key) => void;
  #drawn: string[] = [];
  #size = '';
  #isOpen = false;
  #isPaste = false;

  /** `onKey`: what is pressed; of what is pasted only text arrives, as the key `paste`. */
  constructor(input: ReadStream, output: WriteStream, onKey: (key: Key) => void) {
    this.#in = input;
    this.#out = output;
    this.#onKey = onKey;
    emitKeypressEvents(input);
  }

  get width(): number {
    return this.#out.columns;
  }

  get height(): number {
    return this.#out.rows;
  }

  open(): void {
    this.#isOpen = true;
    this.#in.setRawMode(true);
    this.#in.on('keypress', this.#pressed).resume();
    process.on('exit', this.close);
    this.#out.write(ENTER);
    this.#drawn = [];
  }

  /** Gives the terminal back; nothing where that is done. */
  readonly close = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.removeListener('exit', this.close);
    this.#in.off('keypress', this.#pressed).pause();
    this.#in.setRawMode(false);
    this.#out.write(LEAVE);
  };

  /** Writes the lines that are not there yet. None may be wider than the screen. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const size = `${this.width} ${this.height}`;
    const isNew = size !== this.#size;
    if (isNew) this.#drawn = [];
    this.#size = size;
    const shown = Array.from({ length: this.height }, (_, i) => lines[i] ?? '');
    const changed = shown.flatMap((line, i) => (this.#drawn[i] === line ? [] : [`${ESC}${i + 1};1H${line}${ESC}0m${ESC}K`]));
    if (changed.length > 0) this.#out.write((isNew ? `${ESC}2J` : '') + changed.join(''));
    this.#drawn = shown;
  }

  readonly #pressed = (text: string | undefined, { name = '', sequence, ctrl = false, meta = false }: Pressed): void => {
    if (name === 'paste-start' || name === 'paste-end') this.#isPaste = name === 'paste-start';
    else if (this.#isPaste) this.#onKey({ name: 'paste', text: text ?? sequence ?? '', isControl: false });
    else
      this.#onKey({
        name: name || (text ?? ''),
        text: ctrl || meta || !text || text < ' ' || text === '\u007f' ? null : text,
        isControl: ctrl,
      });
  };
}
