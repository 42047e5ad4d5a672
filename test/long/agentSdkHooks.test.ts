// The hooks and tools of runtime/agentSdk/ in the Claude Agent SDK itself, whose client asks a model that says what this file tells it to.
// WORK_LEDGER_AGENT_SDK names the folder in whose node_modules the SDK is (test/fetchAgentSdk.sh fetches it).

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { clientOf } from '../../runtime/client.ts';
import { ledgerHooks } from '../../runtime/agentSdk/hooks.ts';
import { ledgerTools } from '../../runtime/agentSdk/tools.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { answerWith, use } from '../claudeClient.ts';
import type { Block, Request } from '../claudeClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

const sdk = process.env['WORK_LEDGER_AGENT_SDK'] ?? '';
if (sdk === '')
  console.warn(
    'agentSdkHooks.test.ts is skipped: WORK_LEDGER_AGENT_SDK is not set (test/fetchAgentSdk.sh DIRECTORY fetches the Claude Agent SDK)',
  );

type Query = (asked: { prompt: string; options: object }) => AsyncIterable<{ type: string; subtype?: string; session_id?: string }>;
const run = promisify(execFile);
const toolOf = (name: string): string => `mcp__work-ledger__${name}`;
const require = createRequire(join(sdk, 'package.json'));

let database: TestDatabase;
let db: Db;
let query: Query;
let root: string;
let model: Server;
const requests: Request[] = [];
/** By prompt: what the model says, response by response; before each, something may happen elsewhere. */
const scripts: Record<string, (() => Block[] | Promise<Block[]>)[]> = {};

/** The prompt that was given last: what is told of others has prompts, too. */
function promptIn({ messages }: Request): { prompt: string; at: number } | undefined {
  const own = messages.map(({ role, content }) => {
    const texts = typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? String(block['text']) : ''));
    return role === 'user' ? Object.keys(scripts).find((prompt) => texts.some((one) => one.trim() === prompt)) : undefined;
  });
  const at = own.findLastIndex((prompt) => prompt !== undefined);
  return at === -1 ? undefined : { prompt: own[at]!, at };
}

async function reply(request: Request): Promise<Block[]> {
  const { prompt = '', at = 0 } = promptIn(request) ?? {};
  const said = request.messages.slice(at).filter(({ role }) => role === 'assistant').length;
  return (await scripts[prompt]?.[said]?.()) ?? [{ type: 'text', text: 'Done.' }];
}

/** One query of a program; what its requests said. */
async function ask(
  prompt: string,
  options: object,
  ...script: (() => Block[] | Promise<Block[]>)[]
): Promise<{ id: string; said: string[] }> {
  scripts[prompt] = script;
  let id = '';
  for await (const message of query({ prompt, options: { ...base(), ...options } })) {
    id = message.session_id ?? id;
    if (message.type === 'result') expect(message.subtype).toBe('success');
  }
  return {
    id,
    said: requests.filter((request) => promptIn(request)?.prompt === prompt).map(({ messages }) => JSON.stringify(messages)),
  };
}
const base = (): object => ({
  cwd: join(root, 'work'),
  model: 'claude-sonnet-5-5',
  permissionMode: 'bypassPermissions',
  allowDangerouslySkipPermissions: true,
  hooks: ledgerHooks({ ledger: clientOf(db, ''), patience: 60_000 }),
  mcpServers: { 'work-ledger': { ...ledgerTools({ ledger: clientOf(db, '') }), alwaysLoad: true } },
  env: {
    PATH: process.env['PATH'],
    HOME: join(root, 'home'),
    CLAUDE_CONFIG_DIR: join(root, 'config'),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
    ANTHROPIC_API_KEY: 'sk-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    ENABLE_TOOL_SEARCH: 'false', // tools are there without a search
    IS_SANDBOX: '1', // tests may run as root
  },
});
const path = (name: string): string => join(root, 'work', name);
const echo = (words: string): Block => use('Bash', { command: `echo ${words}`, description: 'Look' });

