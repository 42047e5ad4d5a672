// What the CLI prints: data on stdout, everything else on stderr. With --json one document, or one line per event.

import type { ActivityEvent } from '../ledger/activity.ts';
import type { LedgerEntry, WorkItem } from '../ledger/answers.ts';

/** Exit codes, as documented in the README. */
export const exit = { ok: 0, error: 1, usage: 2, workItemFailed: 3, interrupted: 130 } as const;

export function print(data: unknown, text: string, isJson: boolean): void {
  process.stdout.write(isJson ? `${JSON.stringify(data)}\n` : `${text}\n`);
}

export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Text from a ledger must not control the terminal: escapes and other control characters become visible. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, (c) => (c === '\t' ? '    ' : '␀'));
}

export const entryLine = (entry: LedgerEntry): string =>
  `[${entry.seq}] ${entry.entry_type}: ${visible(entry.content).replaceAll('\n', '\n    ')}`;

export function itemLine(item: WorkItem): string {
  const reason = item.state_reason ? ` (${visible(item.state_reason)})` : '';
  return `${item.id}  ${item.state.padEnd(9)}  ${item.work_type}: ${visible(item.description).split('\n')[0]}${reason}`;
}

export function itemText(item: WorkItem): string {
  const summary = item.outcome_data?.['summary'] ?? item.outcome_data?.['error'];
  return [
    item.id,
    `  state      ${item.state}${item.state_reason ? ` (${visible(item.state_reason)})` : ''}`,
    `  type       ${item.work_type}`,
    `  work       ${visible(item.description).replaceAll('\n', '\n             ')}`,
    `  attempts   ${item.attempts}`,
    `  entries    ${item.ledger_count}`,
    `  created    ${item.created_at}`,
    ...(item.resolved_at ? [`  resolved   ${item.resolved_at}`] : []),
    ...(typeof summary === 'string' ? [`  outcome    ${visible(summary).replaceAll('\n', '\n             ')}`] : []),
  ].join('\n');
}

/** One line that is overwritten again and again, on a terminal only. */
export class StatusLine {
  readonly #stream = process.stderr;
  readonly #isOn = process.stderr.isTTY && !process.env['CI'];
  #shown = false;

  show(text: string): void {
    if (!this.#isOn) return;
    const width = Math.max(20, (this.#stream.columns ?? 80) - 1);
    const line = visible(text).replaceAll('\n', ' ');
    this.#stream.write(`\r\u001b[2K${line.length > width ? `${line.slice(0, width - 1)}…` : line}`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#stream.write('\r\u001b[2K');
    this.#shown = false;
  }
}

/** What an agent does, as it happens: its words grow on a line of their own, each call and its end get one. */
export class Words {
  #open = '';

  show(event: ActivityEvent): void {
    const turn = event.iteration === null ? 'a summary' : `turn ${event.iteration}`;
    switch (event.kind) {
      case 'thinking':
      case 'said': {
        const head = `${turn} ${event.kind === 'said' ? 'says' : 'thinks'}: `;
        if (this.#open !== head) this.end();
        process.stdout.write((this.#open === head ? '' : head) + visible(event.text).replaceAll('\n', '\n    '));
        this.#open = head;
        break;
      }
      case 'broken_off':
        this.end();
        process.stdout.write(`${turn}: the response broke off\n`);
        break;
      case 'call':
        this.end();
        process.stdout.write(event.status === 'running' ? `${turn} calls ${event.name} ${visible(event.input)}\n` : `${turn}: ${event.name} ${event.status}\n`);
        break;
    }
  }

  /** Before anything else is printed. */
  end(): void {
    if (this.#open !== '') process.stdout.write('\n');
    this.#open = '';
  }
}
