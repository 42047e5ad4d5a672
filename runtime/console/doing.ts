// What a running work item does now, in one line, as pieces: a page draws them as HTML, the terminal as text.

import type { UnderWay } from '../ledger/consoleNow.ts';
import { brief, count, k, withShortIds } from './format.ts';

/** as: the phrase for what it does, the name of a tool, or text from an agent or a person. */
export type Piece = { text: string; as?: 'kind' | 'ask' | 'tool'; isTheirs?: true; href?: string };

/** An item whose worker is lost looks like one that crashed, not like one that runs. */
export function stateNow(one: Pick<UnderWay, 'waits_for' | 'doing' | 'state'>): string {
  if (one.waits_for === 'approval') return 'approval';
  if (one.doing === 'waits' && one.waits_for === 'worker' && one.state !== 'waiting') return 'crashed';
  return one.doing === 'waits' || one.doing === 'next' ? 'waiting' : one.state;
}

const kind = (text: string): Piece => ({ text, as: 'kind' });
const plain = (text: string): Piece => ({ text });
const theirs = (text: string): Piece => ({ text, isTheirs: true });
const tool = (text: string): Piece => ({ text, as: 'tool' });
const says = (why: string | null, length: number): Piece[] => (why ? [plain(' · '), theirs(brief(why, length))] : []);

/** `isShort`: without what the head of an item's page shows anyway. */
export function doingOf(one: UnderWay, isShort = false): Piece[] {
  const context = one.context_tokens && one.context_window ? ` · context ${k(one.context_tokens)} of ${k(one.context_window)}` : '';
  const attempt = (one.attempt ?? 1) > 1 ? ` · attempt ${one.attempt}` : '';
  const held = !isShort && one.claims > 0 ? ` · holds ${count(one.claims, 'claim')}` : '';
  const step = !isShort && one.last_step ? [plain(' · last step: '), theirs(brief(one.last_step, 160))] : [];
  const more = isShort ? [] : [plain(`${held} · iteration ${one.iteration}${attempt}`), ...step];
  const calls = one.open_calls ?? [];
  switch (one.doing ?? '') {
    case 'model':
      return [kind(`model call ${one.iteration}`), plain(` · ${one.model}${context}${attempt}${held}`)];
    case 'tools':
      return [
        kind(calls.length === 1 ? `runs ${calls[0]?.tool ?? ''}` : `runs ${calls.length} calls`),
        ...calls.flatMap((call) => [plain(' · '), tool(call.tool), ...(call.label ? [plain(' '), theirs(brief(call.label, 80))] : [])]),
        plain(`${context}${held}`),
      ];
    case 'paused':
      return [kind('paused'), ...says(one.state_reason, 200), ...step];
    case 'waits':
      return one.waits_for === 'approval' ? waitsForPeople(one) : [...waits(one), ...more];
    default:
      return [kind(one.state), ...says(one.why, 200), ...more];
  }
}

const waitsForPeople = (one: UnderWay): Piece[] => [
  { text: 'waits for approval', as: 'ask' },
  ...(one.open_calls ?? []).filter((call) => call.status === 'waiting').flatMap((call) => [plain(' on '), tool(call.tool)]),
  plain(' · holds no worker'),
];

function waits(one: UnderWay): Piece[] {
  const isSentence = /^(?:waits|lost)/.test(one.why ?? '');
  return [
    { ...kind(isSentence ? withShortIds(brief(one.why ?? '', 300)) : `waits for ${one.waits_for ?? 'something'}`), isTheirs: true },
    ...(one.claim_of === null ? [] : [plain(' · '), { text: 'whose it is', href: `/work/${one.claim_of}` }]),
    ...(isSentence ? [] : says(one.why, 200)),
  ];
}
