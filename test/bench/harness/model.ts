// The scripted model in a process of its own, so that its work is not taken for the worker's: `Look N times` in the task is answered by
// N calls of the tool look, one a response, each fifth with a step; then it is done. `Write N words` streams so many words and is done.

import { fork } from 'node:child_process';
import { once } from 'node:events';

import type { ModelRequest } from '../../../runtime/model/message.ts';
import type { PlainReply } from '../../../runtime/model/script.ts';
import { startScriptedModel } from '../../../runtime/model/scriptedModel.ts';

export type Model = {
  url: string;
  /** The next request that arrives. */
  asked(): Promise<void>;
  close(): Promise<void>;
};

export async function startModel(): Promise<Model> {
  const child = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async asked() {
      await once(child, 'message');
    },
    async close() {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
    },
  };
}

function reply(request: ModelRequest): PlainReply {
  const said = JSON.stringify(request.messages);
  const words = Number(/Write (\d+) words/.exec(said)?.[1] ?? 0);
  if (words > 0) return { content: [{ type: 'text', text: Array.from({ length: words }, (_, n) => `word${n}`).join(' ') }] };
  const times = Number(/Look (\d+) times/.exec(said)?.[1] ?? 0);
  const looks = [...said.matchAll(/"name":"look","input":\{"n":(\d+)\}/g)].map(([, n]) => Number(n));
  const n = Math.max(0, ...looks) + 1;
  if (n > times) return { content: [{ type: 'text', text: 'Done.' }] };
  const step = { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: `Looked until ${n}` } };
  return { content: [{ type: 'tool_use', name: 'look', input: { n } }, ...(n % 5 === 0 ? [step] : [])] };
}

if (process.send && process.argv[1] === import.meta.filename) {
  const model = await startScriptedModel((request) => {
    process.send?.('asked');
    model.requests.length = 0; // nobody reads them
    return reply(request);
  });
  process.on('disconnect', () => process.exit());
  process.send(model.url);
}
