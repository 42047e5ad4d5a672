// A command in a terminal of its own (`script` of Debian's bsdutils makes one), and what is on its screen.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { until } from './workerProcess.ts';

export type Terminal = {
  /** The lines that are on it, without blanks at their ends. */
  screen(): string[];
  /** Characters that were written behind the last column since the screen was cleared. */
  beyond(): number;
  type(keys: string): void;
  resize(columns: number, rows: number): Promise<void>;
  /** What `stty -a` says now. */
  settings(): Promise<string>;
  /** Sends a signal to the command. */
  signal(name: NodeJS.Signals): void;
  /** What stands there when it is over: the exit code, what `stty -a` says before and after it, and all that was written. */
  ended: Promise<{ code: number; before: string; after: string; written: string }>;
};

/** `words`: program and arguments. */
export async function inTerminal(
  words: readonly string[],
  size: { columns: number; rows: number },
  env: NodeJS.ProcessEnv,
): Promise<Terminal> {
  const directory = mkdtempSync(join(tmpdir(), 'terminal-test-'));
  const at = (name: string): string => join(directory, name);
  const read = (name: string): string => readFileSync(at(name), 'utf8').trim();
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const shell = [
    `stty cols ${size.columns} rows ${size.rows}`,
    `tty > ${at('tty')}`,
    `stty -a > ${at('before')}`,
    `sh -c 'echo $$ > ${at('pid')}; exec "$@"' sh ${quoted}`,
    `echo $? > ${at('code')}`,
    `stty -a > ${at('after')}`,
  ].join('; ');
  const child = spawn('script', ['-qfc', shell, '/dev/null'], {
    env: { TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const drawn = new Drawn(size);
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    drawn.write(text);
  });
  const ended = once(child, 'exit').then(() => {
    const over = { code: Number(read('code')), before: read('before'), after: read('after'), written };
    rmSync(directory, { recursive: true });
    return over;
  });
  const tty = await until(() => {
    try {
      return read('pid') && read('tty');
    } catch {
      return null;
    }
  });
  const pid = Number(read('pid'));
  return {
    screen: () => drawn.lines(),
    beyond: () => drawn.beyond,
    type: (keys) => void child.stdin.write(keys),
    async resize(columns, rows) {
      drawn.resize({ columns, rows });
      await promisify(execFile)('stty', ['-F', tty, 'cols', String(columns), 'rows', String(rows)]);
    },
    settings: async () => (await promisify(execFile)('stty', ['-F', tty, '-a'])).stdout,
    signal: (name) => void process.kill(pid, name),
    ended,
  };
}

/* oxlint-disable no-control-regex -- what a terminal is sent */
/** As much of a terminal as `top` uses: places, clearing, cells of one or two columns. */
class Drawn {
  #size: { columns: number; rows: number };
  #cells: string[][] = [];
  #row = 0;
  #column = 0;
  #rest = '';
  beyond = 0;

  constructor(size: { columns: number; rows: number }) {
    this.#size = size;
    this.#clear();
  }

  resize(size: { columns: number; rows: number }): void {
    this.#size = size;
    this.#clear();
  }

  lines(): string[] {
    return this.#cells.map((row) => row.join('').trimEnd());
  }

  write(text: string): void {
    const given = this.#rest + text;
    this.#rest = /\u001b(?:\[[\d;?]*)?$/.exec(given)?.[0] ?? '';
    const whole = given.slice(0, given.length - this.#rest.length);
    for (const [part] of whole.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[\s\S]/gu)) this.#take(part);
  }

  #take(part: string): void {
    const [, digits = '', letter] = /^\u001b\[([\d;?]*)([A-Za-z])$/.exec(part) ?? [];
    if (letter === 'H') [this.#row = 0, this.#column = 0] = digits.split(';').map((n) => Number(n) - 1);
    else if (letter === 'K') this.#cells[this.#row]?.fill(' ', this.#column);
    else if (letter === 'J') this.#clear();
    else if (letter !== undefined) return;
    else if (part === '\r') this.#column = 0;
    else if (part === '\n') this.#row++;
    else if (part >= ' ') this.#put(part);
  }

  #put(character: string): void {
    const row = this.#cells[this.#row];
    if (!row) return;
    const size = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7ff\uff00-\uff60]/u.test(character) ? 2 : 1;
    if (this.#column + size > this.#size.columns) this.beyond++;
    else row.splice(this.#column, size, ...[character, ''].slice(0, size));
    this.#column += size;
  }

  #clear(): void {
    this.beyond = 0;
    this.#cells = Array.from({ length: this.#size.rows }, () => Array.from({ length: this.#size.columns }, () => ' '));
  }
}
