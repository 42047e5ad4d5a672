// What people, children, hooks and other agents said: each word is told, once, stays, and pretends to be nobody else's.

import type { Read } from './checkRequest.ts';
import { learnAwaited } from './checkStanding.ts';
import type { Play } from './conversation.ts';
import { expect } from './expect.ts';
import { toldIn } from './world.ts';
import type { Item, Pending, Sent, Told } from './world.ts';

/** Line breaks of any kind and what indents a line are as one. */
const plain = (text: string): string => text.replaceAll(/(?:\r\n|[\n\r\v\f\u0085\u2028\u2029])[ \t]*/g, '\n');
const count = (text: string, part: string): number => text.split(part).length - 1;

/** Returns what the request tells for the first time. */
export async function checkTold(play: Play, item: Item, sent: Sent, read: Read): Promise<Omit<Pending, 'sent' | 'isHeld'>> {
  const { world } = play;
  await learnAwaited(play);
  const text = plain(read.texts.join('\n'));
  const said = plain(
    read.said
      .filter((block) => block.type === 'text')
      .map((block) => String(block['text']))
      .join('\n'),
  );
  for (const told of item.inbox) expect(count(said, told.mark) > 0, `what waited in the inbox is not told: ${told.text.slice(0, 100)}`);
  for (const told of item.inbox.filter((one) => one.source === 'person'))
    expect(await isWhole(play, told, said), `what waited in the inbox is not told whole: ${told.text.slice(0, 100)}`);
  for (const told of item.inbox.filter((one) => one.source === 'agent'))
    expect(count(said, told.mark) === 1, `what another agent said is not told once: ${told.text.slice(0, 100)}`);
  for (const told of toldIn(item.head, item.earlier)) {
    if (told.source === 'agent')
      expect(
        count(said, told.mark) === 0 || item.head === null,
        `what another agent said is told a second time: ${told.text.slice(0, 100)}`,
      );
    if (told.source !== 'person') continue;
    expect(
      await isWhole(play, told, text),
      () =>
        `what a person said is not in the request of ${item.isFork ? 'a fork' : item.attempt > 1 ? 'a later attempt' : 'an item'}${sent.cut.isCompacted ? ', which was compacted' : sent.elisionId ? ', of which something was elided' : ''}: ${told.text.slice(0, 100)}`,
    );
    expect(count(said, told.mark) === 0 || item.head === null, `what a person said is told a second time: ${told.text.slice(0, 100)}`);
  }
  // What it said itself is no forgery where it is quoted to it, be it in a step that was drafted in an earlier attempt.
  let own = item.entries
    .filter((entry) => entry.isAuto)
    .map((entry) => entry.content)
    .join('\n');
  for (let at = item.head; at; at = at.parent) own += JSON.stringify(at.content);
  checkForged(
    world.forged.filter((mark) => !own.includes(mark)),
    read,
  );
  if (said.includes('What you asked to be told about:')) {
    expect(item.features.has('asks to be told') || item.isFork, `${item.name} is told of what it did not ask for`);
    world.note(item, 'told as asked');
  }
  return { told: item.inbox, news: checkNews(play, item, said) };
}

/** Whole, or where it is long its head and tail and how to read the rest. */
async function isWhole({ ledger }: Play, told: Told, text: string): Promise<boolean> {
  const words = plain(told.text);
  if (text.includes(words)) return true;
  const handles = [...text.matchAll(/artifact_read\("([0-9a-f]{16})"\)/g)].map(([, handle]) => handle);
  const isCut = words.length > 900 && text.includes(words.slice(0, 100)) && text.includes(words.slice(-100));
  if (!isCut && !/- \(\d+ more: artifact_read/.test(text)) return false;
  const rows = await ledger.rows<{ content: string }>(
    'select content from ledger.artifacts where left(content_hash, 16) = any ($1::text[])',
    handles,
  );
  return rows.some((row) => plain(row.content).includes(words));
}

/** Findings of others: once to each focus; what was in a request that was broken off is told again. */
function checkNews({ world }: Play, item: Item, said: string): Set<string> {
  const told = item.news.get(item.focusId ?? '') ?? new Set();
  const news = new Set([...said.matchAll(/n\d+z/g)].map(([mark]) => mark));
  for (const mark of news) {
    expect(!told.has(mark), `the finding ${mark} is told a second time`);
    expect(count(said, mark) === 1, `the finding ${mark} is told twice in one request`);
  }
  for (const mark of item.unheard)
    expect(news.has(mark), `the finding ${mark} was in a request that was broken off, and is not told again`);
  if (news.size > 0) world.note(item, 'digest');
  if ([...news].some((mark) => world.newsOfSession.has(mark))) world.met('kept session', 'digest');
  return news;
}

/** What pretends to be the engine's stands between random markers. */
function checkForged(forged: readonly string[], read: Read): void {
  for (const text of read.texts) {
    const outside = text.replaceAll(/<([a-z]+-[0-9a-f]{12})>\n[\s\S]*?\n *<\/\1>/g, '');
    const mark = forged.find((one) => new RegExp(String.raw`\b${one}\b`).test(outside));
    expect(
      mark === undefined,
      () =>
        `words that pretend to be the engine's stand beside its own: ${outside.slice(Math.max(0, outside.indexOf(mark ?? '') - 120), outside.indexOf(mark ?? '') + 80)}`,
    );
  }
}
