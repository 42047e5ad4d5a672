// A terminal in full-screen use: it is drawn line by line, and restored when the program ends, however it ends.

import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

const ESC = '\u001b[';
/** Alternate screen, no cursor, no automatic line wrap, bracketed paste. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}?2004h${ESC}2J`;
const LEAVE = `${ESC}?2004l${ESC}?7h${ESC}?25h${ESC}?1049l`;

/** name: readline's name, such as return, escape, up; text: the characters it types, null: none. */
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

  /** `onKey`: called for each key press; pasted text arrives as the key `paste` and never acts as a key. */
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

  /** Restores the terminal; does nothing if that was done. */
  readonly close = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.removeListener('exit', this.close);
    this.#in.off('keypress', this.#pressed).pause();
    this.#in.setRawMode(false);
    this.#out.write(LEAVE);
  };

  /** Writes the lines that have changed. None may be wider than the screen. */
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
