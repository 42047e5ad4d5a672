// From a call of execute_code to the first line of its code, in a fresh container and in one that waits; and one SDK call
// beside a bare HTTP echo over a unix socket, from the same Python: `npm run bench -- sandbox [ROUNDS]`.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { CodeSandbox } from '../../sandbox/codeSandbox.ts';
import { generateSdk } from '../../sandbox/generateSdk.ts';
import { docker, image, noDocker } from '../docker.ts';

if (noDocker !== null) process.exit(2);
const rounds = Number(process.argv[2] ?? 20);
const echo = { name: 'echo', description: 'Says it again.', input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } };
const open = (pool: number): CodeSandbox => new CodeSandbox({ docker, image, memoryBytes: 256 * 1024 * 1024, cpus: 2, pool });
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Milliseconds until the first line of the code has called. */
async function firstLine(sandbox: CodeSandbox): Promise<number> {
  const startedAt = performance.now();
  let firstAt = Number.NaN;
  await sandbox.run({
    code: 'echo("first")', sdk: generateSdk([echo], sandbox.socketPath), timeoutSeconds: 30, signal: new AbortController().signal,
    onCall: async () => {
      firstAt = performance.now();
      return { value: '' };
    },
  });
  return firstAt - startedAt;
}

// Fresh and warm take turns; the next warm container is there before its turn.
const [fresh, warm] = [open(0), open(1)];
const times: Record<'fresh' | 'warm', number[]> = { fresh: [], warm: [] };
for (let round = 0; round < rounds; round++) {
  times.fresh.push(await firstLine(fresh));
  await warm.ready();
  times.warm.push(await firstLine(warm));
}

// Both kinds of call take turns in one run of code: the SDK's, and the plainest request that can be made over the same socket.
const calls = await warm.run({
  code: `
import http.client, socket, time
class Plain(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("${warm.socketPath}")
plain = Plain("x")
def bare():
    plain.request("POST", "/echo", "x")
    plain.getresponse().read()
def timed(what):
    started = time.perf_counter()
    what()
    return (time.perf_counter() - started) * 1000
sdk, echoed = [], []
for n in range(2000):
    sdk.append(timed(lambda: echo("x")))
    echoed.append(timed(bare))
half = lambda times: sorted(times[200:])[len(times[200:]) // 2]
return [half(sdk), half(echoed)]`,
  sdk: generateSdk([echo], warm.socketPath), timeoutSeconds: 60, signal: new AbortController().signal, onCall: async () => ({ value: 'x' }),
});
const [sdk = Number.NaN, bare = Number.NaN] = JSON.parse(calls.returned ?? '[]') as number[];
await Promise.all([fresh.close(), warm.close()]);

// The whole way: a worker, an embedded database with durable commits, a row for each call.
const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const db = await openDb(url, 'work_ledger');
await db.facultySave({ name: 'bench', accepts: ['bench'], engage: { code_execution: true } });
const model = await startScriptedModel((request, { exchange }) => (exchange === 0
  ? { content: [{ type: 'tool_use', name: 'execute_code', input: { code: 'import time\ntimes = []\nfor n in range(400):\n    started = time.perf_counter()\n    ledger_read(last_n=1)\n    times.append((time.perf_counter() - started) * 1000)\nreturn sorted(times[50:])[175]' } }] }
  : { content: [{ type: 'text', text: JSON.stringify(request.messages.at(-1)?.content) }] }));
const worker = await startWorker({ url, schema: 'work_ledger', tools: [], log: pino({ level: 'silent' }), docker, model: createModelClient({ apiKey: 'k', baseURL: model.url }) });
const item = await db.workSubmit({ workType: 'bench', description: 'Bench' });
let ended = await db.workItem(item.id);
while (ended?.resolved_at === null) {
  await sleep(200);
  ended = await db.workItem(item.id);
}
const recorded = Number(/([\d.]+)\\n/.exec(String(ended?.outcome_data?.['summary']))?.[1]);
await worker.stop();
await model.close();
await db.close();
await stopEmbedded(dataDir);
await rm(dataDir, { recursive: true });

const ms = (value: number): string => `${value.toFixed(value < 10 ? 3 : 0)} ms`;
console.log(`first line, fresh container: ${ms(median(times.fresh))} (median of ${rounds})`);
console.log(`first line, waiting container: ${ms(median(times.warm))}, ${(median(times.warm) / median(times.fresh)).toFixed(3)} of fresh`);
console.log(`SDK call: ${ms(sdk)} p50; bare HTTP echo: ${ms(bare)}; ratio ${(sdk / bare).toFixed(2)}`);
console.log(`SDK call with its row (begun, run and settled in the database): ${ms(recorded)} p50`);
