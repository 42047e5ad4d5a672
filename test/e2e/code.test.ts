// execute_code on a real daemon, driven by a real worker: the agent's code calls its tools by the same way as the model does,
// only its answer enters the context, and code that is interrupted repeats nothing.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import type { WorkItem } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import { defineTool, failed, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { LABEL, ownerLabel } from '../../sandbox/sandboxContainer.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { docker, noDocker } from '../docker.ts';
import { call, calls, done, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: Worker;
let directory: string;
const counted: number[] = [];
const roles: Record<string, (seen: Seen) => ScriptedReply> = {};
let onCount: ((n: number) => void) | undefined;

const count = defineTool({
  name: 'count',
  description: 'Counts.',
  input: z.strictObject({ n: z.int(), and: z.string().optional() }),
  effect: 'unsafe',
  risk: 'moderate',
  execute: async ({ n }) => {
    counted.push(n);
    onCount?.(n);
    return n < 0 ? failed('count from 0; use a number that is not negative') : ok(`counted ${n}`);
  },
});

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'code-test-'));
  model = await startTeam(roles);
  await start();
});
afterAll(async () => {
  await worker?.stop();
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});
const start = async (): Promise<void> => {
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [...builtinTools, count],
    log: pino({ level: 'silent' }),
    concurrency: 4,
    graceSeconds: 0,
    docker: noDocker === null ? docker : null,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
};

let number = 0;
async function submit(code: string, more: { engage?: object; hooks?: object; timeout?: number } = {}): Promise<WorkItem> {
  const name = `coder ${++number}:`;
  roles[name] = ({ exchange, results }) =>
    exchange === 0
      ? calls(call('execute_code', { code, ...(more.timeout && { timeout_seconds: more.timeout }) }))
      : done(results.join('|'));
  const { engage, timeout: _, ...rest } = more;
  await db.facultySave({
    name,
    awareness: { enabled: false },
    ...rest,
    engage: {
      code_execution: true,
      workspace: 'host',
      workspace_dir: directory,
      tools: ['read_file', 'write_file', 'edit_file', 'bash', 'grep', 'glob', 'count'],
      ledger_nudge_interval: 0,
      ...engage,
    },
  });
  return db.workSubmit({ workType: 'code', description: `${name} compute`, faculty: name });
}
/** What the model was shown of the code's end. */
async function answered(item: WorkItem): Promise<string> {
  await until(async () => (await db.workItem(item.id))?.resolved_at);
  return String((await db.workItem(item.id))?.outcome_data?.['summary']);
}
const run = async (code: string, more: Parameters<typeof submit>[1] = {}): Promise<string> => answered(await submit(code, more));
/** Lets code go on that waits for /tmp/go, in all containers of a worker. */
async function go(workerPid: number): Promise<void> {
  for (const { Id } of await docker.listContainers({ filters: { label: [`${LABEL}=${ownerLabel(workerPid)}`] } })) {
    await docker
      .getContainer(Id)
      .exec({ Cmd: ['touch', '/tmp/go'] })
      .then((touch) => touch.start({ Detach: true }))
      .catch(() => {}); // it may be over
  }
}
type Row = { tool_name: string; ordinal: number; status: string; attempts: number; is_nested: boolean; result: string; input: unknown };
const rows = (item: WorkItem) =>
  database.query<Row>(`
  select tool_name, ordinal, status, attempts, parent_call_id is not null as is_nested, result #>> '{}' as result, input
    from ledger.tool_calls where work_item_id = '${item.id}' order by parent_call_id is not null, ordinal`);

