// Any text is storable, wherever it comes from: what a model, a tool, code on its socket, a hook or an MCP server says reaches
// the rows with one character for NUL and one for half of a character; and what cannot be stored is the answer of that call.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { storableJson, storableText } from '../../../plv8/storable.ts';
import type { Runtime } from '../../../runtime/focus/focus.ts';
import { executeCode } from '../../../runtime/focus/runCode.ts';
import { runFocus } from '../../../runtime/focus/runFocus.ts';
import { StatedInputs } from '../../../runtime/focus/statedInputs.ts';
import { Watchers } from '../../../runtime/focus/watchers.ts';
import type { WorkItem } from '../../../runtime/ledger/answers.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { mcpTools } from '../../../runtime/tools/mcpTools.ts';
import { defineTool } from '../../../runtime/tools/tool.ts';
import type { Tool, ToolOutcome } from '../../../runtime/tools/tool.ts';
import { Leases } from '../../../runtime/worker/leases.ts';
import type { Code, CodeResult } from '../../../sandbox/codeSandbox.ts';
import { ServedDirectories } from '../../../sandbox/servedDirectories.ts';
import type { CodeCallAnswer } from '../../../sandbox/toolSocket.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

const odd = 'a\0b\ud800c\ude42';
const stored = 'a␀b\ufffdc\ufffd';
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

let database: TestDatabase;
let db: Db;
let directory: string;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'text-test-'));
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

type Call = { name: string; input: Record<string, unknown> };
type Row = { tool_name: string; status: string; attempts: number; result: string; value: unknown };
type Played = { item: WorkItem; kind: string; rows: Row[] };

/** One iteration in which the model makes a call, then one in which it ends; as a worker drives it, but for the container. */
async function play(
  call: Call,
  more: { tools?: Tool[]; code?: (code: Code) => Promise<Partial<CodeResult>>; hooks?: object } = {},
): Promise<Played> {
  const { tools = [], code, hooks } = more;
  await db.abilityRegister({ ...executeCode });
  for (const tool of tools) await db.abilityRegister({ ...tool, inputSchema: tool.inputSchema ?? z.toJSONSchema(tool.input as z.ZodType) });
  const name = `faculty ${randomUUID()}`;
  await db.facultySave({
    name,
    awareness: { enabled: false },
    ...(hooks && { hooks }),
    engage: {
      code_execution: true,
      tools: tools.map((tool) => tool.name),
      workspace: 'host',
      workspace_dir: directory,
      ledger_nudge_interval: 0,
    },
  });
  const item = await db.workSubmit({ workType: 'text', description: 'x', faculty: name });
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  let asked = 0;
  const log = pino({ level: 'silent' });
  const leases = new Leases({
    db,
    workerId: 'w',
    treeId: null,
    project: null,
    concurrency: 1,
    leaseSeconds: 60,
    host: '',
    daemon: () => null,
    isAtWork: () => true,
    log,
  });
  const run = async (given: Code): Promise<CodeResult> => ({
    verdict: 'ok',
    returned: null,
    error: null,
    output: '',
    durationMs: 1,
    ...(await code?.(given)),
  });
  const runtime: Runtime = {
    db,
    leases,
    directories: new ServedDirectories([directory]),
    watchers: new Watchers(db, log),
    inputs: new StatedInputs(),
    log,
    waits: new Map(),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    hooks: new Map(),
    modelFor: () => ({
      call: async () => ({
        kind: 'response',
        response: {
          id: `m${++asked}`,
          model: 'm',
          stopDetails: null,
          usage,
          requestId: null,
          durationMs: 1,
          stopReason: asked === 1 ? 'tool_use' : 'end_turn',
          content: [asked === 1 ? { type: 'tool_use', id: `t_${randomUUID()}`, ...call } : { type: 'text', text: 'Done.' }],
        },
      }),
    }),
    containers: () =>
      ({
        sandbox: () => ({ run, socketPath: '/s' }),
        workspace: () => null,
        release: async () => {},
        close: async () => {},
      }) as unknown as ReturnType<Runtime['containers']>,
  };
  const { kind } = await runFocus(item.id, runtime);
  const rows = await database.query<Row>(`
    select k.tool_name, k.status, k.attempts, coalesce(k.result #>> '{}', '') as result, k.value from ledger.tool_calls k where k.work_item_id = '${item.id}' order by k.parent_call_id is not null, k.ordinal`);
  return { item, kind, rows };
}
const wentOn = 'completed';
const tool = (execute: () => Promise<ToolOutcome>): Tool =>
  defineTool({ name: 'odd', description: 'Odd.', input: z.looseObject({}), effect: 'unsafe', risk: 'safe', execute });

