// Runs an agent's code in a container that is used once or by one session. A few containers are started in advance, so that code need not
// wait for one.

import { rm } from 'node:fs/promises';

import type Docker from 'dockerode';

import { containerOptions, isImageMissing, pythonProgram, SandboxContainer } from './sandboxContainer.ts';
import type { ContainerKind, ContainerSettings } from './sandboxContainer.ts';
import { socketRoot, ToolSocket } from './toolSocket.ts';
import type { CodeCall, CodeCallAnswer } from './toolSocket.ts';

export type Code = {
  code: string;
  /** The Python source that defines the tools. */
  sdk: string;
  timeoutSeconds: number;
  /** Code of the same session finds the files that its earlier code left in /tmp. Default: a separate container for each run. */
  session?: string;
  signal: AbortSignal;
  onCall: (call: CodeCall) => Promise<CodeCallAnswer>;
};

export type CodeResult = {
  /** infrastructure: not the code's fault. killed: from inside or outside the container, for example by its own os._exit. */
  verdict: 'ok' | 'error' | 'timeout' | 'memory' | 'output' | 'killed' | 'aborted' | 'infrastructure';
  /** What the code returned; null: nothing. */
  returned: string | null;
  error: string | null;
  /** What the code printed; the middle of long output is left out. */
  output: string;
  durationMs: number;
  /** For infrastructure: whether it may work again shortly. */
  isPassing?: boolean;
};

export type SandboxOptions = ContainerSettings & {
  /** The number of containers kept started in advance; 0: none. */
  pool: number;
  /** auto: a socket if the daemon is on this machine. */
  transport?: 'auto' | 'socket' | 'stdio';
  docker: Docker;
};

/** The messages of PID 1. */
type SupervisorEvent =
  | { event: 'ready' }
  | { event: 'started' }
  | {
      event: 'ended';
      ending: 'timeout' | 'output' | 'result' | null;
      result: CodeAnswer | null;
      output: string;
      printed: number;
      signal: number | null;
      exit_code: number | null;
    }
  | { event?: undefined; connection: number; data: string };

/** The answer of the code. */
type CodeAnswer = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'error'; error: string; is_final?: boolean };

type Warm = { container: SandboxContainer<SupervisorEvent>; socket: ToolSocket };

const program = pythonProgram('supervisor');

const codeContainer = (socketDirectory: string | null): ContainerKind => ({
  program,
  workingDir: '/tmp',
  maxProcesses: 64,
  maxOpenFiles: 256,
  maxFileBytes: 67_108_864,
  mounts: socketDirectory === null ? {} : { Binds: [`${socketDirectory}:/run/work-ledger:ro`] },
});

export class CodeSandbox {
  readonly #docker: Docker;
  readonly #options: SandboxOptions;
  readonly #transport: 'socket' | 'stdio';
  readonly #warm: Promise<Warm>[] = [];
  readonly #sessions = new Map<string, { warm: Warm; restsSince: number }>();
  #root: Promise<string> | undefined;
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#docker = options.docker;
    const isLocal = process.platform === 'linux' && (this.#docker.modem as { socketPath?: string }).socketPath !== undefined;
    this.#transport = options.transport === undefined || options.transport === 'auto' ? (isLocal ? 'socket' : 'stdio') : options.transport;
    this.#fill();
  }

  /** The path at which code in its container reaches its tools. */
  get socketPath(): string {
    return this.#transport === 'socket' ? '/run/work-ledger/tool.sock' : '/tmp/.work-ledger/tool.sock';
  }

