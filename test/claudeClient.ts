// Claude Code itself with the plugin, as somebody has it who has nothing else, against a model that says what a test tells it to.
// WORK_LEDGER_CLAUDE names its program (test/fetchClaude.sh fetches one).

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { patientScript, waitForHooks } from './patientHooks.ts';

export const claude = process.env['WORK_LEDGER_CLAUDE'] ?? '';

/** Says on the terminal why a file does nothing. */
export function saySkipped(file: string): void {
  if (claude === '') console.warn(`${file} is skipped: WORK_LEDGER_CLAUDE is not set (test/fetchClaude.sh DIRECTORY fetches Claude Code)`);
}

export type Block = { type: string; [key: string]: unknown };
export type Request = {
  model: string;
  stream?: boolean;
  tools?: { name: string }[];
  messages: { role: string; content: string | Block[] }[];
};
/** What the model says to a request. `who`: as whom the client was started. */
export type Reply = (request: Request, who: string) => Block[];

const run = promisify(execFile);
export const plugin = fileURLToPath(new URL('../plugin', import.meta.url));
export const toolOf = (name: string): string => `mcp__plugin_work-ledger_work-ledger__${name}`;
export const use = (name: string, input: object): Block => ({
  type: 'tool_use',
  id: `toolu_${Math.random().toString(36).slice(2)}`,
  name,
  input,
});
const wait = use('Bash', { command: 'echo not yet', description: 'Wait for the tools' });
/** The client does not wait for the tools of the plugin's server: said in place of calls of them, until they are there. */
export const waitForTools = (): Block[] => [{ ...wait, id: `toolu_${Math.random().toString(36).slice(2)}` }];
export const isWait = (message: Request['messages'][number]): boolean =>
  message.role === 'assistant' && JSON.stringify(message).includes('echo not yet');

export type Session = {
  /** Types a prompt; resolves with the requests that it came to, when it is answered. */
  say(words: string): Promise<Request[]>;
  id(): string;
  /** As somebody leaves it: resolves when its process is gone. */
  end(): Promise<void>;
};

export class ClaudeHome {
  /** Every request of a conversation, in the order in which they came; those without tools, for titles, are not kept. */
  readonly requests: (Request & { who: string })[] = [];

  readonly root: string;
  /** Where its sessions work. */
  readonly work: string;
  readonly #model: Server;
  readonly #databaseUrl: string;

  private constructor(root: string, model: Server, databaseUrl: string) {
    this.root = root;
    this.work = join(root, 'project');
    this.#model = model;
    this.#databaseUrl = databaseUrl;
  }

  /** A home and a directory to work in. */
  static async open(databaseUrl: string, reply: Reply): Promise<ClaudeHome> {
    const root = await mkdtemp(join(tmpdir(), 'claude-test-'));
    for (const name of ['bin', 'home', 'project']) await mkdir(join(root, name));
    await cp(plugin, join(root, 'plugin'), { recursive: true }); // elsewhere than the programs of the clone: it runs the one on PATH
    const main = fileURLToPath(new URL('../runtime/main.ts', import.meta.url));
    const program = `'${process.execPath}' '${main}' "$@"`;
    await writeFile(join(root, 'bin', 'work-ledger'), patientScript(program), { mode: 0o755 });
    await waitForHooks(join(root, 'plugin', 'hooks', 'hooks.json'));
    const model = createServer((request, response) => void home.#answer(request, response, reply));
    const home = new ClaudeHome(root, model, databaseUrl);
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
    return home;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
    const [, who = '', path = ''] = /^\/(\w+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const body = await text(request);
    if (!path.startsWith('/v1/messages') || path.includes('count_tokens')) {
      response.writeHead(404).end('{}');
      return;
    }
    const asked = JSON.parse(body) as Request;
    const isTitle = (asked.tools ?? []).length === 0;
    if (!isTitle) this.requests.push({ ...asked, who });
    answerWith(response, asked, isTitle ? [{ type: 'text', text: 'A title' }] : reply(asked, who));
  }

  #arguments = (args: string[]): string[] => [
    '-p',
    ...args,
    '--plugin-dir',
    join(this.root, 'plugin'),
    '--allowedTools',
    'Read',
    'Edit',
    'Agent',
    'Bash(echo:*)',
    ...['ledger_append', 'reply'].map(toolOf),
  ];

  #options = (who: string): { cwd: string; env: NodeJS.ProcessEnv } => ({
    cwd: this.work,
    env: {
      PATH: `${join(this.root, 'bin')}:${process.env['PATH']}`,
      HOME: join(this.root, 'home'),
      DATABASE_URL: this.#databaseUrl,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${(this.#model.address() as AddressInfo).port}/${who}`,
      ANTHROPIC_API_KEY: 'sk-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  });

  /** One prompt in a session of its own; the id of the session. */
  async prompt(words: string, ...args: string[]): Promise<string> {
    const running = run(claude, [...this.#arguments([words]), '--output-format', 'json', ...args], this.#options('prompt'));
    running.child.stdin?.end();
    const said = JSON.parse((await running).stdout) as { is_error: boolean; session_id: string };
    if (said.is_error) throw new Error(`Claude Code ended with ${JSON.stringify(said)}`);
    return said.session_id;
  }

  /** A session that stays open between its prompts. */
  session(who: string): Session {
    const streams = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    const child = spawn(claude, this.#arguments(streams), { ...this.#options(who), stdio: ['pipe', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    let [log, id] = ['', ''];
    child.stderr.on('data', (chunk) => (log += chunk));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      id: () => id,
      say: async (words) => {
        const before = this.requests.length;
        child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: words }] } })}\n`);
        for (;;) {
          const { value, done } = await lines.next();
          if (done) throw new Error(`Claude Code ended: ${log}`);
          const event = JSON.parse(value) as { type: string; is_error?: boolean; session_id: string };
          if (event.type !== 'result') continue;
          if (event.is_error) throw new Error(`Claude Code: ${value}`);
          id = event.session_id;
          return this.requests.slice(before).filter((request) => request.who === who);
        }
      },
      end: async () => {
        child.stdin.end();
        await ended;
      },
    };
  }

  async close(): Promise<void> {
    this.#model.closeAllConnections();
    this.#model.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

export function answerWith(response: ServerResponse, { model, stream }: Request, content: Block[]): void {
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${Math.random().toString(36).slice(2)}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  if (!stream) {
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
