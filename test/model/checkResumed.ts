// Work that goes on in another program: at any moment what is written for it is a conversation that the API takes, with every call and
// its result, whatever was cut, forked, broken off or is under way.

import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { expect } from './expect.ts';
import type { Ledger } from './ledger.ts';

type Line = {
  record: { type: string; uuid: string; parentUuid: string | null; timestamp: string | null; message: Message; payload: Payload };
};
type Message = { role: string; content: string | object[] };
type Payload = { type: string; call_id?: string };

const exported = (ledger: Ledger, id: string, format: string): Promise<Line[]> =>
  ledger.rows<Line>('select record from ledger.session_export($1, $2) where record is not null order by n', id, format);

export async function checkResumed(ledger: Ledger, id: string): Promise<void> {
  const records = (await exported(ledger, id, 'claude-code')).map(({ record }) => record);
  expect(records.length > 0, () => `nothing of ${id} goes on in Claude Code`);
  const messages: { role: string; content: object[] }[] = [];
  for (const [n, { message, parentUuid, timestamp }] of records.entries()) {
    expect(parentUuid === (records[n - 1]?.uuid ?? null) && timestamp !== null, () => `record ${n} of ${id} hangs on ${parentUuid}`);
    const content = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    const last = messages.at(-1);
    if (last?.role === message.role) last.content.push(...content);
    else messages.push({ role: message.role, content: [...content] });
  }
  const next = { type: 'text', text: 'Go on' };
  if (messages.at(-1)?.role === 'user') messages.at(-1)!.content.push(next);
  else messages.push({ role: 'user', content: [next] });
  const tools = [{ name: 'Bash', input_schema: { type: 'object' } }];
  const broken = validateRequest({ model: 'claude-opus-5', max_tokens: 1000, stream: true, messages, tools } as never);
  expect(broken.length === 0, () => `${id} in Claude Code: ${broken.join('; ')}: ${JSON.stringify(messages).slice(0, 4000)}`);

  const items = (await exported(ledger, id, 'codex')).map(({ record: { payload } }) => payload);
  const ids = (kind: RegExp): string[] => items.flatMap(({ type, call_id }) => (kind.test(type) ? (call_id ?? []) : []));
  const [calls, results] = [ids(/_call$/), ids(/_call_output$/)];
  expect(
    new Set(calls).size === calls.length && JSON.stringify(calls.toSorted()) === JSON.stringify(results.toSorted()),
    () => `${id} in Codex: calls ${calls.join(', ')}, results ${results.join(', ')}`,
  );
}
