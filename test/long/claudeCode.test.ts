// Claude Code itself with the plugin, against a model that says what this file tells it to: what is put in at the start of a
// session, tools by MCP, the journal that the hooks keep, and the session files of that very version imported.
// WORK_LEDGER_CLAUDE names its program (test/fetchClaude.sh fetches one).

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importFiles } from '../../runtime/commands/import.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

const claude = process.env['WORK_LEDGER_CLAUDE'] ?? '';
if (claude === '')
  console.warn('claudeCode.test.ts is skipped: WORK_LEDGER_CLAUDE is not set (test/fetchClaude.sh DIRECTORY fetches Claude Code)');

type Block = { type: string; [key: string]: unknown };
type Request = { model: string; stream?: boolean; tools?: { name: string }[]; messages: { role: string; content: string | Block[] }[] };
const run = promisify(execFile);
const plugin = fileURLToPath(new URL('../../plugin', import.meta.url));
const appendTool = 'mcp__plugin_work-ledger_work-ledger__ledger_append';
const use = (name: string, input: object): Block => ({ type: 'tool_use', id: `toolu_${Math.random().toString(36).slice(2)}`, name, input });

let database: TestDatabase;
let db: Db;
let root: string;
let work: string;
let model: Server;
const requests: Request[] = [];
const isWait = (message: Request['messages'][number]): boolean =>
  message.role === 'assistant' && JSON.stringify(message).includes('echo not yet');

/** What the model says next: the main session reads, notes and delegates; what it delegated runs a command. */
function reply({ messages, tools }: Request): Block[] {
  const all = JSON.stringify(messages);
  const exchange = messages.filter((message) => message.role === 'assistant' && !isWait(message)).length;
  if ((tools ?? []).length === 0) return [{ type: 'text', text: 'A title' }];
  if (all.includes('SUBTASK') && !all.includes('Delegate it'))
    return exchange === 0
      ? [{ type: 'text', text: 'I look.' }, use('Bash', { command: 'echo seen below', description: 'Look' })]
      : [{ type: 'text', text: 'SUB RESULT' }];
  if (!all.includes('Delegate it')) return [{ type: 'text', text: 'Done.' }];
  // The client does not wait for the tools of the plugin's server.
  if (exchange === 0 && !tools?.some(({ name }) => name === appendTool))
    return [use('Bash', { command: 'echo not yet', description: 'Wait for the tools' })];
  if (exchange === 0)
    return [
      { type: 'text', text: 'I read and note.' },
      use('Read', { file_path: join(work, 'a.txt') }),
      use(appendTool, { entry_type: 'finding', content: 'Seen by an interactive session' }),
    ];
  if (exchange === 1)
    return [
      use('Agent', { description: 'Look below', prompt: 'SUBTASK: look', subagent_type: 'general-purpose' }),
      use('Bash', { command: 'echo beside', description: 'Look' }),
    ];
  return [{ type: 'text', text: 'All done.' }];
}

function startModel(): Promise<Server> {
  const server = createServer((request, response) => void answer(request, response));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
    response.writeHead(404).end('{}');
    return;
  }
  const asked = JSON.parse(body) as Request;
  requests.push(asked);
  const content = reply(asked);
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${requests.length}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  if (!asked.stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...message, content, stop_reason }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (type: string, data: object = {}): unknown =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  say('message_start', { message });
  for (const [index, block] of content.entries()) {
    say('content_block_start', { index, content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} } });
    say('content_block_delta', {
      index,
      delta:
        block.type === 'text'
          ? { type: 'text_delta', text: block['text'] }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) },
    });
    say('content_block_stop', { index });
  }
  say('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
  say('message_stop');
  response.end();
}

