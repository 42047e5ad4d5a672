// What must be true of a request, held against what was said and done.

import type { ContentBlock, Message, ModelRequest } from '../../runtime/model/message.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { checkKept } from './checkKept.ts';
import { checkStood } from './checkStood.ts';
import { checkTold } from './checkTold.ts';
import type { Play } from './conversation.ts';
import { expect } from './expect.ts';
import { canStand } from './replies.ts';
import { blocksOf, chainOf, stepsOf } from './world.ts';
import type { Call, Cut, Exchange, Item, Sent, World } from './world.ts';

/** A request as it is read: where each exchange of the conversation stands in it. */
export type Read = {
  messages: Message[];
  shown: Map<Exchange, { message: Message; results: ContentBlock[]; besides: ContentBlock[] }>;
  /** What its turn says besides the results. */ said: ContentBlock[];
  texts: string[];
};

export async function checkRequest(play: Play, item: Item, turnId: string, body: string, how: 'sent' | 'held' | 'summary'): Promise<void> {
  const { ledger, world } = play;
  const request = JSON.parse(body) as ModelRequest;
  const broken = validateRequest(request);
  expect(broken.length === 0, () => `a request that the API refuses: ${broken.slice(0, 4).join('; ')}`);
  const [row] = await ledger.rows<{ body: string; elision_id: string | null; cut: Cut; own: ContentBlock[][] | null }>(
    factsOfRequest,
    turnId,
  );
  expect(row?.body === body, `context_at(${turnId}) is not what is to be sent`);
  const sent: Sent = { turnId, body, elisionId: row.elision_id, cut: row.cut, shown: [] };
  if (how !== 'held') world.sent.set(turnId, sent);
  if (how === 'summary') return;
  const isHeld = how === 'held';
  await learnDrafts(play, item);
  if (sent.cut.isCompacted) world.note(item, 'compaction', ...(sent.cut.isFloor ? ['floor'] : []));
  else if (sent.elisionId !== null) world.note(item, 'elision');
  if (sent.cut.kind === 'sliding_window' || sent.cut.kind === 'selective') world.note(item, sent.cut.kind.replace('_', ' '));
  if (sent.cut.isPeriodic) world.note(item, 'periodic');

  if (item.pending?.sent.turnId === turnId) {
    const before = item.pending.sent;
    // Until it is sent, a hook may still say something in it.
    expect(
      item.pending.isHeld || messagesText(before.body) === messagesText(body),
      () => `the same request is asked with other messages: ${difference(messagesText(before.body), messagesText(body))}`,
    );
    sent.shown = before.shown;
    item.pending.sent = sent;
    item.pending.isHeld &&= isHeld;
    return;
  }
  expect(item.pending === null, () => `turn ${turnId} is asked while ${item.pending?.sent.turnId} is`);
  const read = readRequest(request, item, (row.own ?? []).flat());
  sent.shown = checkExchanges(item, sent, read);
  checkAppendOnly(play, item, sent, read);
  checkStubs(item, sent, read);
  checkSaidOnce(world, item, read);
  checkKept(world, item, sent, read);
  checkStood(item, sent, read.texts);
  checkBreakpoints(item, sent);
  item.pending = { sent, isHeld, ...(await checkTold(play, item, sent, read)) };
  item.inbox = [];
}

const factsOfRequest = `
  with recursive cut as (
    select e.* from ledger.turns t join ledger.elisions e on e.id = t.elision_id where t.id = $1
    union all
    select e.* from cut c join ledger.elisions e on e.id = c.previous_id
  )
  select ledger.context_at($1)::text as body, (select json_agg(content order by sequence) from ledger.messages where turn_id = $1 and role = 'user') as own, (select elision_id from ledger.turns where id = $1) as elision_id,
         json_build_object('kind', coalesce(k.compaction_type, 'elision'), 'isPeriodic', coalesce(k.trigger = 'periodic', false), 'isCompacted', exists (select from cut where ordinal = 0),
           'isFloor', exists (select from cut where max_result_chars is not null and max_result_effect is null), 'isShort', exists (select from cut where max_result_effect is not null)) as cut
    from (values (1)) one left join ledger.compactions k on k.elision_id = (select elision_id from ledger.turns where id = $1)`;

