// Where code in a container calls its tools: HTTP over a unix socket in a directory that only its container has mounted, or over the
// container's stdin and stdout if no socket can be mounted. Access to the socket is the permission, so there is no token to steal.

import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';

import { isAlive } from './isAlive.ts';
import { depthOf } from './jsonDepth.ts';

export type CodeCall = { ordinal: number; name: string; input: Record<string, unknown> };

/** A value, or an error for the code to catch; after a final error the code should stop. */
export type CodeCallAnswer = { value: unknown } | { error: string; is_final?: boolean };

const MAX_BODY = 16 * 1024 * 1024;
const MAX_DEPTH = 64;

export class ToolSocket {
  /** The directory to mount, or null if calls arrive as frames. */
  readonly directory: string | null;
  readonly #server: Server;
  readonly #relayed = new Map<number, Duplex>();
  #answer: ((call: CodeCall) => Promise<CodeCallAnswer>) | undefined;

  private constructor(directory: string | null) {
    this.directory = directory;
    this.#server = createServer(
      { maxHeaderSize: 8192, headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 3_600_000 },
      (request, response) => {
        void this.#respond(request, response);
      },
    );
    this.#server.maxConnections = 64;
    this.#server.on('clientError', (_, socket) => socket.destroy());
  }

  /** Listens in a new directory below `root`, which no other user may enter. */
  static async listen(root: string): Promise<ToolSocket> {
    const directory = await mkdtemp(join(root, 'c-'));
    await chmod(directory, 0o711);
    const socket = new ToolSocket(directory);
    const path = join(directory, 'tool.sock');
    await new Promise<void>((resolve, reject) => socket.#server.once('error', reject).listen(path, resolve));
    await chmod(path, 0o666); // for the container's user; others cannot enter the root
    return socket;
  }

  static relayed(): ToolSocket {
    return new ToolSocket(null);
  }

  /** From now on, calls are answered by `answer`. */
  serve(answer: (call: CodeCall) => Promise<CodeCallAnswer>): void {
    this.#answer = answer;
  }

  /** Processes bytes of a connection that arrived as a frame; `send` gets the bytes to return. An empty frame ends the connection. */
  frame(connection: number, data: Buffer, send: (data: Buffer) => void): void {
    let duplex = this.#relayed.get(connection);
    if (!duplex) {
      duplex = new Duplex({
        read: () => {},
        write: (chunk: Buffer, _, done) => {
          send(chunk);
          done();
        },
        final: (done) => {
          send(Buffer.alloc(0));
          done();
        },
      });
      this.#relayed.set(connection, duplex);
      this.#server.emit('connection', duplex);
    }
    duplex.push(data.length === 0 ? null : data);
    if (data.length === 0) this.#relayed.delete(connection);
  }

  /** Ends all connections; no calls are answered until the next serve(). */
  rest(): void {
    this.#answer = undefined;
    this.#server.closeAllConnections();
    for (const duplex of this.#relayed.values()) duplex.destroy();
    this.#relayed.clear();
  }

  async close(): Promise<void> {
    this.rest();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
    if (this.directory !== null) await rm(this.directory, { recursive: true, force: true });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answered(request).catch((error: unknown): CodeCallAnswer => ({
      error: error instanceof Error ? error.message : String(error),
    }));
    const body = JSON.stringify(answer);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }

  async #answered(request: IncomingMessage): Promise<CodeCallAnswer> {
    const call = readCall(await bodyOf(request));
    return this.#answer ? await this.#answer(call) : { error: 'this code has ended', is_final: true };
  }
}

/** Creates a directory for sockets that only this process's user may enter. */
export const socketRoot = (): Promise<string> => mkdtemp(join(tmpdir(), `work-ledger-sandbox-${process.pid}-`));

/** Removes the directories of processes on this machine that no longer exist. */
export async function clearSockets(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^work-ledger-sandbox-(\d+)-/.exec(name)?.[1]);
    // an error means that it belongs to another user
    if (pid > 0 && !isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk); // the rest is read and dropped; otherwise the answer would not arrive
  }
  if (length > MAX_BODY) throw new Error(`a call can have at most ${MAX_BODY} bytes`);
  return Buffer.concat(chunks);
}

function readCall(body: Buffer): CodeCall {
  if (depthOf(body) > MAX_DEPTH) throw new Error(`a call can be at most ${MAX_DEPTH} levels deep`);
  const { ordinal, name, input } = JSON.parse(body.toString('utf8')) as Partial<CodeCall>;
  if (
    !Number.isSafeInteger(ordinal) ||
    (ordinal ?? -1) < 0 ||
    typeof name !== 'string' ||
    typeof input !== 'object' ||
    input === null ||
    Array.isArray(input)
  ) {
    throw new Error('this is not a tool call');
  }
  return { ordinal: ordinal ?? 0, name, input };
}
