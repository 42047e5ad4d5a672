// The trace of past work: exported from its rows, or drawn in the terminal as a tree with bars.

import type { Settings } from '../config.ts';
import type { FallRow, FallWindow } from '../ledger/answers.ts';
import type { Because } from '../ledger/consoleContext.ts';
import { money } from '../money.ts';
import { isContentWanted } from '../telemetry/traces.ts';
import { fitting, padded } from './cells.ts';
import { idOf, itemIdOf } from './ids.ts';
import { io } from './io.ts';
import { exit, note, paint, print, visible } from './output.ts';
import { withReader } from './withLedger.ts';

export type TraceOptions = Settings & { otlp?: string; because?: string };

export function trace(id: string, options: TraceOptions): Promise<number> {
  return withReader(options, async (db) => {
    const itemId = await itemIdOf(db, id);
    if (options.because !== undefined) {
      idOf(options.because, 'turn');
      const call = await db.console.callWhole(options.because);
      const rows = await db.console.because(call?.turn_id ?? options.because, call ? options.because : null);
      print(rows, rows.map(becauseLine).join('\n'), options.json ?? false);
      return exit.ok;
    }
    if (options.otlp === undefined && options.json !== true) {
      const width = io().stdout.columns ?? 100;
      print(null, drawWaterfall(await db.workWaterfall(itemId), Math.max(60, Math.min(width, 240))).join('\n'), false);
      return exit.ok;
    }
    const spans = await db.workTrace(itemId, isContentWanted());
    if (options.otlp === undefined) {
      print(spans, '', true);
      return exit.ok;
    }
    const sink = await (await import('../telemetry/otlp.ts')).openOtlp(options.otlp);
    await sink.send(spans);
    await sink.close();
    const traces = new Set(spans.map((span) => span.trace_id));
    print({ spans: spans.length, trace_ids: [...traces] }, [...traces].join('\n'), options.json ?? false);
    note(`${spans.length} spans exported`);
    return exit.ok;
  });
}

/** A quote and where in the request it comes from; what else the request contained, and what it no longer contained. */
function becauseLine({ kind, part, says, quote, parts, tokens, turn_id, call_id, work_item_id, entry_seq, person }: Because): string {
  if (kind === 'fork')
    return visible(`${kind.padEnd(6)} from turn ${turn_id}${quote === null ? '' : `, before "${quote.replaceAll(/\s+/g, ' ')}" was said`}`);
  if (kind !== 'quote') return visible(`${kind.padEnd(6)} ${part}: ${parts}, ${tokens} tokens${says === null ? '' : `, ${says}`}`);
  const entry = entry_seq === null ? null : `entry ${entry_seq} of ${work_item_id}`;
  const origin = [part, person, entry, call_id === null ? null : `call ${call_id}`, says].filter((one) => one !== null);
  return visible(`${kind.padEnd(6)} "${(quote ?? '').replaceAll(/\s+/g, ' ')}" (${origin.join(', ')})`);
}

/** The character that fills a bar. */
const fill: Record<FallRow['kind'], string> = {
  item: '─',
  agent: '─',
  queue: '·',
  model: '█',
  tool: '▓',
  hook: '▒',
  child: '╱',
  wait: '╱',
  person: '╱',
};

const took = (seconds: number): string =>
  seconds < 0.1 ? `${Math.round(seconds * 1000)} ms` : seconds < 600 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`;

/** A line for each row: tree, bar, duration and cost; * marks the critical path. A legend and the sums follow. */
export function drawWaterfall({ rows, root, kinds }: FallWindow, width: number): string[] {
  const start = Date.parse(root.started_at);
  const all = Math.max(root.seconds, ...rows.map((row) => (Date.parse(row.started_at) - start) / 1000 + row.seconds), 0.001);
  const names = Math.min(44, Math.floor(width * 0.4));
  const bars = width - names - 2 - 10 - 9;
  const line = (row: FallRow): string => {
    const from = (Date.parse(row.started_at) - start) / 1000;
    const first = Math.min(bars - 1, Math.floor((from / all) * bars));
    const size = Math.max(1, Math.min(bars - first, Math.round((row.seconds / all) * bars)));
    const attempt = (row.attempt ?? 1) > 1 ? ` (attempt ${row.attempt})` : '';
    const name = padded(fitting(`${'  '.repeat(Math.min(row.depth, 10))}${visible(row.name)}${attempt}`, names), names);
    const bar = `${' '.repeat(first)}${fill[row.kind].repeat(size)}`.padEnd(bars);
    const time = `${took(row.seconds)}${row.ended_at === null ? '…' : ''}`.padStart(9);
    const text = `${name} ${bar} ${row.critical_from === null ? ' ' : '*'}${time}${(row.cost === null ? '' : money(row.cost)).padStart(9)}`;
    return row.is_error ? paint('red', text) : text;
  };
  const sums = kinds.filter(({ kind }) => kind !== 'item' && kind !== 'agent').map(({ kind, seconds }) => `${kind} ${took(seconds)}`);
  const critical = kinds.reduce((sum, one) => sum + one.critical, 0);
  return [
    ...rows.map(line),
    '',
    `${root.ended_at === null ? 'so far ' : ''}${took(root.seconds)}: ${sums.join(', ')}; * ${took(critical)} on the critical path`,
    '█ model  ▓ tool  ▒ hook  · queue  ╱ waits for children, other work, people',
  ];
}
