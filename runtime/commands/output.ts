// What the command line prints: data on stdout, everything else on stderr. With --json one document, or one line per event.

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

import type { CountedItem, WorkItem } from '../ledger/answers.ts';
import { visible as shown } from '../visible.ts';
import { fitting } from './cells.ts';
import { io } from './io.ts';
import { second } from './localTime.ts';

/** Exit codes, as listed in docs/commands.md. */
export const exit = { ok: 0, error: 1, usage: 2, workItemFailed: 3, interrupted: 130 } as const;

export function print(data: unknown, text: string, isJson: boolean): void {
  io().stdout.write(isJson ? `${JSON.stringify(data)}\n` : `${text}\n`);
}

export function note(text: string): void {
  io().stderr.write(`${text}\n`);
}

/** Text from a ledger must not control the terminal, nor hide in it: invisible characters are replaced by visible ones. */
export const visible = (text: string): string => shown(text).replaceAll('\t', '    ');

type Color = 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'bold';

/** Colours text on a terminal; respects NO_COLOR and FORCE_COLOR. */
export const paint = (color: Color, text: string, stream: Writable = io().stdout): string => styleText(color, text, { stream });

export const stateColor = (state: string): Color =>
  ({ running: 'cyan', claimed: 'cyan', waiting: 'yellow', paused: 'yellow', completed: 'green', failed: 'red', dead: 'red' } as const)[
    state
  ] ?? 'dim';

const entryColor: Record<string, Color> = { error: 'red', finding: 'green', decision: 'green', plan: 'cyan', step: 'cyan' };

/** A ledger entry; without a number if its position is clear. */
export function entryLine(
  entry: { seq: number | null; entry_type: string; content: string; retracts?: number | null },
  stream: Writable = io().stdout,
): string {
  const head = `${entry.seq === null ? '' : `[${entry.seq}] `}${entry.entry_type}${entry.retracts ? ` of [${entry.retracts}]` : ''}:`;
  return `${paint(entryColor[entry.entry_type] ?? 'bold', head, stream)} ${visible(entry.content).replaceAll('\n', '\n    ')}`;
}

/** Cut after a whole word, unless the last one is long. */
export function cutWords(text: string, width: number): string {
  if (text.length <= width) return text;
  const space = text.lastIndexOf(' ', width - 2);
  return space < width - 30 ? fitting(text, width) : `${text.slice(0, space)} …`;
}

/** "45s", "12m", "3h", "2d". */
export function span(seconds: number): string {
  const [n, unit] =
    seconds < 90
      ? [seconds, 's']
      : seconds < 5400
        ? [seconds / 60, 'm']
        : seconds < 129_600
          ? [seconds / 3600, 'h']
          : [seconds / 86_400, 'd'];
  return `${Math.max(0, Math.round(n))}${unit}`;
}