/** Steps that the engine drafted since: it says so of them, and only they are not the agent's. */
async function learnDrafts({ ledger, world }: Play, item: Item): Promise<void> {
  const rows = await ledger.rows<{ content: string; turn_id: string }>(
    'select content, turn_id from ledger.work_ledger where work_item_id = $1 and is_auto and not is_inherited and seq > $2',
    item.id,
    item.entries.length,
  );
  for (const { content, turn_id: turnId } of rows) {
    item.entries.push({ type: 'step', content, turnId, at: ledger.now, isAuto: true, isInherited: false, keep: null });
    world.note(item, 'drafted step');
  }
}

const textOf = (block: ContentBlock | undefined): string => (typeof block?.['text'] === 'string' ? block['text'] : '');
const isThinking = ({ type }: ContentBlock): boolean => type === 'thinking' || type === 'redacted_thinking';
/** Whether that is what the model said; an id or a name that the API does not take stands there as another. */
const isSaid = (has: ContentBlock | undefined, said: ContentBlock): boolean => has !== undefined && bare(has, said) === bare(said, said);
const bare = (block: ContentBlock, said: ContentBlock): string =>
  JSON.stringify({
    ...block,
    id: undefined,
    cache_control: undefined,
    ...(said.type === 'tool_use' && !canStand(said['name']) && { name: undefined }),
  });
/** As it is stored: blank text is dropped. */
const storedOf = ({ content }: Exchange): ContentBlock[] =>
  content.filter((block) => block.type !== 'text' || /\S/.test(String(block['text'])));

/** Finds the newest exchanges in the messages, from the end of both. */
function readRequest({ messages }: ModelRequest, item: Item, said: ContentBlock[]): Read {
  const shown: Read['shown'] = new Map();
  let at = messages.length - 1;
  for (const exchange of chainOf(item.head).toReversed()) {
    const spoken = storedOf(exchange).filter((block) => !isThinking(block));
    while (at > 0 && messages[at]?.role !== 'assistant') at--;
    const message = messages[at];
    if (message?.role !== 'assistant') break;
    if (storedOf(exchange).length === 0) continue;
    const has = (message.content as ContentBlock[]).filter((block) => !isThinking(block));
    const isIt = spoken.every((block, n) => isSaid(has[n], block)) && has.length <= spoken.length + 1;
    if (!isIt && spoken.length === 0) continue; // nothing but thinking, which left
    expect(isIt, () => `of ${JSON.stringify(spoken).slice(0, 300)} another response is shown: ${JSON.stringify(has).slice(0, 300)}`);
    const next = (messages[at + 1]?.content ?? []) as ContentBlock[];
    shown.set(exchange, {
      message,
      results: next.filter((block) => block.type === 'tool_result'),
      besides: next.filter((block) => block.type !== 'tool_result'),
    });
    at--;
  }
  while (at >= 0 && messages[at]?.role !== 'assistant') at--;
  expect(at < 0, () => `a response that was never given: ${JSON.stringify(messages[at]).slice(0, 300)}`);
  const last = (messages.at(-1)?.content ?? []) as ContentBlock[];
  expect(JSON.stringify(last.slice(last.length - said.length)) === JSON.stringify(said), 'the request does not end in what its turn says');
  const texts = messages
    .filter((message) => message.role === 'user')
    .flatMap((message) => message.content as ContentBlock[])
    .filter((block) => block.type === 'text')
    .map((block) => String(block['text']));
  return { messages, shown, said, texts };
}