describe.skipIf(noDocker !== null)('execute_code', () => {
  test("threads of code that edit one file lose no edit, beside an edit of the model's own", async () => {
    const name = `coder ${++number}:`;
    const code = `
from concurrent.futures import ThreadPoolExecutor
def edit(n):
    return edit_file('threads.txt', 'line %d.' % n, 'edited %d.' % n)
with ThreadPoolExecutor(6) as pool:
    return list(pool.map(edit, range(12)))`;
    await writeFile(
      join(directory, 'threads.txt'),
      [...Array.from({ length: 14 }, (_, n) => `line ${n}.\n`), 'x'.repeat(2_000_000)].join(''),
    );
    roles[name] = ({ exchange, results }) =>
      exchange === 0
        ? calls(
            ...[12, 13].map((n) => call('edit_file', { path: 'threads.txt', old_string: `line ${n}.`, new_string: `edited ${n}.` })),
            call('execute_code', { code }),
          )
        : done(results.join('|'));
    await db.facultySave({
      name,
      awareness: { enabled: false },
      engage: { code_execution: true, workspace: 'host', workspace_dir: directory, tools: ['edit_file'], ledger_nudge_interval: 0 },
    });
    const item = await db.workSubmit({ workType: 'code', description: `${name} compute`, faculty: name });
    expect(await answered(item)).not.toContain('somebody else');
    expect((await readFile(join(directory, 'threads.txt'), 'utf8')).split('\n').slice(0, 14)).toEqual(
      Array.from({ length: 14 }, (_, n) => `edited ${n}.`),
    );
  });

  test('the samples of the design run: output filtered, steps composed, only the answer returned', async () => {
    await writeFile(join(directory, 'config.rs'), 'fn main() {\n    timezone = "UTC",\n}\n');
    await writeFile(
      join(directory, 'suite.sh'),
      'for i in $(seq 1 5000); do echo "test case $i ... ok"; done; echo "test last ... FAILED" >&2; exit 1\n',
    );
    expect(
      await run(`
result = bash("sh suite.sh", timeout=120)
if result.exit_code == 0:
    return f"All {result.line_count} lines of test output passed."
else:
    failures = [l for l in result.stderr.split('\\n') if 'FAILED' in l or 'error' in l]
    return f"Tests failed ({result.exit_code}) after {result.line_count} lines:\\n" + '\\n'.join(failures[:20])
`),
    ).toMatch(
      /^Tests failed \(1\) after 5000 lines:\ntest last \.\.\. FAILED\n\n\[code: 1 call, \d{6} bytes seen, 55 returned \(\d{4} : 1\), [\d.]+ s; raw outputs: artifact_read\("[0-9a-f]{16}"\)\]$/,
    );
    expect(
      await run(`
matches = grep(r"timezone\\s*=", "config.rs")
if not matches:
    return "No timezone field found in config.rs"
edit_file("config.rs", matches[0].content, '    timezone: "America/New_York",')
test = bash("cat config.rs", timeout=60)
return f"Fixed timezone on line {matches[0].line} of {matches[0].path}: {test.stdout.splitlines()[1].strip()}; {glob('*.rs')}; {len(read_file('config.rs'))}"
`),
    ).toMatch(/^Fixed timezone on line 2 of config\.rs: timezone: "America\/New_York",; \['config\.rs'\]; 48\n/);
    expect(await readFile(join(directory, 'config.rs'), 'utf8')).toContain('America/New_York');
    expect(await run('search = bash("sleep 30", timeout=1)\nreturn {"timed_out": search.timed_out, "ok": search.exit_code == 0}')).toMatch(
      /^\{"timed_out": true, "ok": false\}\n/,
    );
  });

  test('the ledger and children from code; a step recorded there closes the block', async () => {
    const item = await submit(`
first = ledger_append("finding", "It is blue")
ledger_append("step", "Looked at the colour")
child = spawn_child_work("later", "Look again")
return [first, ledger_read("finding"), len(child), check_child_work([child])[0]["state"], recall_block.__doc__[:10]]`);
    expect(await answered(item)).toMatch(
      /^\[\{"seq": 1, "entry_type": "finding"\}, \[\{"seq": 1, "content": "It is blue", "entry_type": "finding"\}\], 36, "queued", "Bring back"\]\n/,
    );
    const [step] = await database.query<{ n: number }>(
      `select count(*)::int as n from ledger.work_ledger l join ledger.tool_calls k on k.id = l.tool_call_id where l.work_item_id = '${item.id}' and k.parent_call_id is not null`,
    );
    expect(step?.n).toBe(2);
    const blocks = await database.query<{ block: number }>(
      `select block from ledger.turns where work_item_id = '${item.id}' and status = 'completed' order by depth`,
    );
    expect(blocks.map((turn) => turn.block)).toEqual([1, 2]);
  });

  test('errors are exceptions that say what to do; nobody to call is one too', async () => {
    expect(await run('try:\n    count(-1)\nexcept ToolError as error:\n    return str(error)')).toMatch(
      /^count from 0; use a number that is not negative\n/,
    );
    expect(await run('x = 1\ncount("many")')).toMatch(
      /^Traceback.*line 2.*ToolError: \[engine\] The input does not match the schema of count/s,
    );
    expect(await run('return [name for name in ("await_child_work", "work_complete", "execute_code") if name in globals()]')).toMatch(
      /^\[\]\n/,
    );
  });

  test('what a hook made of a call and a person approved runs, whatever the code says when it runs again', async () => {
    const input = { n: 71, and: 'postgresql://app:hunterhunter@db.example/app' };
    const guard = `if grep -q '"tool":"count"'; then printf '%s' '${JSON.stringify({ input })}'; fi`; // not execute_code's
    const item = await submit('return count(17, "x")', { engage: { require_approval: 'moderate' }, hooks: { before_tool: guard } });
    await until(async () => (await db.approvals()).length === 1);
    await db.toolCallApprove((await db.approvals())[0]!.tool_call_id);
    expect(await answered(item)).toMatch(/^counted 71\n/);
    expect(counted.filter((n) => n === 17 || n === 71)).toEqual([71]);
  });

  test('the same call from the model and from code: same row, same approval, same hooks', async () => {
    const guard = `cat >> ${directory}/hooked; echo >> ${directory}/hooked`;
    const more = { engage: { require_approval: 'moderate' }, hooks: { before_tool: guard, after_tool: guard } };
    const inCode = await submit('return count(7, "x")', more);
    await until(async () => (await db.approvals()).length === 1);
    await until(async () => (await database.query(`select from graphile_worker.jobs`)).length === 0); // nobody waits for the person
    expect(await rows(inCode)).toMatchObject([
      { tool_name: 'execute_code', status: 'waiting' },
      { tool_name: 'count', status: 'waiting', is_nested: true },
    ]);
    expect((await db.workItem(inCode.id))?.state_reason).toBe('waits for approval of count');
    const [asked] = await db.approvals();
    expect(asked).toMatchObject({ tool_name: 'count', risk: 'moderate', input: { n: 7, and: 'x' } });
    expect(counted).not.toContain(7);
    await db.toolCallApprove(asked!.tool_call_id);
    expect(await answered(inCode)).toMatch(/^counted 7\n/);
    expect(counted.filter((n) => n === 7)).toHaveLength(1);

    const name = 'direct:';
    roles[name] = ({ exchange, results }) => (exchange === 0 ? calls(call('count', { n: 7, and: 'x' })) : done(results.join('|')));
    await db.facultySave({
      name,
      awareness: { enabled: false },
      hooks: more.hooks,
      engage: { tools: ['count'], require_approval: 'moderate' },
    });
    const direct = await db.workSubmit({ workType: 'code', description: `${name} count`, faculty: name });
    await until(async () => (await db.approvals()).length === 1);
    await db.toolCallApprove((await db.approvals())[0]!.tool_call_id);
    await answered(direct);
    const of = async (item: WorkItem) =>
      (await rows(item)).filter((row) => row.tool_name === 'count').map((row) => ({ ...row, is_nested: null }));
    expect(await of(inCode)).toEqual(await of(direct));
    const hooked = (await readFile(join(directory, 'hooked'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const about = (item: WorkItem) =>
      hooked
        .filter((one) => one['work_item_id'] === item.id && one['tool'] === 'count')
        .map(({ hook, tool, input, result }) => ({ hook, tool, input, result }));
    expect(about(inCode)).toHaveLength(2);
    expect(about(inCode)).toEqual(about(direct));
  });

  test('code that calls 40 tools and is interrupted after 25 goes on: 25 answered from the record, none repeated', async () => {
    counted.length = 0;
    const stopping = new Promise<void>((resolve) => {
      onCount = (n) => {
        if (n === 24) resolve();
      };
    });
    const item = await submit(
      'import time\nfor n in range(40):\n    count(n)\n    while n == 24 and not os.path.exists("/tmp/go"): time.sleep(0.05)\nreturn "all"',
    );
    await stopping;
    await until(async () => (await rows(item)).filter((row) => row.is_nested && row.status === 'completed').length === 25);
    onCount = undefined;
    await worker.stop();
    expect((await rows(item))[0]).toMatchObject({ tool_name: 'execute_code', attempts: 1 });
    await start();
    await until(async () => {
      await go(process.pid);
      return (await db.workItem(item.id))?.resolved_at;
    });
    expect(await answered(item)).toMatch(/^all\n\n\[code: 40 calls/);
    expect(counted).toEqual(Array.from({ length: 40 }, (_, n) => n));
    const all = await rows(item);
    expect(all[0]).toMatchObject({ tool_name: 'execute_code', status: 'completed', attempts: 2 });
    expect(all.slice(1).map((row) => row.attempts)).toEqual(Array<number>(40).fill(1));
  });

  test('code that does something else when it is run again is stopped', async () => {
    counted.length = 0;
    // until it is stopped; the second time it does not come so far
    const item = await submit('import random, time\ncount(random.randrange(1000000000))\ntime.sleep(600)\nreturn "all"');
    await until(() => Promise.resolve(counted.length === 1));
    await worker.stop();
    await start();
    expect(await answered(item)).toMatch(
      /^\[engine\] The code was interrupted and run again, but did not do the same as before: call 1 of the code was count \{"n": ?\d+\} when it ran before, and is count/,
    );
    expect(counted).toHaveLength(1);
  });

  test('what the model is told when code goes wrong', async () => {
    const answers = await Promise.all([
      run('def f(:'),
      run('while True: pass', { timeout: 1 }),
      run('import os\nos._exit(3)'),
      run('print("half")\nraise ValueError("no")'),
      run('x = 1'),
      run('print("only printed")'),
      run('x = []\nwhile True: x.append("a" * 10_000_000)', { engage: { code_execution_memory: '64m', code_execution_pool: 0 } }),
      run('return 1', { engage: { code_execution_image: 'no-such-image', code_execution_pool: 0 } }),
    ]);
    expect(answers.map((answer) => answer.split('\n\n[code:')[0])).toEqual([
      expect.stringContaining('SyntaxError: invalid syntax'),
      'The code was killed after 1 seconds.',
      'The code ended its own process with exit code 3, and returned nothing.',
      expect.stringMatching(/ValueError: no\n\nIt had printed:\nhalf$/),
      '(the code returned nothing)',
      'only printed\n(printed; the code returned nothing)',
      expect.stringMatching(/^The code used up its memory of 64 MiB|^MemoryError/),
      expect.stringMatching(/^\[engine\] The code did not run.*there is no image no-such-image.*not a fault in the code/),
    ]);
  });

  test('what large outputs were made of can be read again by the handle', async () => {
    const item = await submit('bash("seq 1 20000")\nreturn "looked"');
    const handle = /artifact_read\("([0-9a-f]{16})"\)/.exec(await answered(item))?.[1];
    const [read] = await database.query<{ text: string }>(`select ledger.artifact_read('${handle}', '15001-15003') as text`);
    expect(read?.text).toContain('15000');
  });

  test('of a secret at which an output or an input is cut, no half is kept', async () => {
    const key = ['sk', 'ant', 'api03', 'aB3_'.repeat(10)].join('-');
    const item = await submit(`ledger_append("note", "x" * 1940 + " ${key} ")\nprint("${key}" + "." * 1985)\nraise ValueError("so")`);
    const answer = await answered(item);
    expect(answer).toMatch(/It had printed:\n\S*\.{1985}/);
    expect(answer).not.toContain('aB3_');
    const handle = /artifact_read\("([0-9a-f]{16})"\)/.exec(answer)?.[1];
    const [read] = await database.query<{ text: string }>(`select ledger.artifact_read('${handle}', '1-5') as text`);
    expect(read?.text).toMatch(/x{1000}/);
    expect(read?.text).not.toContain('sk-ant');
  });

  test('secrets of the worker are nowhere: not inside, not in what the daemon knows, not in rows, not in logs', async () => {
    await worker.stop();
    const secret = `canary-${crypto.randomUUID()}`;
    const process = await startWorkerProcess({ url: database.url, modelUrl: model.url, apiKey: secret, args: ['--log-level', 'debug'] });
    const item = await submit(
      `
import subprocess
ledger_append("note", "environment: " + repr(dict(os.environ)))
everything = subprocess.run(["sh", "-c", "grep -las '[c]anary-' /proc/*/environ /proc/*/cmdline; grep -rlas '[c]anary-' /run /tmp /etc /home"], capture_output=True, text=True).stdout.split()
time = __import__("time")
while not os.path.exists("/tmp/go"): time.sleep(0.05)
return [everything, bash("env").stdout]`,
      { timeout: 600 },
    );
    const seen = new Set<string>();
    await until(async () => (await db.ledgerRead(item.id, 'note', null)).length > 0);
    for (const { Id } of await docker.listContainers({ all: true }))
      seen.add(
        JSON.stringify(
          await docker
            .getContainer(Id)
            .inspect()
            .catch(() => null),
        ),
      );
    expect([...seen].join('')).toContain(`"${LABEL}":"${ownerLabel(process.pid)}"`); // the one in which its code is
    await until(async () => {
      await go(process.pid);
      return (await db.workItem(item.id))?.resolved_at;
    });
    expect([...seen].join('')).not.toContain(secret);
    expect(await answered(item)).toMatch(/^\[\[\], /);
    await until(() => process.log().includes('iteration over')); // said when the item is over
    expect(process.log()).not.toContain(secret);
    await process.end('SIGTERM');
    const tables = await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind = 'r'`,
    );
    for (const { name } of tables)
      expect(await database.query(`select from ledger.${name} t where t::text like '%${secret}%'`)).toEqual([]);
    await start();
  });

  test('nothing is left behind: no container, no socket', async () => {
    await worker.stop();
    expect(await docker.listContainers({ all: true, filters: { label: [`${LABEL}=${ownerLabel()}`] } })).toEqual([]);
    await start();
  });
});