/** One prompt, as somebody would type it who has only the plugin; the id of the session. */
async function prompt(words: string, ...args: string[]): Promise<string> {
  const running = run(
    claude,
    [
      '-p',
      words,
      '--plugin-dir',
      plugin,
      '--allowedTools',
      'Read',
      'Agent',
      'Bash(echo:*)',
      appendTool,
      '--output-format',
      'json',
      ...args,
    ],
    {
      cwd: work,
      env: {
        PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
        HOME: join(root, 'home'),
        DATABASE_URL: database.url,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
        ANTHROPIC_API_KEY: 'sk-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    },
  );
  running.child.stdin?.end();
  const said = JSON.parse((await running).stdout) as { is_error: boolean; session_id: string };
  expect(said).toMatchObject({ is_error: false });
  return said.session_id;
}
const told = (from: number): string => JSON.stringify(requests.slice(from).find(({ tools }) => (tools ?? []).length > 0)?.messages);

describe.skipIf(claude === '')('Claude Code', () => {
  beforeAll(async () => {
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    model = await startModel();
    root = await mkdtemp(join(tmpdir(), 'claude-test-'));
    work = join(root, 'project');
    for (const name of ['bin', 'home', 'project']) await mkdir(join(root, name));
    await writeFile(join(work, 'a.txt'), 'content of a');
    const main = fileURLToPath(new URL('../../runtime/main.ts', import.meta.url));
    await writeFile(join(root, 'bin', 'work-ledger'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  });
  afterAll(async () => {
    model?.close();
    await db?.close();
    await database?.drop();
    if (root) await rm(root, { recursive: true, force: true });
  });

  test.for(['plugin.json', 'marketplace.json'])('finds nothing wrong with the plugin: %s', async (manifest) => {
    const { stdout } = await run(claude, ['plugin', 'validate', join(plugin, '.claude-plugin', manifest)], {
      env: { PATH: process.env['PATH'], HOME: join(root, 'home') },
    });
    expect(stdout).toMatch(/Validation passed\s*$/);
  });

  test('shares notes and digest with background work, keeps a journal, and its sessions can be imported', async () => {
    const background = await db.workSubmit({ workType: 'analyze', description: 'Look at the import', workspaceDir: work });
    await db.ledgerAppend(background.id, 'finding', 'The import misses an index');

    const session = await prompt('Delegate it');
    expect(told(0)).toContain('The import misses an index');
    const results = requests.flatMap(({ messages }) =>
      messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [])),
    );
    expect(results.filter((result) => result['is_error'] === true)).toEqual([]);
    const [mine] = await database.query<{ work_item_id: string }>(
      `select work_item_id from ledger.work_ledger where content = 'Seen by an interactive session'`,
    );
    expect(await db.awarenessDigest(null)).toContain('Seen by an interactive session');
    const journal = () => db.journal.read(mine!.work_item_id, 0, null, null);
    // Some of its hooks are not waited for.
    const expected = ['session_start', 'user_feedback', 'file_read', 'tool_result', 'checkpoint'];
    await until(async () => {
      const types = new Set<string>((await journal()).map(({ entryType }) => entryType));
      return expected.every((type) => types.has(type));
    });

    // Another session in that directory is another work item, and is offered what the first one left.
    const before = requests.length;
    await prompt('What do we know?');
    expect(told(before)).toContain('Seen by an interactive session');

    const fork = await prompt('Another way', '--resume', session, '--fork-session');
    await prompt('Go on', '--resume', session);
    // What its server wrote, by the id that the client tells it, is with what its hooks wrote.
    expect(
      await database.query(
        `select description, params ->> 'conversationId' = '${session}' as is_first, id = '${mine!.work_item_id}' as is_noted from ledger.work_items where work_type = 'journal' order by id`,
      ),
    ).toEqual([
      { description: 'Delegate it', is_first: true, is_noted: true },
      { description: 'What do we know?', is_first: false, is_noted: false },
      { description: 'Another way', is_first: false, is_noted: false },
    ]);
    expect(
      await importFiles([join(root, 'home', '.claude', 'projects')], { databaseUrl: database.url, schema: 'ledger', json: true }),
    ).toBe(0);
    const sessions = await database.query<{ label: string; own: number; shared: number; tool: string | null }>(`
      select s.label, count(*) filter (where t.focus_id = f.id)::int as own, count(*) filter (where t.focus_id <> f.id)::int as shared, max(k.tool_name) as tool
        from ledger.sessions s join ledger.foci f on f.session_label = s.label left join ledger.tool_calls k on k.id = s.spawn_tool_call_id, ledger.turn_ancestry(s.head_turn_id) a join ledger.turns t using (id)
       where s.label like 'claude-code:${session}%' or s.label = 'claude-code:${fork}' group by s.label`);
    // Counted in what it was told: a request that a busy client repeats is answered twice and heard once.
    const waits = Math.max(...requests.map(({ messages }) => messages.filter(isWait).length));
    const line = (id: string) => sessions.find(({ label }) => label === `claude-code:${id}`);
    // The session and its fork begin with the same three turns, whoever was read first.
    expect([
      line(session)!.own + line(session)!.shared,
      line(fork)!.own + line(fork)!.shared,
      line(session)!.shared + line(fork)!.shared,
    ]).toEqual([4 + waits, 4 + waits, 3 + waits]);
    expect(sessions.filter(({ label }) => label.includes('#'))).toEqual([
      { label: expect.stringMatching(/#[0-9a-f]+$/), own: 2, shared: 0, tool: 'Agent' },
    ]);
  });
});
