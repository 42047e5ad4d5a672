// Codex itself, against a model that says what a test tells it to. WORK_LEDGER_CODEX names its program (test/fetchCodex.sh fetches one).

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

export const codex = process.env['WORK_LEDGER_CODEX'] ?? '';

type Content = { type: string; text?: string; image_url?: string };
/** What a request of the Responses API holds of the conversation. */
export type Item = {
  type: string;
  role?: string;
  content?: Content[];
  name?: string;
  arguments?: string;
  namespace?: string;
  input?: string;
  call_id?: string;
  output?: string | Content[];
};

export const said = (words: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] });

export class CodexHome {
  readonly requests: { input: Item[] }[] = [];
  /** CODEX_HOME. */
  readonly home: string;
  /** Where its sessions work. */
  readonly work: string;
  readonly root: string;
  readonly #model: Server;

  private constructor(root: string, model: Server) {
    this.root = root;
    this.home = join(root, 'codex');
    this.work = join(root, 'project');
    this.#model = model;
  }

  /** `reply`: what the model says to its n-th request, from 0; a text always. */
  static async open(reply: string | ((n: number, input: Item[]) => Item)): Promise<CodexHome> {
    const root = await mkdtemp(join(tmpdir(), 'codex-test-'));
    const model = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.url !== '/v1/responses') return response.writeHead(404).end('{}');
        const { input } = JSON.parse(body) as { input: Item[] };
        home.requests.push({ input });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const say = (type: string, data: object): unknown =>
          response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
        const item = typeof reply === 'string' ? said(reply) : reply(home.requests.length - 1, input);
        const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 };
        say('response.created', { response: { id: 'resp_1' } });
        say('response.output_item.done', { output_index: 0, item });
        say('response.completed', { response: { id: 'resp_1', usage } });
        return response.end();
      });
    });
    const home = new CodexHome(root, model);
    for (const path of [home.home, home.work]) await mkdir(path);
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
    await writeFile(
      join(home.home, 'config.toml'),
      `model = "gpt-5.5"
model_provider = "scripted"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${(model.address() as AddressInfo).port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
    );
    return home;
  }

  /** One prompt in a session that is there; what it answers. */
  resume(session: string, words: string): Promise<string> {
    return this.#exec(['resume', session, words]);
  }

  /** One prompt in a new session, whose hooks run without asking. */
  exec(words: string, env: Record<string, string> = {}): Promise<string> {
    return this.#exec(['--dangerously-bypass-hook-trust', '--sandbox', 'danger-full-access', words], env);
  }

  async #exec(args: string[], more: Record<string, string> = {}): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME: this.root, CODEX_HOME: this.home, SCRIPTED_KEY: 'sk-test', ...more };
    const running = promisify(execFile)(codex, ['exec', '--skip-git-repo-check', ...args], { cwd: this.work, env });
    running.child.stdin?.end();
    return (await running).stdout;
  }

  async close(): Promise<void> {
    this.#model.closeAllConnections();
    this.#model.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