/** What is shown is shown as it was; what is not shown any more was seen. Returns the calls whose results stand there whole. */
function checkExchanges(item: Item, sent: Sent, read: Read): Call[] {
  const whole: Call[] = [];
  const { placed, open } = blocksOf(item.head);
  for (const { exchange, block } of placed) {
    const place = read.shown.get(exchange);
    if (storedOf(exchange).length === 0 || (!place && storedOf(exchange).every(isThinking))) continue;
    if (!place) {
      expect(
        sent.cut.isCompacted || block < open,
        () => `an exchange of the open block ${open} is not shown: ${JSON.stringify(exchange.calls.map((call) => call.input))}`,
      );
      const unseen = exchange.calls.find((call) => !call.isSeen && !exchange.calls.every((other) => other.isEntry));
      expect(
        unseen === undefined || sent.cut.isFloor,
        () => `the result of ${unseen?.name} ${JSON.stringify(unseen?.input)} left before it was shown`,
      );
      continue;
    }
    const uses = (place.message.content as ContentBlock[]).filter((one) => one.type === 'tool_use');
    const thought = (place.message.content as ContentBlock[]).filter(isThinking);
    expect(
      thought.length === 0 || JSON.stringify(thought) === JSON.stringify(exchange.content.filter(isThinking)),
      'thinking is not what it was',
    );
    exchange.calls.forEach((call, n) => {
      const result = place.results.find((one) => one['tool_use_id'] === uses[n]?.['id']);
      expect(result !== undefined, () => `no result of ${call.name} ${JSON.stringify(call.input)}`);
      if (checkResult(item, call, result, place.besides, sent)) whole.push(call);
    });
  }
  return whole;
}

/** Its result is not shortened where only those of pure calls are. */
const isKeptWhole = ({ name }: Call): boolean => ['edit_file', 'risky', 'execute_code', 'ledger_append', 'spawn_child_work'].includes(name);

/** True where the result stands there whole. */
function checkResult(
  item: Item,
  call: Call,
  { content, is_error: isError }: ContentBlock,
  besides: readonly ContentBlock[],
  { cut }: Sent,
): boolean {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as ContentBlock[]);
  const text = textOf(blocks.find((block) => block.type === 'text'));
  const what = `${item.name}: ${call.name} ${JSON.stringify(call.input)}`;
  if (call.result === 'stopped') expect(text.startsWith('[engine] '), () => `${what} was stopped, and its result is ${text.slice(0, 200)}`);
  if (call.result === 'stopped' || call.result === null) {
    if ((cut.isFloor || (cut.isShort && call.isSeen && !isKeptWhole(call))) && text !== call.learned) return call.isSeen;
    expect(
      (call.learned ??= text) === text,
      () => `the result of ${what} changed: ${text.slice(0, 200)} was ${call.learned?.slice(0, 200)}`,
    );
    if (call.isEntry) expect(/^Recorded as \[\d+\]/.test(text), () => `${what} was acknowledged by ${text}`);
    return true;
  }
  const { result } = call;
  expect((isError === true) === result.isError, `${what} ${result.isError ? 'failed' : 'succeeded'}, and is shown otherwise`);
  if (text !== result.text) {
    const mayBeShort = cut.isFloor || (cut.isShort && call.isSeen && !isKeptWhole(call));
    if (mayBeShort && result.images.length > 0 && text.startsWith(result.text)) return false; // its images had no room
    const isCut =
      /artifact_read\("[0-9a-f]{16}"\)/.test(text) &&
      text.startsWith(result.text.slice(0, 50)) &&
      text.slice(-200).includes(result.text.slice(-20));
    expect(isCut && (mayBeShort || result.text.length > 50_000), () => `the result of ${what} is ${difference(result.text, text)}`);
    return result.text.length > 50_000;
  }
  const images = [...blocks, ...besides]
    .filter((block) => block.type === 'image')
    .map((block) => String((block['source'] as Record<string, unknown>)['data']));
  expect(
    result.images.every((image) => images.includes(image.data)),
    () => `an image of ${what} is not shown`,
  );
  return true;
}

const messagesText = (body: string): string =>
  JSON.stringify((JSON.parse(body) as ModelRequest).messages, (key, value: unknown) => (key === 'cache_control' ? undefined : value));

/**
 * Between two cuts the next request begins with the one before it, but for where its breakpoints are; a cut comes where a block closed, and
 * behind it stands no thinking of before, but that of the response whose results are sent, unless the model binds it to what is before it.
 */