  /** Why code cannot run here; null if it can. */
  async problem(): Promise<string | null> {
    try {
      await this.#docker.getImage(this.#options.image).inspect();
      return null;
    } catch (error) {
      return advice(error, this.#options.image);
    }
  }

  /** Resolves when the containers of the pool have started, or failed to. */
  async ready(): Promise<void> {
    await Promise.allSettled(this.#warm);
  }

  async run(code: Code): Promise<CodeResult> {
    const startedAt = performance.now();
    const took = (): number => Math.round(performance.now() - startedAt);
    const nothing = { returned: null, error: null, output: '' };
    let warm: Warm;
    try {
      warm = await this.#take(code.session);
    } catch (error) {
      return {
        ...nothing,
        verdict: 'infrastructure',
        error: advice(error, this.#options.image),
        durationMs: took(),
        isPassing: (error as { statusCode?: number }).statusCode !== 404,
      };
    }
    const { container, socket } = warm;
    const kill = (): void => void container.kill();
    code.signal.addEventListener('abort', kill, { once: true });
    let isReusable = false;
    try {
      socket.serve(code.onCall);
      container.tell({
        code: code.code,
        sdk: code.sdk,
        timeout: code.timeoutSeconds,
        transport: this.#transport,
        is_session: code.session !== undefined,
      });
      const ended = code.signal.aborted ? null : await this.#follow(warm, code.timeoutSeconds);
      // PID 1 ends everything that ran before it reports the outcome.
      isReusable =
        code.session !== undefined &&
        !code.signal.aborted &&
        ended !== null &&
        ended !== 'late' &&
        ended.ending === null &&
        ended.result !== null;
      if (isReusable) socket.rest();
      else {
        await container.kill();
        await socket.close();
      }
      if (code.signal.aborted) return { ...nothing, verdict: 'aborted', durationMs: took() };
      if (ended === 'late')
        return { ...nothing, verdict: 'timeout', error: `The code was killed after ${code.timeoutSeconds} seconds.`, durationMs: took() };
      const isOutOfMemory = isReusable ? false : await container.wasOutOfMemory();
      return { ...judge(ended, isOutOfMemory, code.timeoutSeconds, this.#options.memoryBytes), durationMs: took() };
    } finally {
      code.signal.removeEventListener('abort', kill);
      if (isReusable && !this.#isClosed && code.session !== undefined && !this.#sessions.has(code.session))
        this.#sessions.set(code.session, { warm, restsSince: performance.now() });
      else await discard(warm);
      this.#fill();
    }
  }

  async endSession(session: string): Promise<void> {
    const resting = this.#sessions.get(session);
    this.#sessions.delete(session);
    if (resting) await discard(resting.warm);
  }

  /** Ends the sessions that have been idle for at least `restMs`. */
  async endSessions(restMs: number): Promise<void> {
    const resting = [...this.#sessions].filter(([, { restsSince }]) => performance.now() - restsSince >= restMs);
    await Promise.all(resting.map(([session]) => this.endSession(session)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.endSessions(0);
    for (const warm of await Promise.allSettled(this.#warm.splice(0))) if (warm.status === 'fulfilled') await discard(warm.value);
    if (this.#root) await rm(await this.#root, { recursive: true, force: true });
  }

  /** Waits for the code to end. Null: the container is gone; 'late': the code did not end in time. */
  async #follow({ container, socket }: Warm, timeoutSeconds: number) {
    const deadline = performance.now() + timeoutSeconds * 1000 + 5000;
    for (;;) {
      const said = await container.next(deadline - performance.now());
      if (said === null || said === 'late') return said;
      if (said.event === 'ended') return said;
      if (said.event === undefined) {
        const { connection } = said;
        socket.frame(connection, Buffer.from(said.data, 'base64'), (data) => container.tell({ connection, data: data.toString('base64') }));
      }
    }
  }

  async #take(session: string | undefined): Promise<Warm> {
    const own = session === undefined ? undefined : this.#sessions.get(session)?.warm;
    if (session !== undefined && own) {
      this.#sessions.delete(session);
      if (!own.container.isGone) return own;
      await discard(own);
    }
    for (;;) {
      const warm = this.#warm.shift();
      if (!warm) return this.#start();
      const one = await warm.catch(() => null);
      if (one && !one.container.isGone) return one;
      if (one) await discard(one);
    }
  }

  async #start(): Promise<Warm> {
    const socket = this.#transport === 'socket' ? await ToolSocket.listen(await (this.#root ??= socketRoot())) : ToolSocket.relayed();
    try {
      return {
        container: await SandboxContainer.start(this.#docker, containerOptions(this.#options, codeContainer(socket.directory))),
        socket,
      };
    } catch (error) {
      await socket.close();
      throw error;
    }
  }

  #fill(): void {
    while (!this.#isClosed && this.#warm.length < this.#options.pool) {
      const warm = this.#start();
      warm.catch(() => {}); // the error is reported when code is to be run
      this.#warm.push(warm);
    }
  }
}

async function discard({ container, socket }: Warm): Promise<void> {
  await container.kill();
  await socket.close();
  await container.remove();
}

type Ended = Extract<SupervisorEvent, { event: 'ended' }>;

function judge(
  ended: Ended | null,
  isOutOfMemory: boolean | null,
  timeoutSeconds: number,
  memoryBytes: number,
): Omit<CodeResult, 'durationMs'> {
  const memory = `The code used up its memory of ${Math.round(memoryBytes / 1024 / 1024)} MiB and was killed.`;
  if (ended === null) {
    if (isOutOfMemory === true) return { verdict: 'memory', returned: null, error: memory, output: '' };
    return { verdict: 'infrastructure', returned: null, error: 'the container went away', output: '', isPassing: true };
  }
  const { ending, result, output } = ended;
  const failed = (verdict: CodeResult['verdict'], error: string) => ({ verdict, returned: null, error, output });
  if (ending === 'timeout') return failed('timeout', `The code was killed after ${timeoutSeconds} seconds.`);
  if (ending === 'output') return failed('output', 'The code printed more than 10,000,000 bytes and was killed.');
  if (ending === 'result') return failed('error', 'The returned value is too large. Return only what matters.');
  if (result === null) {
    if (isOutOfMemory === true) return failed('memory', memory);
    return failed(
      'killed',
      ended.signal === null
        ? `The code ended its own process with exit code ${ended.exit_code}, and returned nothing.`
        : `The code was killed by signal ${ended.signal}.`,
    );
  }
  if (result.kind === 'error') return failed('error', result.error);
  return { verdict: 'ok', returned: result.kind === 'text' ? result.text : null, error: null, output };
}

function advice(error: unknown, image: string): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'EACCES')
    return `no Docker daemon answers (${code}): start one, or set DOCKER_HOST`;
  if (isImageMissing(error)) return `there is no image ${image}: work-ledger workspace image builds one`;
  return message ?? String(error);
}
