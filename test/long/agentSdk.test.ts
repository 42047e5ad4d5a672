// The SessionStore in the Claude Agent SDK itself, whose client asks a model that says what this file tells it to: a session is kept as it
// runs, is understood as one item, and goes on on another host. WORK_LEDGER_AGENT_SDK names the folder in whose node_modules the SDK is
// (test/fetchAgentSdk.sh fetches it).

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { clientOf } from '../../runtime/client.ts';
import { ledgerSession } from '../../runtime/agentSdk/index.ts';
import type { LedgerSessionStore } from '../../runtime/agentSdk/index.ts';
import type { FoldSessionSummary, SessionStore } from '../../runtime/agentSdk/sdkTypes.ts';
import { importFile } from '../../runtime/import/importFile.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { answerWith, use } from '../claudeClient.ts';
import type { Block, Request } from '../claudeClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

const folder = process.env['WORK_LEDGER_AGENT_SDK'] ?? '';
if (folder === '')
  console.warn(
    'agentSdk.test.ts is skipped: WORK_LEDGER_AGENT_SDK is not set (test/fetchAgentSdk.sh DIRECTORY fetches the Claude Agent SDK)',
  );

type Message = { type: string; subtype?: string; session_id?: string; result?: string; error?: string };
type Sdk = {
  query(asked: { prompt: string; options: object }): AsyncIterable<Message>;
  foldSessionSummary: FoldSessionSummary;
  listSessions(options: object): Promise<{ sessionId: string; summary: string }[]>;
  getSessionMessages(id: string, options: object): Promise<{ type: string }[]>;
  importSessionToStore(id: string, store: SessionStore, options: object): Promise<void>;
};

let sdk: Sdk;
let database: TestDatabase;
let db: Db;
let root: string;
let work: string;
let model: Server;
const requests: Request[] = [];

/** What the model says instead, while a test needs it. */
let script: ((request: Request) => Promise<Block[]>) | undefined;

/** A command first, then the end; a subagent where one is asked for. */
function reply({ messages }: Request): Block[] {
  const all = JSON.stringify(messages);
  const last = JSON.stringify(messages.findLast(({ role }) => role === 'user'));
  if (last.includes('tool_result')) return [{ type: 'text', text: all.includes('LOOK BELOW') ? 'Seen below.' : 'Said hello.' }];
  if (last.includes('LOOK BELOW')) return [use('Bash', { command: 'echo below', description: 'Look' })];
  if (last.includes('Delegate')) return [use('Agent', { description: 'Look', prompt: 'LOOK BELOW', subagent_type: 'general-purpose' })];
  if (!/Say hello|And again/.test(last)) return [{ type: 'text', text: 'Heard.' }];
  return [{ type: 'text', text: 'I look first.' }, use('Bash', { command: `echo hello ${messages.length}`, description: 'Say hello' })];
}

async function ask(
  prompt: string,
  host: string,
  options: object,
  onMirrorError = (error: string): unknown => expect.fail(error),
): Promise<string> {
  let id = '';
  for await (const message of sdk.query({
    prompt,
    options: {
      cwd: work,
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      model: 'claude-sonnet-5-5',
      sessionStoreFlush: 'eager',
      env: {
        PATH: process.env['PATH'],
        HOME: join(root, 'home'),
        CLAUDE_CONFIG_DIR: join(root, host),
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
        ANTHROPIC_API_KEY: 'sk-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        IS_SANDBOX: '1',
      },
      ...options,
    },
  })) {
    id = message.session_id ?? id;
    if (message.type === 'result') expect(message).toMatchObject({ subtype: 'success' });
    if (message.subtype === 'mirror_error') onMirrorError(message.error ?? '');
  }
  return id;
}

const itemsOf = (id: string) =>
  database.query<{ id: string; work_type: string; state: string; description: string; turns: number; calls: number; open: number }>(`
    select w.id, w.work_type, w.state, w.description, (select count(*)::int from ledger.turns t where t.work_item_id = w.id and t.turn_type = 'normal') as turns,
           (select count(*)::int from ledger.tool_calls k where k.work_item_id = w.id) as calls,
           (select count(*)::int from ledger.tool_calls k where k.work_item_id = w.id and k.completed_at is null) as open
      from ledger.work_items w where w.external_id like 'import:claude-code:${id}%' or w.params ->> 'conversationId' = '${id}' order by w.external_id`);

/** The session's own file, as a client wrote it on a host. */
async function fileOf(host: string, id: string): Promise<string> {
  const found = (await readdir(join(root, host), { recursive: true })).find((name) => name.endsWith(`${id}.jsonl`));
  if (found === undefined) throw new Error(`no file of ${id} on ${host}`);
  return join(root, host, found);
}