function checkAppendOnly({ world }: Play, item: Item, sent: Sent, read: Read): void {
  const before = item.head?.sent;
  if (!before || !item.head) return;
  const now = messagesText(sent.body);
  if (before.elisionId === sent.elisionId) {
    expect(
      now.startsWith(messagesText(before.body).slice(0, -3)),
      () => `the request does not begin with the one before it: ${difference(messagesText(before.body).slice(0, -3), now)}`,
    );
    return;
  }
  const newest = read.shown.get(item.head)?.message;
  const thought = (message: Message | undefined): ContentBlock[] => ((message?.content ?? []) as ContentBlock[]).filter(isThinking);
  const older = read.messages.filter((message) => message.role === 'assistant' && message !== newest);
  expect(
    older.every((message) => thought(message).length === 0),
    'thinking stands behind what was cut',
  );
  const stays = newest && !world.bindsThinking ? item.head.content.filter(isThinking) : [];
  expect(
    JSON.stringify(thought(newest)) === JSON.stringify(stays),
    () => `the response whose results are sent has the thinking ${JSON.stringify(thought(newest))}, not ${JSON.stringify(stays)}`,
  );
  if (stays.length > 0) world.note(item, 'thinking at a cut');
  const boundary = blocksOf(item.head).open !== blocksOf(item.head.parent).open;
  expect(boundary || sent.cut.isCompacted || sent.cut.kind === 'selective', 'something was elided in the middle of a block');
}

function difference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return `${one.slice(Math.max(0, at - 80), at + 120)} | ${other.slice(Math.max(0, at - 80), at + 120)}`;
}

/** Of a closed block that is not shown stand its steps and what it found, decided and failed at. */
function checkStubs(item: Item, sent: Sent, read: Read): void {
  if (sent.cut.isCompacted) return;
  const text = read.texts.join('\n');
  const { placed } = blocksOf(item.head);
  for (const { exchange } of placed) {
    if (read.shown.has(exchange) || storedOf(exchange).length === 0) continue;
    for (const entry of exchange.item.entries) {
      if (entry.turnId !== exchange.turnId || entry.isInherited || !['step', 'finding', 'decision', 'error'].includes(entry.type)) continue;
      const mark = /e\d+z/.exec(entry.content)?.[0] ?? entry.content;
      expect(text.includes(mark), `${entry.type} "${entry.content}" of a block that is not shown stands nowhere`);
    }
  }
  // Steps by the number of the block that they close.
  let closed = (placed[0]?.exchange.firstBlock ?? 1) - 1;
  for (const { exchange } of placed) {
    const steps = stepsOf(exchange);
    if (steps.length > 0) closed += 1;
    for (const step of steps) {
      const [line] = step.content.split('\n');
      const at = text.indexOf(`[completed step`);
      if (at < 0 || !text.includes(`: ${line}`) || step.isAuto) continue;
      const stub = new RegExp(
        String.raw`\[completed step (\d+)[^\n]*: ${line?.replaceAll(/[.*+?^${'$'}{}()|[\]\\]/g, String.raw`\$&`)}`,
      ).exec(text);
      if (stub) expect(Number(stub[1]) === closed, `step "${line}" closes block ${closed} and stands as ${stub[0]}`);
    }
  }
}

/** What a shown exchange recorded by calls of its own stands there and in no stub, which only says that it follows. */
function checkSaidOnce(world: World, item: Item, read: Read): void {
  const stubs = read.texts.filter((text) => text.startsWith('[completed step '));
  for (const exchange of read.shown.keys()) {
    for (const { input } of exchange.calls.filter((call) => call.isEntry)) {
      const mark = /e\d+z/.exec(String(input['content']))?.[0] ?? '';
      expect(
        stubs.every((stub) => !stub.includes(mark)),
        () => `"${String(input['content'])}" stands in its exchange and in ${stubs.join('\n')}`,
      );
      if (input['entry_type'] === 'step' && stubs.at(-1)?.includes(': see below]')) world.note(item, 'step beside a call at a cut');
    }
  }
}

/** Where one exchange adds more blocks than a provider looks back over, a breakpoint stands where the request before ended. */
function checkBreakpoints(item: Item, sent: Sent): void {
  const before = item.head?.sent;
  if (!before || before.elisionId !== sent.elisionId) return;
  const blocks = (body: string): ContentBlock[] =>
    (JSON.parse(body) as ModelRequest).messages.flatMap((message) => message.content as ContentBlock[]);
  const end = blocks(before.body).length;
  const now = blocks(sent.body);
  if (now.length - end <= 18) return;
  expect(
    now[end - 1]?.['cache_control'] != null,
    `the exchange added ${now.length - end} blocks, and no breakpoint stands where the request before ended`,
  );
}
