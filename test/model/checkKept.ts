// What an agent still needs of blocks that left stands behind their stubs, as it was seen: what its newest step named or the
// one before, else what it read lately and has not changed since; as far as there is room.

import type { Read } from './checkRequest.ts';
import { expect } from './expect.ts';
import { policies } from './policies.ts';
import { tokensPerChar } from './replies.ts';
import { chainOf, stepsOf } from './world.ts';
import type { Call, Entry, Item, Sent, World } from './world.ts';

/** A call that had to do with a file; `number`: which call of the model it belongs to; `hasLeft`: its exchange is not shown any more. */
type Touch = { path: string; call: Call; isRead: boolean; isNested: boolean; number: number; hasLeft: boolean };
/** What stands there of one file: these calls, oldest first; null: nobody can say what came of one of them. */
type Content = { path: string; part?: string; calls: Touch[] | null };

/** Looks at the first request behind a cut; until the next one it stays as it is. */
export function checkKept(world: World, item: Item, sent: Sent, read: Read): void {
  const { head } = item;
  if (!head || sent.elisionId === null || sent.elisionId === head.sent.elisionId || sent.cut.kind === 'selective') return;
  const text = read.texts
    .filter((one) => one.startsWith('[engine] Kept from closed blocks') || one.startsWith('[engine] You also listed'))
    .join('\n\n');
  if (sent.cut.kind === 'floor') return expect(text === '', () => `where nothing has room, something is kept: ${text.slice(0, 200)}`);
  const steps = sent.cut.kind === 'elision' ? stepsOf(head) : item.entries.filter((entry) => entry.type === 'step');
  // A step that the engine drafted for this request may have come before its compaction or behind it.
  if (sent.cut.kind !== 'elision' && steps.at(-1)?.isAuto && steps.at(-1)?.turnId === head.turnId) return;
  // At the first request of a fork the newest step is another item's.
  const names = steps.length === 0 ? null : keptBy(sent.cut.kind === 'elision' ? head.item : item, steps.at(-1));
  const touches = touchesOf(item, read);
  const contents =
    names === null
      ? readLately(touches)
      : names.map((name): Content => {
          const [path = name, part] = name.split(':');
          return { path, ...(part !== undefined && { part }), calls: contentOf(path, touches) };
        });
  const needed = new Set(contents.flatMap(({ calls }) => calls ?? []));
  const unclear = new Set(contents.filter(({ calls, part }) => calls === null || part !== undefined).map(({ path }) => path));
  for (const touch of touches)
    if (!needed.has(touch) && !unclear.has(touch.path))
      expect(
        !text.includes(`mark: ${markOf(touch)}`),
        () =>
          `${touch.call.name} ${JSON.stringify(touch.call.input)} is kept, and is not the newest of what ${names === null ? 'was read' : 'the step named'}`,
      );
  checkRoom(world, item, contents, text, names !== null);
}

/** What a step named; a list holds for one more step. */
function keptBy(item: Item, step: Entry | undefined): readonly string[] | null {
  const steps = item.entries.filter((entry) => entry.type === 'step');
  return step?.keep ?? steps[steps.indexOf(step as Entry) - 1]?.keep ?? null;
}

/** What is needed stands there whole, or there was no room for it. */
function checkRoom(world: World, item: Item, contents: readonly Content[], text: string, isNamed: boolean): void {
  const room = roomOf(item, isNamed);
  let used = 0;
  for (const { path, part, calls } of contents) {
    if (calls === null) return; // how much room it takes nobody can say
    if (calls.length === 0) continue;
    if (part !== undefined) return checkPart(world, item, `${path}:${part}`, calls, text);
    const tokens = tokensOf(calls);
    const standing = calls.filter((touch) => stands(touch, text));
    expect(
      standing.length === 0 || standing.length === calls.length,
      () => `of ${path} a part is kept: ${standing.length} of ${calls.length} calls`,
    );
    if (standing.length > 0) {
      used += tokens;
      world.note(item, isNamed ? 'kept by name' : 'kept unasked');
      continue;
    }
    // The engine estimates tokens, and learns how many a character has.
    expect(
      2 * (used + tokens) > room,
      () => `${path} is not kept: about ${tokens} tokens, ${used} are used, and there is room for ${room}`,
    );
    if (!isNamed) continue;
    expect(
      new RegExp(String.raw`there was no room for them: .*${path} \(artifact_read\("[0-9a-f]{16}"\)\)`).test(text),
      () => `${path}, which the newest step named, is neither kept nor named with a handle: ${text.slice(-300)}`,
    );
    world.note(item, 'no room for what was named');
  }
  expect(used / 2 <= room, () => `about ${used} tokens are kept, and there is room for ${room}`);
}