/** A call's JSON input on one line, as people would type it; if the input is cut or incomplete, its beginning. */
export function argumentsText(input: string): string {
  const short = (value: unknown): string =>
    visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/\s*\n\s*/g, ' ⏎ ');
  let given: unknown;
  try {
    given = JSON.parse(input);
  } catch {
    const text = /^\{\s*"[^"]*":\s*"((?:[^"\\]|\\(?:u[0-9a-f]{4}|[^u]))*)/i.exec(input.replace(/…$/, ''))?.[1];
    return text === undefined ? cutWords(short(input), 160) : cutWords(`${short(JSON.parse(`"${text}"`))} …`, 160);
  }
  if (typeof given !== 'object' || given === null) return cutWords(short(given), 160);
  const [first, ...others] = Object.entries(given);
  return cutWords(
    [...(first ? [short(first[1])] : []), ...others.map(([key, value]) => `${key}=${cutWords(short(value), 60)}`)].join('  '),
    160,
  );
}

/** How a call ended. */
export function outcomeText(status: string, seconds: number | null, stream: Writable = io().stdout): string {
  const took = seconds === null || seconds < 0.1 ? '' : ` (${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s)`;
  return paint(
    status === 'completed' ? 'dim' : status === 'failed' || status === 'uncertain' ? 'red' : 'yellow',
    `→ ${status === 'completed' ? 'done' : status}${took}`,
    stream,
  );
}

/** A call that has ended, in the form that every command prints. */
export function callText(
  { name, input, status, seconds, error }: { name: string; input: string; status: string; seconds: number | null; error: string | null },
  stream: Writable = io().stdout,
): string {
  const why = error === null ? '' : `: ${cutWords(visible(error).trim().replaceAll(/\s+/g, ' '), 200)}`;
  return `${name} ${argumentsText(input)} ${outcomeText(status, seconds, stream)}${why}`;
}

/** The prefix that every command prints before a message of a person or another agent. */
export const toldBy = (by: string | null, name: string | null): string =>
  by === 'agent'
    ? `told by ${name === null ? 'another agent' : `work item ${name}`}`
    : `told${name === null ? '' : ` by ${visible(name)}`}`;

/** 1234 as "1.2k". */
export function tokensText(n: number): string {
  const size = Math.abs(n);
  if (size >= 999_950) return `${(n / 1_000_000).toFixed(1)}M`;
  return size >= 1000 ? `${(n / 1000).toFixed(1)}k` : String(Math.round(n));
}

export function itemLine(item: WorkItem): string {
  const reason = item.state_reason ? ` (${visible(item.state_reason)})` : '';
  return `${item.id}  ${item.state.padEnd(9)}  ${item.work_type}: ${visible(item.description).split('\n')[0]}${reason}`;
}

/** `why` it waits takes precedence over the reason in its state. */
export function itemText(item: CountedItem, why: string | null = null): string {
  const reason = why ?? item.state_reason;
  const summary = item.outcome_data?.['summary'] ?? item.outcome_data?.['error'];
  return [
    item.id,
    `  state      ${paint(stateColor(item.state), item.state)}${reason ? ` (${visible(reason)})` : ''}`,
    `  type       ${item.work_type}`,
    `  work       ${visible(item.description).replaceAll('\n', '\n             ')}`,
    `  attempts   ${item.attempts}`,
    `  entries    ${item.ledger_count}`,
    ...(item.continues_id ? [`  goes on    from the end of ${item.continues_id}`] : []),
    ...(item.next_id ? [`  went on    as ${item.next_id}`] : []),
    `  created    ${second(item.created_at)}`,
    ...(item.resolved_at ? [`  resolved   ${second(item.resolved_at)}`] : []),
    ...(item.erased_at ? [`  erased     ${second(item.erased_at)}`] : []),
    ...(typeof summary === 'string' ? [`  outcome    ${visible(summary).replaceAll('\n', '\n             ')}`] : []),
  ].join('\n');
}

/** One line that is overwritten repeatedly, on a terminal only. */
export class StatusLine {
  readonly #stream = io().stderr;
  readonly #isOn = io().stderr.isTTY && !process.env['CI'] && process.env['TERM'] !== 'dumb';
  #shown = false;
  #step = '';

  show(text: string): void {
    if (!this.#isOn) return;
    const width = Math.max(20, (this.#stream.columns ?? 80) - 1);
    // A line that wrapped would leave its upper part behind when it is overwritten.
    this.#stream.write(`\r\u001b[2K${fitting(visible(text).replaceAll('\n', ' '), width)}`);
    this.#shown = true;
  }

  /** Shows "STEP: progress"; if not on a terminal, prints each step only once, when it begins. */
  step(text: string): void {
    const [step = ''] = text.split(':');
    if (!this.#isOn && step !== this.#step) note(text);
    this.#step = step;
    this.show(text);
  }

  clear(): void {
    if (this.#shown) this.#stream.write('\r\u001b[2K');
    this.#shown = false;
  }
}
