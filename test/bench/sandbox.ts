// What code waits for: from a call of execute_code to the first line of its code, in a fresh container and in one that waits; one SDK
// call beside a bare HTTP echo over a unix socket, from the same Python; the same with its row; and eight at once.

import { performance } from 'node:perf_hooks';

import { pino } from 'pino';

import { openDb } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { CodeSandbox } from '../../sandbox/codeSandbox.ts';
import { generateSdk } from '../../sandbox/generateSdk.ts';
import { docker, image, noDocker } from '../docker.ts';
import { until } from '../workerProcess.ts';
import { against, lineOf, linesOf, takeTurns, timed } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

const echo = {
  name: 'echo',
  description: 'Says it again.',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const open = (pool: number): CodeSandbox => new CodeSandbox({ docker, image, memoryBytes: 256 * 1024 * 1024, cpus: 2, pool });

export const sandbox: Question = {
  asks: 'What does code in a container wait for?',
  async measure({ quick, say }) {
    if (noDocker !== null) {
      say('sandbox: left out, there is no Docker here');
      return [];
    }
    const rounds = quick ? 3 : 30;
    const [fresh, one, four] = [open(0), open(1), open(4)];
    try {
      say('sandbox: first lines');
      const first = await takeTurns(rounds, {
        'first line, fresh container': () => firstLine(fresh),
        'first line, waiting container (pool of 1)': () => waiting(one, firstLine),
      });
      say('sandbox: eight at once');
      const eight = await takeTurns(Math.ceil(rounds / 3), {
        'eight calls at once, pool of 1': () => waiting(one, eightCalls),
        'eight calls at once, pool of 4': () => waiting(four, eightCalls),
      });
      return [
        ...linesOf(first, { unit: 'ms', of: 'first line, fresh container' }),
        ...linesOf(eight, { unit: 'ms', of: 'eight calls at once, pool of 1' }),
        ...(await sdkCalls(one, quick ? 300 : 2000)),
        await callWithItsRow(quick ? 100 : 400),
      ];
    } finally {
      await Promise.all([fresh.close(), one.close(), four.close()]);
    }
  },
};

/** The waiting container is there before its turn. */
async function waiting(box: CodeSandbox, use: (box: CodeSandbox) => Promise<number>): Promise<number> {
  await box.ready();
  return use(box);
}

/** Milliseconds until the first line of the code has called. */
async function firstLine(box: CodeSandbox): Promise<number> {
  const startedAt = performance.now();
  let firstAt = Number.NaN;
  await box.run({
    code: 'echo("first")',
    sdk: generateSdk([echo], box.socketPath),
    timeoutSeconds: 30,
    signal: new AbortController().signal,
    onCall: async () => {
      firstAt = performance.now();
      return { value: '' };
    },
  });
  return firstAt - startedAt;
}

const eightCalls = (box: CodeSandbox): Promise<number> => timed(() => Promise.all(Array.from({ length: 8 }, () => firstLine(box))));

/** Both kinds of call take turns in one run of code: the SDK's, and the plainest request that can be made over the same socket. */
async function sdkCalls(box: CodeSandbox, count: number): Promise<Line[]> {
  const calls = await box.run({
    code: `
import http.client, socket, time
class Plain(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("${box.socketPath}")
plain = Plain("x")
def bare():
    plain.request("POST", "/echo", "x")
    plain.getresponse().read()
def timed(what):
    started = time.perf_counter()
    what()
    return (time.perf_counter() - started) * 1000
sdk, echoed = [], []
for n in range(${count}):
    sdk.append(timed(lambda: echo("x")))
    echoed.append(timed(bare))
return [sdk[${count / 10}:], echoed[${count / 10}:]]`,
    sdk: generateSdk([echo], box.socketPath),
    timeoutSeconds: 60,
    signal: new AbortController().signal,
    onCall: async () => ({ value: 'x' }),
  });
  const [sdk = [], bare = []] = JSON.parse(calls.returned ?? '[]') as number[][];
  const plain = lineOf('bare HTTP echo over the socket', 'ms', bare);
  return [plain, against(lineOf('call of the SDK', 'ms', sdk), plain)];
}

/** The whole way: a worker, a database with durable commits, a row for each call. */
const callWithItsRow = (count: number): Promise<Line> =>
  withServer(async ({ url }) => {
    const db = await openDb(url, 'work_ledger');
    await db.facultySave({ name: 'bench', accepts: ['bench'], engage: { code_execution: true } });
    const code = `import time\ntimes = []\nfor n in range(${count}):\n    started = time.perf_counter()\n    ledger_read(last_n=1)\n    times.append((time.perf_counter() - started) * 1000)\nreturn [round(t, 2) for t in times[${count / 10}:]]`;
    const model = await startScriptedModel((request, { exchange }) =>
      exchange === 0
        ? { content: [{ type: 'tool_use', name: 'execute_code', input: { code } }] }
        : { content: [{ type: 'text', text: JSON.stringify(request.messages.at(-1)?.content) }] },
    );
    const worker = await startWorker({
      url,
      schema: 'work_ledger',
      tools: [],
      log: pino({ level: 'silent' }),
      docker,
      model: createModelClient({ apiKey: 'none', baseURL: model.url }),
    });
    const item = await db.workSubmit({ workType: 'bench', description: 'Bench' });
    const ended = await until(async () => {
      const now = await db.workItem(item.id);
      return now?.resolved_at ? now : null;
    });
    await worker.stop();
    await model.close();
    await db.close();
    const times = /\[[\d., ]{20,}\]/.exec(String(ended.outcome_data?.['summary']).replaceAll('\\n', ' '))?.[0];
    if (times === undefined) throw new Error(`the code did not tell its times: ${JSON.stringify(ended.outcome_data)}`);
    return lineOf('call of the SDK with its row', 'ms', JSON.parse(times) as number[]);
  });