/** A part stands with the numbers of its lines, or the whole file where an edit does not say what it changed, or there was no room. */
function checkPart(world: World, item: Item, name: string, calls: readonly Touch[], text: string): void {
  const [newest, ...since] = calls;
  const read = newest?.isRead === true && since.length === 0 ? textOf(newest) : null;
  const [first = ''] = (read ?? '').split('\n');
  expect(
    text.includes(`${name} (artifact_read("`) ||
      (read === null
        ? text.includes(`# ${name} was not found: the whole file\n`)
        : text.includes(`# ${name}, lines 1 to `) && text.includes(`\n1\t${first}`)),
    () => `${name}, which the newest step named, is neither kept nor named with a handle: ${text.slice(-300)}`,
  );
  if (read !== null && text.includes(`# ${name}, lines`)) world.note(item, 'kept part');
}

function touchesOf(item: Item, read: Read): Touch[] {
  let number = 0;
  return chainOf(item.head).flatMap((exchange) =>
    exchange.calls.flatMap((top) => {
      number += 1;
      return [top, ...top.nested].flatMap((call): Touch[] =>
        call.played.tool === 'read_file' || call.played.tool === 'edit_file'
          ? [
              {
                path: String(call.input['path']),
                call,
                isRead: call.name === 'read_file',
                isNested: call !== top,
                number,
                hasLeft: !read.shown.has(exchange),
              },
            ]
          : [],
      );
    }),
  );
}

const isKnown = ({ call: { result } }: Touch): boolean => result !== null;
const isDone = ({ call: { result } }: Touch): boolean => result !== null && result !== 'stopped' && !result.isError;

/** The newest reading of the file, and what changed it since; the model does not see what code reads. */
function contentOf(path: string, touches: readonly Touch[]): Touch[] | null {
  const own = touches.filter((touch) => touch.path === path && !(touch.isRead && touch.isNested));
  const since = own.slice(
    Math.max(
      0,
      own.findLastIndex((touch) => touch.isRead && isDone(touch)),
    ),
  );
  return since.every(isKnown) ? since.filter((touch) => isDone(touch) && touch.hasLeft) : null;
}

/** Files that were read within the last 40 calls that had to do with one, newest first. */
function readLately(touches: readonly Touch[]): Content[] {
  const numbers = new Set([...new Set(touches.map(({ number }) => number))].slice(-40));
  const newest = new Map<string, Touch>();
  for (const touch of touches) {
    if (!numbers.has(touch.number)) continue;
    newest.delete(touch.path);
    newest.set(touch.path, touch);
  }
  return [...newest.values()].toReversed().map((touch) => ({
    path: touch.path,
    calls: isKnown(touch) ? [touch].filter((one) => one.isRead && !one.isNested && isDone(one) && one.hasLeft) : null,
  }));
}

const markOf = ({ call }: Touch): string => String(call.input['mark']);
const textOf = ({ call: { result } }: Touch): string => (result === null || result === 'stopped' ? '' : result.text);

function stands(touch: Touch, text: string): boolean {
  const seen = textOf(touch);
  const isWhole =
    !touch.isRead ||
    text.includes(seen) ||
    (seen.length > 50_000 && text.includes(seen.slice(0, 1000)) && text.includes(seen.slice(-1000)));
  return isWhole && text.includes(`mark: ${markOf(touch)}`);
}

function tokensOf(touches: readonly Touch[]): number {
  const shown = ({ length }: string): number => (length > 50_000 ? 8000 : length);
  return touches.reduce((sum, touch) => sum + (100 + (touch.isRead ? shown(textOf(touch)) : 0)) * tokensPerChar, 0);
}

function roomOf(item: Item, isNamed: boolean): number {
  const engage: Record<string, unknown> = policies[item.policy].engage;
  return Math.min(
    Number(isNamed ? (engage['keep_budget'] ?? 16_000) : (engage['keep_auto'] ?? 4000)),
    Number(engage['context_window'] ?? 200_000) / 10,
  );
}
