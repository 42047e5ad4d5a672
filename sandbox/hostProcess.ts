// Runs a shell command on the host, for faculties with workspace = "host": in a separate process group and, where the machine allows it, a
// process namespace. All of it ends at once (when the shell ends, at the timeout, at an abort, and when this process dies). Output is
// bounded, and the environment contains no secrets.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';

import { storableText } from '../plv8/storable.ts';
import type { Start } from './commandUser.ts';
import { hideEnvironment, isPublic } from './ownSecrets.ts';
import type { ProcessResult, RunOptions } from './workspace.ts';

/** `start`: as which user to run; default: the user of this process. */
type HostRun = RunOptions & { cwd: string; start?: Start };

/** A watchdog in the group waits on descriptor 3, which only this process holds: if this process dies, the watchdog kills the group. */
const inGroup = '{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"';
/**
 * In a process namespace, signals go to -1, which means all processes in it. That requires this shell to be one of its first two processes:
 * elsewhere -1 would mean all processes of the user. The watchdog sends the signals that it is told to, because those from outside would
 * end the namespace at once or not reach its first process. This shell waits for the command, because a first process cannot be killed by
 * its own signal. It does not report that a signal ended the command, so that stderr holds only the command's errors.
 */
const inNamespace =
  'case $$ in 1|2) all=-1;; *) all=0;; esac; trap : TERM; { while read -r s <&3; do kill -"$s" "$all"; done; kill -KILL "$all"; } >/dev/null 2>&1 & exec 3<&- 4>&2 2>/dev/null; "$0" "$@" 2>&4 4>&-; exit $?';

export async function runProcess(command: string, options: HostRun): Promise<ProcessResult> {
  hideEnvironment();
  // If its stdin is a socket, bash assumes that it is a remote shell and reads ~/.bashrc.
  const result = await runWith('bash', ['--norc', '-c', command], options);
  return result ?? (await runWith('sh', ['-c', command], options)) ?? Promise.reject(new Error('this machine has no shell'));
}

/** Null if there is no such shell. */
function runWith(shell: string, args: readonly string[], options: HostRun): Promise<ProcessResult | null> {
  const startedAt = performance.now();
  const maxBytes = options.maxBytes ?? 1_000_000;
  return new Promise((resolve, reject) => {
    const { prefix = [], owner = null, env = {}, isContained = false } = options.start ?? {};
    const script = isContained ? inNamespace : inGroup;
    const [program = shell, ...words] = [...prefix, shell, ...args.slice(0, -1), script, shell, ...args];
    const child = spawn(program, words, {
      cwd: options.cwd,
      detached: true,
      env: { ...environment(), ...env },
      ...owner,
      stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const stdout = new Capped(maxBytes);
    const stderr = new Capped(maxBytes);
    child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
    child.stdio[3]?.on('error', () => {});
    child.stdin?.on('error', () => {}); // the command need not read its input
    child.stdin?.end(options.stdin);

    let cause: ProcessResult['cause'] = null;
    const end = (): void => {
      if (isContained) (child.stdio[3] as Writable).write('TERM\n');
      else killGroup(child, 'SIGTERM');
      setTimeout(() => killGroup(child, 'SIGKILL'), 2000).unref();
    };
    const timer = setTimeout(() => {
      cause ??= 'timeout';
      end();
    }, options.timeoutSeconds * 1000);
    const onAbort = (): void => {
      cause ??= 'abort';
      end();
    };
    if (options.signal.aborted) onAbort();
    options.signal.addEventListener('abort', onAbort, { once: true });

    const settle = (): void => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      settle();
      if (error.code === 'ENOENT') resolve(null);
      else reject(error);
    });
    child.once('exit', (exitCode, signal) => {
      settle();
      const hasNoShell = (): boolean =>
        prefix.length > 0 && /^(bwrap: execvp|[a-z]+: failed to execute) (bash|sh): /.exec(stderr.text())?.[2] === shell;
      const ended = isContained ? asSignal(exitCode, signal) : { exitCode, signal };
      const over = Promise.all([drained(child.stdout), drained(child.stderr)]);
      // Processes that the shell left behind are killed too, including any that still hold the pipes open.
      killGroup(child, 'SIGKILL');
      void over.then(() =>
        resolve(
          hasNoShell()
            ? null
            : {
                stdout: stdout.text(),
                stderr: stderr.text(),
                ...ended,
                cause,
                isTruncated: stdout.isTruncated,
                durationMs: Math.round(performance.now() - startedAt),
              },
        ),
      );
    });
  });
}

const signals = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** A shell that waited reports a signal that ended the command as an exit code of 128 plus its number. */
function asSignal(exitCode: number | null, signal: string | null): { exitCode: number | null; signal: string | null } {
  const name = signals.get((exitCode ?? 0) - 128);
  return name === undefined ? { exitCode, signal } : { exitCode: null, signal: name };
}

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => isPublic(name) && name !== 'PWD');
  return { ...Object.fromEntries(kept), TERM: 'dumb' };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group has ended
  }
}

/** Waits for the stream to end, at most half a second, because no process should hold it any longer. */
function drained(stream: Readable | null): Promise<void> {
  if (!stream || stream.readableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('close', resolve);
    setTimeout(() => {
      stream.destroy();
      resolve();
    }, 500).unref();
  });
}

/** Keeps the head and the tail of a stream of any length. */
class Capped {
  readonly #half: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailLength = 0;
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#half = Math.ceil(maxBytes / 2);
  }

  add(chunk: Buffer): void {
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    while (this.#tail.length > 1 && this.#tailLength - (this.#tail[0]?.length ?? 0) >= this.#half) {
      const gone = this.#tail.shift()?.length ?? 0;
      this.#tailLength -= gone;
      this.#dropped += gone;
    }
  }

  get isTruncated(): boolean {
    return this.#dropped > 0 || this.#tailLength > this.#half;
  }

  text(): string {
    const tail = Buffer.concat(this.#tail);
    const over = Math.max(0, tail.length - this.#half);
    const dropped = this.#dropped + over;
    const middle = dropped > 0 ? `\n[… ${dropped} bytes omitted …]\n` : '';
    const whole =
      dropped > 0
        ? this.#head.toString('utf8') + middle + tail.subarray(over).toString('utf8')
        : Buffer.concat([this.#head, tail]).toString('utf8');
    return storableText(whole);
  }
}