test('every string, in text and in JSON, arrives as storableText() says', async () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('\0', '\ud800', '\udc00', '\\', 'u0000', '"'), fc.string({ unit: 'grapheme', maxLength: 3 })),
  });
  // JSON.parse of Node 24.21 takes one key with an escape for another of its length; that is not what is tested here.
  const key = text.map((given) => given.replaceAll(/["\\]/g, ''));
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.dictionary(key, tie('value')), fc.array(tie('value'))),
  })).value;
  const item = await db.workSubmit({ workType: 'text', description: 'x' });
  await fc.assert(
    fc.asyncProperty(text, json, async (words, value) => {
      expect(storableText(words)).toBe(words.replaceAll('\0', '␀').toWellFormed());
      expect((await db.ledgerAppend(item.id, 'note', `.${words}`)).content).toBe(`.${storableText(words)}`);
      const session = await db.journal.sessionCreate(`c${randomUUID()}`, 'x');
      const logged = await db.journal.log(session.id, 'thinking', { reasoning: 'x', value }, 'normal');
      expect(logged.content['value']).toEqual(JSON.parse(storableJson(value) ?? ''));
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['returns', { returned: odd }, new RegExp(`^${stored}\n`)],
  ['prints', { output: odd }, new RegExp(`^${stored}\n\\(printed`)],
  ['raises', { verdict: 'error', error: odd }, new RegExp(`^${stored}\n`)],
] as const)('code %s any text', async (_, result, shown) => {
  let runs = 0;
  const { kind, rows } = await play(
    { name: 'execute_code', input: { code: 'x' } },
    {
      code: async () => {
        runs++;
        return result;
      },
    },
  );
  expect(kind).toBe(wentOn);
  expect(rows).toEqual([expect.objectContaining({ tool_name: 'execute_code', attempts: 1, result: expect.stringMatching(shown) })]);
  expect(runs).toBe(1);
});

test("what code says on its socket is that call's: odd names, odd keys, JSON deeper than anything can take", async () => {
  const answers: CodeCallAnswer[] = [];
  const echo = tool(async () => ({ content: odd, isError: false }));
  const { kind, rows } = await play(
    { name: 'execute_code', input: { code: 'x' } },
    {
      tools: [echo],
      code: async ({ onCall }) => {
        for (const [ordinal, [name, input]] of (
          [
            [odd, {}],
            ['odd', { [odd]: odd }],
            ['odd', { a: deep(5000) }],
            ['odd', { a: deep(100_000) }],
            ['odd', {}],
          ] as const
        ).entries())
          answers.push(await onCall({ ordinal, name, input }));
        return { returned: 'over' };
      },
    },
  );
  expect(kind).toBe(wentOn);
  expect(answers).toEqual([
    { error: `there is no tool "${stored}" to call from code` },
    { value: stored },
    { error: expect.stringMatching(/^this call cannot be stored: /) },
    { error: expect.stringMatching(/^this call cannot be stored: /) },
    { value: stored },
  ]);
  expect(rows[0]?.result).toMatch(/^over\n/);
});

test('a tool answers odd text and odd JSON', async () => {
  const { rows } = await play(
    { name: 'odd', input: { [odd]: odd } },
    { tools: [tool(async () => ({ content: odd, isError: false, value: { [odd]: [odd] } }))] },
  );
  expect(rows).toMatchObject([{ status: 'completed', result: stored }]);
});

test.each([
  ['of the last call', {}, 'unsafe'],
  ['of a call that ran before its response was stored', {}, 'pure'],
  ['that a hook has seen', { after_tool: 'cat > /dev/null' }, 'unsafe'],
] as const)('a result %s that nests too deep is an error of the call', async (_, hooks, effect) => {
  const images = [{ media_type: 'image/png', data: 'iVBORw0KGgo=', more: deep(100_000) }] as never;
  const broken = await play(
    { name: 'odd', input: {} },
    { hooks, tools: [{ ...tool(async () => ({ content: 'x', isError: false, images })), effect }] },
  );
  expect(broken.kind).toBe(wentOn);
  expect(broken.rows).toMatchObject([
    {
      status: 'failed',
      attempts: 1,
      result: expect.stringMatching(/^\[engine\] The call or its result cannot be stored: .*It may have taken effect/),
    },
  ]);
});

test('hooks print any bytes, and JSON with any escapes', async () => {
  const print = (name: string, bytes: string): string => {
    writeFileSync(join(directory, name), bytes);
    return `cat ${join(directory, name)}`;
  };
  const echo = tool(async () => ({ content: 'x', isError: false }));
  const after = await play(
    { name: 'odd', input: {} },
    {
      tools: [echo],
      hooks: {
        before_tool: print('before', String.raw`{"input": {"k\u0000": "\ud800"}}`),
        after_tool: print('after', String.raw`{"content": "a\u0000b\ud800c\ude42"}`),
      },
    },
  );
  expect(after).toMatchObject({ kind: wentOn, rows: [{ status: 'completed', result: stored }] });
  const refused = await play(
    { name: 'odd', input: {} },
    { tools: [echo], hooks: { before_tool: `${print('raw', 'no \0\xff')}; ${print('raw', 'no \0\xff')} >&2; exit 1` } },
  );
  expect(refused).toMatchObject({ kind: wentOn, rows: [{ status: 'failed', result: expect.stringContaining('no') }] });
});

test('an MCP server answers with odd text and odd keys', async () => {
  const script = join(directory, 'server.mjs');
  await writeFile(
    script,
    `
import { createInterface } from 'node:readline';
const result = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  'tools/list': { tools: [{ name: 'odd', description: 'x', inputSchema: { type: 'object' } }] } };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const said = method === 'tools/call' ? { content: [{ type: 'text', text: 'ODD' }], structuredContent: { ODD: ['ODD'] } } : result[method] ?? {};
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: said }).replaceAll('ODD', ${JSON.stringify(String.raw`a\u0000b\ud800c\ude42`)}) + '\\n');
}`,
  );
  const mcp = await mcpTools({ mcpServers: { s: { command: process.execPath, args: [script] } } });
  try {
    const answers: CodeCallAnswer[] = [];
    const direct = await play({ name: 'mcp__s__odd', input: {} }, { tools: mcp.tools });
    expect(direct).toMatchObject({ kind: wentOn, rows: [{ status: 'completed', result: stored }] });
    await play(
      { name: 'execute_code', input: { code: 'x' } },
      {
        tools: mcp.tools,
        code: async ({ onCall }) => {
          answers.push(await onCall({ ordinal: 0, name: 'mcp__s__odd', input: {} }));
          return { returned: 'x' };
        },
      },
    );
    expect(answers).toEqual([{ value: { [stored]: [stored] } }]);
  } finally {
    await mcp.close();
  }
});

test('every argument of every function that takes text', async () => {
  const item = await db.workSubmit({
    workType: odd,
    description: odd,
    params: { [odd]: odd },
    dedupKey: odd,
    externalId: odd,
    idempotencyKey: odd,
  });
  expect(item).toMatchObject({ work_type: stored, description: stored });
  await db.facultySave({ name: 'odd', engage: { system_prompt: odd } });
  await db.abilityRegister({
    name: 'odd_sql',
    description: odd,
    inputSchema: { type: 'object', properties: { [odd]: { description: odd } } },
    effect: 'pure',
    risk: 'safe',
  });
  await db.workMessage(item.id, odd, false);
  await db.workPause(item.id, odd);
  expect(await db.abilityInvoke('ledger_append', { entry_type: 'note', content: odd }, item.id)).toMatchObject({ entry_type: 'note' });
  await db.leaseRenew({ workerId: odd, leases: [], host: odd, pid: 1, treeId: null, project: null, concurrency: 1, daemon: odd });
  await db.workerStop(odd);
  await db.sessionImport({
    format: 'codex',
    sessionId: odd,
    prompt: odd,
    tools: [odd],
    exchanges: [{ text: odd, calls: [{ id: odd, name: odd, input: { [odd]: odd }, result: odd }], said: odd }],
    raw: [{ line: 1, reason: odd, content: odd }],
  });
  const session = await db.journal.sessionOpen(odd, odd);
  expect(await db.journal.sessionActive(odd)).toMatchObject({
    id: session,
    conversationId: stored,
    originalPrompt: `An interactive session in ${stored}`,
  });
  expect(await db.workCancel(item.id, odd)).toMatchObject([{ state_reason: expect.stringContaining(stored) }]);
});
