import { expect, test } from 'vitest';

import { sentEvents } from '../../../runtime/mcp/sentEvents.ts';

const note = (text: string) => ({ jsonrpc: '2.0' as const, method: 'notifications/message', params: { text } });
type Events = ReturnType<typeof sentEvents>;
async function after(events: Events, id: string): Promise<string[]> {
  const got: string[] = [];
  await events.replayEventsAfter(id, { send: async (sent) => void got.push(sent) });
  return got;
}

test('what follows an event on its stream is sent again, and nothing of other streams', async () => {
  const events = sentEvents();
  const first = await events.storeEvent('a', {} as never); // only gives the stream an id
  const ids = [];
  for (const stream of ['a', 'b', 'a']) ids.push(await events.storeEvent(stream, note(stream)));
  expect(await after(events, first)).toEqual([ids[0], ids[2]]);
  expect(['nonsense', ...ids].map((id) => events.isKept(id))).toEqual([false, true, true, true]);
  await expect(after(events, 'nonsense')).rejects.toThrow('forgotten');
});

test('a client that never comes back takes a bounded room', async () => {
  const events = sentEvents();
  const first = await events.storeEvent('a', note('first'));
  let last = '';
  for (let n = 0; n < 256; n++) last = await events.storeEvent('a', note('more'));
  expect(events.isKept(first)).toBe(false);
  expect(events.isKept(last)).toBe(true);
  for (let n = 0; n < 3; n++) await events.storeEvent('a', note('x'.repeat(2 * 1024 * 1024)));
  expect(events.isKept(last)).toBe(false);
});