describe.skipIf(sdk === '')('the Claude Agent SDK', () => {
  beforeAll(async () => {
    ({ query } = (await import(pathToFileURL(require.resolve('@anthropic-ai/claude-agent-sdk')).href)) as { query: Query });
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    root = await mkdtemp(join(tmpdir(), 'agent-sdk-test-'));
    for (const name of ['home', 'work', 'config']) await mkdir(join(root, name));
    await writeFile(path('a.txt'), 'one');
    model = createServer((request, response) => {
      void (async () => {
        const body = await text(request);
        if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
          response.writeHead(404).end('{}');
          return;
        }
        const asked = JSON.parse(body) as Request;
        const isTitle = (asked.tools ?? []).length === 0;
        if (!isTitle) requests.push(asked);
        answerWith(response, asked, isTitle ? [{ type: 'text', text: 'A title' }] : await reply(asked));
      })();
    });
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    model?.closeAllConnections();
    model?.close();
    await db?.close();
    await database?.drop();
    if (root) await rm(root, { recursive: true, force: true });
  });

  test('a session hears of others in the very next request, its tools act for it, and it rests when it stops', async () => {
    const till = (await db.workSubmit({ workType: 'till', description: 'Mend the till', workspaceDir: join(root, 'work') })).id;
    await db.ledgerAppend(till, 'decision', 'The till is closed');
    const itemOf = async (): Promise<string> =>
      (
        await database.query<{ id: string }>(
          `select id from ledger.work_items where work_type = 'journal' order by created_at desc limit 1`,
        )
      )[0]!.id;
    const { id, said } = await ask(
      'ALPHA works',
      {},
      () => [echo('one')],
      async () => {
        await db.ledgerAppend(till, 'finding', 'The drawer sticks');
        await db.workMessage(await itemOf(), 'Look at the spring', false);
        return [echo('two')];
      },
      () => [use(toolOf('ledger_append'), { entry_type: 'finding', content: 'Seen by alpha' })],
    );
    expect(said[0]).toContain('The till is closed');
    expect(said[1]).not.toMatch(/The drawer sticks|Look at the spring/);
    expect(said[2]).toContain('The drawer sticks');
    expect(said[2]).toContain('Look at the spring');
    expect(said[3]?.split('The drawer sticks').length).toBe(2);
    const sessions = await database.query<{ id: string; status: string; description: string; own: number }>(
      `select s.id, s.status, w.description, (select count(*)::int from ledger.work_ledger l where l.work_item_id = w.id and l.content = 'Seen by alpha') as own
         from ledger.work_sessions s join ledger.work_items w using (id) where w.work_type = 'journal'`,
    );
    expect(sessions).toEqual([{ id: expect.any(String), status: 'paused', description: 'ALPHA works', own: 1 }]);
    const types = (await db.journal.read(sessions[0]!.id, 0, null, null)).map(({ entryType }) => entryType);
    expect(types).toEqual(expect.arrayContaining(['user_feedback', 'tool_result', 'checkpoint']));

    // Resumed by a query of its own: the same work item, and nothing is told twice.
    const again = await ask('ALPHA goes on', { resume: id });
    expect(again.id).toBe(id);
    expect(again.said.at(-1)?.split('The drawer sticks').length).toBe(2);
    expect((await database.query(`select from ledger.work_items where work_type = 'journal'`)).length).toBe(1);
  });

  test('who holds a file is told of with the edit, and denies it where the project says so', async () => {
    const holder = await db.journal.sessionOpen('holder', '/elsewhere', null);
    await database.query(
      `select ledger.claim_check('${holder}', array['${path('a.txt')}']), ledger.journal_session_prompt('${holder}', 'Round at the edge')`,
    );
    const edit = (from: string, to: string) => [
      () => [use('Read', { file_path: path('a.txt') })],
      () => [use('Edit', { file_path: path('a.txt'), old_string: from, new_string: to })],
    ];
    const warned = await ask('BETA edits', {}, ...edit('one', 'two'));
    expect(warned.said.at(-1)).toMatch(/\[claim\] Another session changed a\.txt .*Round at the edge/);
    expect(await readFile(path('a.txt'), 'utf8')).toBe('two');
    await database.query(
      `select ledger.project_set(project, 'refuse') from ledger.work_items where params ->> 'conversationId' = '${warned.id}'`,
    );
    const denied = await ask('GAMMA edits', {}, ...edit('two', 'three'));
    expect(denied.said.at(-1)).toMatch(/\[claim\] Not executed: Another session holds a\.txt/);
    expect(await readFile(path('a.txt'), 'utf8')).toBe('two');
    await db.journal.sessionStatus(holder, 'completed');
    await database.query(
      `select ledger.project_set(project, 'warn') from ledger.work_items where params ->> 'conversationId' = '${warned.id}'`,
    );
  });

  test('a subagent is told of others when it begins, and a list of tasks is a plan', async () => {
    const bell = await db.workSubmit({ workType: 'bell', description: 'Mend the bell', workspaceDir: join(root, 'work') });
    await db.ledgerAppend(bell.id, 'decision', 'The bell is silent');
    const { id, said } = await ask(
      'DELTA delegates',
      { tools: ['Agent', 'TaskCreate', 'TaskUpdate'] }, // the list of tasks is there where it is asked for
      () => [
        use('TaskCreate', { subject: 'Make the copy', description: 'Make it' }),
        use('TaskCreate', { subject: 'Prove it', description: 'Prove it' }),
      ],
      () => [use('Agent', { description: 'Look below', prompt: 'SUBTASK looks', subagent_type: 'general-purpose' })],
      () => [use('TaskUpdate', { taskId: '1', status: 'completed' })],
    );
    const sub = requests
      .map(({ messages }) => JSON.stringify(messages))
      .filter((one) => one.includes('SUBTASK looks') && !one.includes('DELTA delegates'));
    expect(sub[0]).toContain('The bell is silent');
    expect(said.length).toBeGreaterThan(3);
    expect(
      await database.query(
        `select p.n, p.text, p.state from ledger.v_plan p join ledger.work_sessions s on s.id = p.work_item_id where s.conversation_id = '${id}' order by p.n`,
      ),
    ).toEqual([
      { n: 1, text: 'Make the copy', state: 'done' },
      { n: 2, text: 'Prove it', state: 'open' },
    ]);
  });

  test('queries of one program at once are sessions of their own', async () => {
    const shared = base();
    const both = await Promise.all(
      ['EPSILON', 'ZETA'].map((who) =>
        ask(
          `${who} notes`,
          shared,
          () => [echo(who)],
          () => [use(toolOf('ledger_append'), { entry_type: 'finding', content: `Seen by ${who}` })],
        ),
      ),
    );
    expect(
      await database.query(
        `select s.conversation_id as id, l.content from ledger.work_sessions s join ledger.work_ledger l on l.work_item_id = s.id
          where l.content in ('Seen by EPSILON', 'Seen by ZETA') order by l.content`,
      ),
    ).toEqual([
      { id: both[0]!.id, content: 'Seen by EPSILON' },
      { id: both[1]!.id, content: 'Seen by ZETA' },
    ]);
  });

  test('its types take them', async () => {
    // Below this tree, so that its own types are found.
    const build = fileURLToPath(new URL('../../build/', import.meta.url));
    await mkdir(build, { recursive: true });
    const folder = await mkdtemp(join(build, 'agent-sdk-types-'));
    await writeFile(
      join(folder, 'types.ts'),
      `import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { ledgerHooks } from '../../runtime/agentSdk/hooks.ts';
import { ledgerTools } from '../../runtime/agentSdk/tools.ts';
export const options: Options = { hooks: ledgerHooks(), mcpServers: { 'work-ledger': ledgerTools() } };
// @ts-expect-error -- the SDK's types are there, and refuse what does not fit
export const none: Options = { hooks: { Stop: [{ hooks: [() => 'no'] }] } };
`,
    );
    const declared = join(sdk, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts');
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions: {
          noEmit: true,
          incremental: false,
          rootDir: '/',
          typeRoots: ['../../node_modules/@types'],
          paths: { '@anthropic-ai/claude-agent-sdk': [declared] },
        },
        include: [],
        files: ['types.ts'],
      }),
    );
    await run('tsc', ['-p', folder]).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
    await rm(folder, { recursive: true });
  });
});
