// Whether a session that went to another program says there what it said before: by the recorded run alone, without the ledger.

import type { RecordedExchange, RecordedRun } from '../plv8/readers/recordedRun.ts';

type Call = { name: string; input: Record<string, unknown>; result: string | null };
/** What the model was told, what it said, and its calls with their results. */
export type Said = { told: string; text: string; calls: Call[] };

const joined = (...texts: (string | undefined)[]): string =>
  texts
    .map((one) => one?.trim() ?? '')
    .filter((one) => one !== '')
    .join('\n\n');
const partsOf = (parts: { text: string }[] | undefined, whole: string | undefined): string =>
  parts === undefined ? joined(whole) : joined(...parts.map(({ text }) => text));

/**
 * The conversation that a run ends with, since its last compaction, as the next request has to hold it; told first: the task, the summary.
 * isWhole: with what was told last and not answered, which the ledger stores with its answer only.
 */
export function conversationOf(run: RecordedRun, isWhole = false): Said[] {
  const ids = new Map<string, number>();
  const chain: number[] = [];
  run.exchanges.forEach((exchange, n) => {
    if (exchange.id != null) ids.set(exchange.id, n);
  });
  const before = (n: number): number => {
    const { after } = run.exchanges[n]!;
    return after === undefined ? n - 1 : after === null ? -1 : (ids.get(after) ?? -1);
  };
  for (let n = run.exchanges.length - 1; n >= 0; n = before(n)) chain.unshift(n);
  const task = partsOf(run.promptParts, run.prompt);
  const said = chain.map((n): Said & { summary: string | undefined } => {
    const exchange = run.exchanges[n]!;
    const previous = run.exchanges[before(n)];
    const told =
      exchange.after !== undefined
        ? partsOf(exchange.saidParts, exchange.said)
        : previous === undefined
          ? task
          : partsOf(previous.followUpParts, previous.followUp);
    return { told, text: exchange.text.trim(), calls: exchange.calls.map(callOf), summary: summaryOf(exchange) };
  });
  const cut = said.findLastIndex(({ summary }, n) => n > 0 && summary !== undefined);
  const shown = said.slice(Math.max(0, cut)).map(({ told, text, calls }) => ({ told, text, calls }));
  if (cut > 0) shown[0]!.told = joined(said[0]!.told, said[cut]!.summary, shown[0]!.told);
  const last = run.exchanges[chain.at(-1) ?? -1];
  const end = isWhole ? partsOf(last?.followUpParts, last?.followUp) : '';
  return end === '' ? shown : [...shown, { told: end, text: '', calls: [] }];
}

const callOf = ({ name, input, result }: RecordedExchange['calls'][number]): Call => ({ name, input, result });
const summaryOf = ({ compactSummary }: RecordedExchange): string | undefined => (compactSummary?.trim() ? compactSummary : undefined);

/** All texts and numbers in a value. */
function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

/**
 * What is not found in `text`, exchange by exchange in their order; inputs of calls by their values, those of `unused` keys left out, as
 * "NAME.KEY".
 */
export function missingIn(text: string, conversation: Said[], unused: ReadonlySet<string> = new Set()): string[] {
  const missing: string[] = [];
  let from = 0;
  for (const [n, { told, text: words, calls }] of conversation.entries()) {
    let end = from;
    const look = (what: string, one: string): void => {
      const wanted = one.trim();
      const ends = [wanted, JSON.stringify(wanted).slice(1, -1)].flatMap((form) => {
        const at = text.indexOf(form, from);
        return at < 0 ? [] : at + form.length;
      });
      if (wanted === '') return;
      if (ends.length === 0) missing.push(`${n}: ${what}: ${wanted.slice(0, 80)}`);
      else end = Math.max(end, Math.min(...ends));
    };
    // Each stands behind the one before it; calls of one response stand behind it in any order.
    for (const part of told.split('\n\n')) look('told', part);
    from = end;
    look('text', words);
    from = end;
    for (const { name, input, result } of calls) {
      for (const [key, value] of Object.entries(input)) {
        if (!unused.has(`${name}.${key}`)) for (const leaf of leaves(value)) look(`${name}.${key}`, leaf);
      }
      look(`result of ${name}`, result ?? '');
    }
    from = end;
  }
  return missing;
}
