// Gemini CLI itself, against a model that says what a test tells it to. WORK_LEDGER_GEMINI names its program (test/fetchGemini.sh fetches one).

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

export const gemini = process.env['WORK_LEDGER_GEMINI'] ?? '';

type Part = { text?: string; functionCall?: { name: string; args: object }; functionResponse?: { name: string; response: unknown } };
export type GeminiRequest = { contents: { role: string; parts: Part[] }[] };

export class GeminiHome {
  readonly requests: GeminiRequest[] = [];
  /** HOME. */
  readonly root: string;
  /** Where its sessions work. */
  readonly work: string;
  readonly #model: Server;

  private constructor(root: string, model: Server) {
    this.root = root;
    this.work = join(root, 'project');
    this.#model = model;
  }

  /** `reply`: what the model says to its n-th request, from 0. */
  static async open(reply: (n: number, home: GeminiHome) => Part): Promise<GeminiHome> {
    const root = await mkdtemp(join(tmpdir(), 'gemini-test-'));
    const model = createServer((request, response) => {
      void text(request).then((body) => {
        if (!request.url?.includes('streamGenerateContent')) return response.writeHead(404).end('{}');
        home.requests.push(JSON.parse(body) as GeminiRequest);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const content = { role: 'model', parts: [reply(home.requests.length - 1, home)] };
        const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
        return response.end(`data: ${JSON.stringify({ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata })}\n\n`);
      });
    });
    const home = new GeminiHome(root, model);
    for (const path of [home.work, join(root, '.gemini')]) await mkdir(path);
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    };
    await writeFile(home.settings, JSON.stringify(settings));
    return home;
  }

  get settings(): string {
    return join(this.root, '.gemini', 'settings.json');
  }

  /** One prompt in a new session; what it answers. */
  async exec(words: string, more: Record<string, string> = {}): Promise<string> {
    const url = `http://127.0.0.1:${(this.#model.address() as AddressInfo).port}`;
    const env = {
      PATH: process.env['PATH'],
      HOME: this.root,
      GEMINI_API_KEY: 'key-of-a-test',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...more,
    };
    const running = promisify(execFile)(gemini, ['-m', 'gemini-2.5-flash', '--yolo', '-p', words], { cwd: this.work, env });
    running.child.stdin?.end();
    return (await running).stdout;
  }

  /** The hooks and servers that its settings name. */
  async configured(): Promise<{ hooks: Record<string, unknown[]>; mcpServers: object }> {
    return JSON.parse(await readFile(this.settings, 'utf8')) as { hooks: Record<string, unknown[]>; mcpServers: object };
  }

  async close(): Promise<void> {
    this.#model.closeAllConnections();
    this.#model.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
