// Describes a cut: what left the context, why at that point, and what that saved.

import type { ContextBucket } from '../../ledger/consoleContext.ts';
import { count, k, num } from '../format.ts';

export type Mark = ContextBucket['marks'][number];

/**
 * since: how many requests use the cut, until the next one. saved: by those, in tokens at full price; negative: it has not paid off yet.
 */
export type Outcome = { since: number; saved: number };

export function outcomeOf(mark: Mark, marks: readonly Mark[], last: number): Outcome {
  const since = (marks.find((cut) => cut.n > mark.n)?.n ?? last + 1) - mark.n;
  const [out, stub, behind] = [mark.tokens_elided ?? 0, mark.stub_tokens ?? 0, mark.tokens_kept ?? 0];
  return { since, saved: out * 0.1 * since - (behind + stub) * 1.15 };
}

export const savedTokens = (saved: number): string => (saved >= 0 ? k(saved) : `−${k(-saved)}`);

const triggers: Record<string, string> = {
  context_limit: 'the request had reached compact_threshold',
  context_overflow: 'the model took no more',
  manual: 'someone asked for it',
  periodic: 'compact_every was due',
};

export function cutName(mark: Mark): string {
  if (mark.kind === 'elision') return 'closed blocks became stubs';
  return mark.kind === 'compaction' ? 'a compaction' : `compaction: ${mark.kind}`;
}

/** 3, 3–5. */
export const blocksOf = (mark: Mark): string => (mark.blocks ?? '').replace('-', '–');

export function cutWords(mark: Mark, { since, saved }: Outcome): string {
  if (mark.tokens_elided === undefined || mark.tokens_elided === null)
    return 'Content that had already been sent was changed; everything after it was written to the cache again.';
  const isOne = !/-/.test(mark.blocks ?? '-');
  const who = mark.blocks ? `${isOne ? 'Block' : 'Blocks'} ${blocksOf(mark)}` : 'Old turns';
  const why =
    mark.kind === 'elision'
      ? `${isOne ? 'it was' : 'they were'} closed, and no more than ${count(mark.tokens_kept ?? 0, 'token')} behind had to be written again`
      : `${cutName(mark)}${mark.trigger ? `, since ${triggers[mark.trigger] ?? mark.trigger}` : ''}`;
  const keeps = (mark.kept_tokens ?? 0) > 0 ? `, ${num(mark.kept_tokens ?? 0)} stay word for word` : '';
  const after = mark.breaks_even_after ?? null;
  const pays = after === null ? '' : after > 10_000 ? ' It does not pay.' : ` It pays after ${count(after, 'request')}.`;
  const result = saved >= 0 ? `saved about ${k(saved)}` : `has cost about ${k(-saved)} more than it saved, in`;
  return `${who} left, ${num(mark.tokens_elided)} tokens: ${why}. ${num(mark.stub_tokens ?? 0)} tokens stand for ${isOne ? 'it' : 'them'}${keeps}.${pays} Up to the next cut, ${count(since, 'request')}, it ${result} tokens at full price.`;
}