describe.skipIf(folder === '')('the Claude Agent SDK', () => {
  beforeAll(async () => {
    const require = createRequire(join(folder, 'package.json'));
    sdk = (await import(pathToFileURL(require.resolve('@anthropic-ai/claude-agent-sdk')).href)) as Sdk;
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    root = await mkdtemp(join(tmpdir(), 'agent-sdk-test-'));
    work = join(root, 'work');
    for (const name of ['home', 'work']) await mkdir(join(root, name));
    await writeFile(join(work, 'a.txt'), 'content of a');
    model = createServer((request, response) => {
      void text(request).then(async (body) => {
        if (!request.url?.includes('/v1/messages') || request.url.includes('count_tokens')) return response.writeHead(404).end('{}');
        const asked = JSON.parse(body) as Request;
        const isTitle = (asked.tools ?? []).length === 0;
        if (!isTitle) requests.push(asked);
        return answerWith(response, asked, isTitle ? [{ type: 'text', text: 'A title' }] : await (script ?? reply)(asked));
      });
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

  const open = (): ReturnType<typeof ledgerSession> =>
    ledgerSession({ url: database.url, schema: 'ledger', foldSessionSummary: sdk.foldSessionSummary });
  const stored = async (store: LedgerSessionStore, id: string) => {
    const [row] = await database.query<{ project_key: string }>(
      `select project_key from ledger.transcripts where session_id = '${id}' limit 1`,
    );
    return store.load({ projectKey: row!.project_key, sessionId: id });
  };

  test('a session is kept and understood as it runs, and goes on on another host', async () => {
    const here = open();
    const id = await ask('Say hello with bash', 'host1', { ...here });
    await here.sessionStore.understood();
    // The last lines are read after its Stop, and it rests.
    const [item] = await itemsOf(id);
    expect(item).toMatchObject({ work_type: 'journal', state: 'paused', turns: 2, calls: 1, open: 0 });
    expect(item!.description).toContain('Say hello with bash');
    await here.close();

    // What its file says is what is stored, and nothing new.
    const before = await itemsOf(id);
    const report = await importFile(db, await fileOf('host1', id));
    expect(report).toMatchObject({ sessions: [{ workItemId: item!.id, added: { turns: 0, calls: 0 } }] });
    expect((await itemsOf(id)).map(({ turns, calls }) => [turns, calls])).toEqual(before.map(({ turns, calls }) => [turns, calls]));

    // Elsewhere, with nothing but the ledger.
    const there = open();
    const from = requests.length;
    expect(await ask('And again', 'host2', { ...there, resume: id })).toBe(id);
    expect(JSON.stringify(requests[from]!.messages)).toContain('I look first.');
    expect(JSON.stringify(requests[from]!.messages)).toMatch(/"content":"hello \d"/);
    await there.sessionStore.understood();
    const after = await itemsOf(id);
    expect(after).toMatchObject([{ id: item!.id, turns: 4, calls: 2, open: 0, state: 'paused' }]);

    const listed = await sdk.listSessions({ dir: work, sessionStore: there.sessionStore });
    expect(listed).toMatchObject([{ sessionId: id }]);
    expect((await sdk.getSessionMessages(id, { dir: work, sessionStore: there.sessionStore })).length).toBeGreaterThan(5);
    const [key] = await database.query<{ project_key: string }>(`select project_key from ledger.transcripts where session_id = '${id}'`);
    const [summary] = await there.sessionStore.listSessionSummaries(key!.project_key);
    const folded = sdk.foldSessionSummary(
      undefined,
      { projectKey: key!.project_key, sessionId: id },
      (await stored(there.sessionStore, id))!,
    );
    expect(summary?.data).toEqual(folded.data);
    await there.close();
  });

  test('subagents have transcripts and items of their own', async () => {
    const here = open();
    const id = await ask('Delegate it', 'host1', { ...here });
    await here.sessionStore.understood();
    const items = await itemsOf(id);
    expect(items).toMatchObject([
      { work_type: 'journal', calls: 1, open: 0 },
      { work_type: 'import', turns: 2, calls: 1, open: 0 },
    ]);
    const [spawned] = await database.query<{ work_item_id: string }>(
      `select k.work_item_id from ledger.sessions s join ledger.tool_calls k on k.id = s.spawn_tool_call_id where s.label like 'claude-code:${id}#%'`,
    );
    expect(spawned).toEqual({ work_item_id: items[0]!.id });
    const there = open();
    await ask('And again', 'host3', { ...there, resume: id });
    await there.sessionStore.understood();
    expect(await itemsOf(id)).toHaveLength(2);
    await there.close();
    await here.close();
  });

  test('a session that was recorded without the store is copied into it, as often as one likes', async () => {
    const id = await ask('Say hello with bash', 'host4', {});
    const config = process.env['CLAUDE_CONFIG_DIR'];
    process.env['CLAUDE_CONFIG_DIR'] = join(root, 'host4');
    const here = open();
    try {
      for (let times = 0; times < 2; times++) await sdk.importSessionToStore(id, here.sessionStore, { dir: work });
    } finally {
      if (config === undefined) delete process.env['CLAUDE_CONFIG_DIR'];
      else process.env['CLAUDE_CONFIG_DIR'] = config;
    }
    await here.sessionStore.understood();
    expect(await itemsOf(id)).toMatchObject([{ turns: 2, calls: 1, open: 0 }]);
    const uuids = (await stored(here.sessionStore, id))!.flatMap(({ uuid }) => uuid ?? []);
    expect(new Set(uuids).size).toBe(uuids.length);
    await here.close();
  });

  test('the database is away for a while: the SDK says so and goes on, and its file fills the gap without doubling', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'agent-sdk-away-'));
    await chmod(dataDir, 0o755);
    const { url } = await ensureEmbedded({ dataDir });
    await installLedger(url, 'ledger');
    const ledger = await openDb(url, 'ledger', { patienceMs: 500 });
    const here = ledgerSession({ ledger: clientOf(ledger, ''), foldSessionSummary: sdk.foldSessionSummary, complain: () => {} });
    const append = here.sessionStore.append.bind(here.sessionStore);
    let refusals = 0; // of what the model said while the database was away
    here.sessionStore.append = (key, entries) =>
      append(key, entries).catch((error: unknown) => {
        if (entries.some(({ type, message }) => type === 'assistant' && JSON.stringify(message).includes('step 1'))) refusals++;
        throw error;
      });
    const errors: string[] = [];
    script = async ({ messages }) => {
      const steps = messages.filter(({ content }) => JSON.stringify(content).includes('tool_result')).length;
      if (steps === 1) await stopEmbedded(dataDir);
      if (steps === 2) {
        await until(() => refusals === 3);
        await ensureEmbedded({ dataDir });
      }
      return steps < 4 ? [use('Bash', { command: `echo step ${steps}`, description: 'Go on' })] : [{ type: 'text', text: 'Done.' }];
    };
    const config = process.env['CLAUDE_CONFIG_DIR'];
    try {
      const id = await ask('Take four steps', 'host5', { ...here }, (error) => errors.push(error));
      expect(errors).not.toEqual([]);
      expect(refusals).toBe(3); // and then the SDK gives up, and goes on
      await here.sessionStore.understood();
      const [listed] = await withConnection(
        { connectionString: url },
        async (client) =>
          (
            await client.query<{ project_key: string; unread: number }>(
              `select project_key, last_seq - understood_seq as unread from ledger.transcripts where session_id = '${id}'`,
            )
          ).rows,
      );
      expect(listed).toMatchObject({ unread: 0 });

      // What was appended is there as it was, in its order; what was not is missing.
      const file = await fileOf('host5', id);
      const lines = (await readFile(file, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { uuid?: string });
      const key = { projectKey: listed!.project_key, sessionId: id };
      const kept = (await here.sessionStore.load(key))!;
      const places = kept.filter(({ uuid }) => uuid).map((entry) => lines.findIndex((line) => isDeepStrictEqual(line, entry)));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places.length).toBeLessThan(lines.filter(({ uuid }) => uuid).length);

      const { sessions } = (await importFile(ledger, file)) as { sessions: { turns: number; calls: number; added: { turns: number } }[] };
      expect(sessions).toMatchObject([{ turns: 5, calls: 4 }]);
      expect(sessions[0]!.added.turns).toBeGreaterThan(0);
      expect(await importFile(ledger, file)).toMatchObject({ sessions: [{ added: { turns: 0, calls: 0 } }] });

      // The store itself gets what it missed by the SDK's own copy, which doubles nothing either.
      process.env['CLAUDE_CONFIG_DIR'] = join(root, 'host5');
      await sdk.importSessionToStore(id, here.sessionStore, { dir: work });
      await here.sessionStore.understood();
      const uuids = (await here.sessionStore.load(key))!.flatMap(({ uuid }) => uuid ?? []);
      expect(uuids.toSorted()).toEqual(lines.flatMap(({ uuid }) => uuid ?? []).toSorted());
      const found = await withConnection(
        { connectionString: url },
        async (client) =>
          (
            await client.query(`
          select (select count(*)::int from ledger.work_items where external_id like 'import:claude-code:%') as items,
                 (select count(*)::int from ledger.turns where turn_type = 'normal') as turns,
                 (select count(*)::int from ledger.tool_calls) as calls,
                 (select count(*)::int from ledger.tool_calls where completed_at is null) as open,
                 (select count(*)::int from ledger.work_ledger_check()) as wrong`)
          ).rows,
      );
      expect(found).toEqual([{ items: 1, turns: 5, calls: 4, open: 0, wrong: 0 }]);
    } finally {
      script = undefined;
      if (config === undefined) delete process.env['CLAUDE_CONFIG_DIR'];
      else process.env['CLAUDE_CONFIG_DIR'] = config;
      await here.close();
      await ledger.close();
      await stopEmbedded(dataDir).catch(() => {});
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
