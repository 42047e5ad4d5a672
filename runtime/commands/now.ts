// What one work item does now, for its watchers: a line that changes, and each new reason to wait, once.

import type { Db } from '../ledger/db.ts';
import type { WorkNow } from '../ledger/overview.ts';
import { money } from '../money.ts';
import { io } from './io.ts';
import { note, paint, span, tokensText, visible } from './output.ts';

/** "turn 3 · bash node --test · 12s · 14.2k tokens". */
export function nowText(now: WorkNow, words = ''): string {
  const running = (now.open_calls ?? [])
    .filter((call) => call.status === 'running')
    .map((call) => (call.label.startsWith(call.tool) ? call.label : `${call.tool} ${call.label}`));
  const what =
    now.why !== null && now.waits_for !== 'worker'
      ? now.why
      : now.doing === 'tools' && running.length > 0
        ? running.join(', ')
        : now.doing === 'model'
          ? 'asks the model'
          : (now.why ?? now.doing ?? now.state);
  return [
    ...(now.iteration === null ? [] : [`turn ${now.iteration}`]),
    what,
    ...(now.seconds !== null && now.seconds >= 1 ? [span(now.seconds)] : []),
    ...(now.tokens ? [`${tokensText(now.tokens)} tokens`] : []),
    ...((now.tree_items ?? 1) > 1 ? [`${now.tree_items} items`] : []),
    ...(words === '' ? [] : [words]),
  ].join(' · ');
}

/** Why an item waits, each reason once; of a countdown, only the first number is shown. */
export class Waits {
  readonly #said = new Set<string>();

  /** The sentence to show; null: the item does not wait, or the reason was shown before. */
  newReason({ waits_for: waitsFor, why }: WorkNow, isWorkerHere = false): string | null {
    if (why === null || waitsFor === null || (isWorkerHere && waitsFor === 'worker')) return null;
    const key = why.replaceAll(/\d+/g, '#'); // without what it waits for: a retry that is due waits for a worker, for the same reason
    if (this.#said.has(key)) return null;
    this.#said.add(key);
    return `${paint('yellow', 'waits:', io().stderr)} ${visible(why)}`;
  }
}

/** Prints the total usage on stderr. */
export async function sayCost(db: Db, workItemId: string, seconds: number | null = null): Promise<void> {
  const [total] = await db.costBy('total', workItemId);
  if (!total || total.requests === 0) return;
  const input = total.input_tokens + total.cached_input_tokens + total.cache_write_tokens;
  note(
    paint(
      'dim',
      [
        ...(seconds === null ? [] : [span(seconds)]),
        `${total.requests} request${total.requests === 1 ? '' : 's'}`,
        `${tokensText(input)} tokens in${input > 0 ? ` (${Math.floor((100 * total.cached_input_tokens) / input)} % from the cache)` : ''}`,
        `${tokensText(total.output_tokens)} out`,
        ...(total.cost === null ? [] : [`cost ${money(total.cost)}${total.unpriced_requests > 0 ? '+' : ''}`]),
      ].join(', '),
      io().stderr,
    ),
  );
}
