// A sandbox container: how it is locked down, how its PID 1 is addressed, and how it is removed. It ends when the process that started it
// is gone: the daemon then closes PID 1's stdin, which PID 1 watches; if that does not happen, silence ends it.

import { readFileSync, readlinkSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

import type Docker from 'dockerode';
import type { Container, ContainerCreateOptions, HostConfig } from 'dockerode';

import { isAlive } from './isAlive.ts';

export type ContainerSettings = {
  image: string;
  memoryBytes: number;
  cpus: number;
  /** The ledger that it works for; default: unknown. */
  ledger?: string;
};

/** What one kind of container has in addition to the settings that lock down all of them. */
export type ContainerKind = {
  /** The Python source of PID 1. Its first message is `{"event": "ready"}`. */
  program: string;
  /** PID 1 ends after this time without a message to it; default: a minute. */
  silenceSeconds?: number;
  workingDir: string;
  maxProcesses: number;
  maxOpenFiles: number;
  maxFileBytes: number;
  mounts: Pick<HostConfig, 'Binds' | 'Mounts'>;
  labels?: Record<string, string>;
};

/** The label of every container created here; its value is its owner. */
export const LABEL = 'work-ledger.sandbox';
/** The label of containers and volumes that names the ledger that they work for. Those of earlier versions have none. */
export const LEDGER_LABEL = 'work-ledger.ledger';
/** Identifies where a process id means the same as here: this boot of this machine, and this PID namespace. Null: unknown. */
const here = placeOfProcesses();
/** The label for the process that started a container: this one, unless another is given. */
export const ownerLabel = (pid = process.pid): string => `${here}/${pid}`;
const SILENCE_SECONDS = 60;
/** How long a daemon under load may take until Python runs. */
const READY_SECONDS = 120;
const WORD_EVERY_MS = 10_000;
/** How long a daemon may take to end or remove a container; one that hangs must hold up nobody for longer. */
const KILL_MS = 10_000;
const seccomp = JSON.stringify(JSON.parse(readFileSync(fileURLToPath(new URL('seccomp.json', import.meta.url)), 'utf8')));

const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/cmdline',
  '/proc/version',
  '/proc/meminfo',
  '/proc/cpuinfo',
  '/proc/uptime',
  '/proc/loadavg',
  '/proc/stat',
  '/proc/vmstat',
  '/proc/zoneinfo',
  '/proc/modules',
  '/proc/kallsyms',
  '/proc/diskstats',
  '/proc/partitions',
  '/proc/devices',
  '/proc/interrupts',
  '/proc/swaps',
  '/proc/mounts',
  '/sys/firmware',
  '/sys/devices',
  '/sys/kernel',
  '/sys/module',
];

export const pythonProgram = (name: string): string => readFileSync(fileURLToPath(new URL(`python/${name}.py`, import.meta.url)), 'utf8');

export const ofLedger = (ledger: string | undefined): Record<string, string> => (ledger === undefined ? {} : { [LEDGER_LABEL]: ledger });

export const containerOptions = (settings: ContainerSettings, kind: ContainerKind): ContainerCreateOptions => ({
  Image: settings.image,
  Cmd: ['python3', '-I', '-u', '-c', kind.program, String(kind.silenceSeconds ?? SILENCE_SECONDS)],
  User: '65534:65534',
  WorkingDir: kind.workingDir,
  Hostname: 'sandbox',
  Env: ['PATH=/usr/bin:/bin', 'HOME=/tmp', 'LANG=C.UTF-8'],
  Labels: { [LABEL]: ownerLabel(), ...ofLedger(settings.ledger), ...kind.labels },
  OpenStdin: true,
  StdinOnce: true,
  AttachStdin: true,
  AttachStdout: true,
  AttachStderr: true,
  Tty: false,
  StopSignal: 'SIGKILL',
  HostConfig: {
    NetworkMode: 'none',
    IpcMode: 'none',
    ReadonlyRootfs: true,
    Tmpfs: { '/tmp': 'rw,nosuid,nodev,noexec,size=64m,mode=1777' },
    ...kind.mounts,
    Memory: settings.memoryBytes,
    MemorySwap: settings.memoryBytes,
    NanoCpus: Math.round(settings.cpus * 1e9),
    PidsLimit: kind.maxProcesses,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges', `seccomp=${seccomp}`],
    LogConfig: { Type: 'none', Config: {} },
    Ulimits: [
      { Name: 'nofile', Soft: kind.maxOpenFiles, Hard: kind.maxOpenFiles },
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: kind.maxFileBytes, Hard: kind.maxFileBytes },
    ],
    OomScoreAdj: 1000,
    MaskedPaths: maskedPaths,
    ReadonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
  },
});

/** A container whose PID 1 is ready and prints one line of JSON per event. */
export class SandboxContainer<Event extends object> {
  /** The first message of PID 1. */
  ready: Record<string, unknown> = {};
  readonly #container: Container;
  readonly #stream: Duplex;
  /** Events that have not been requested yet, or the caller that waits for one. */
  readonly #events: Event[] = [];
  #waiting: ((event: Event | null) => void) | undefined;
  #hasEnded = false;
  #rest = '';
  /** The errors that PID 1 printed before it was ready. */
  #complaint = '';

  private constructor(container: Container, stream: Duplex) {
    this.#container = container;
    this.#stream = stream;
    const stdout = new PassThrough();
    stdout.setEncoding('utf8');
    stdout.on('data', (text: string) => this.#read(text));
    const stderr = new PassThrough();
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => (this.#complaint = (this.#complaint + text).slice(-500)));
    container.modem.demuxStream(stream, stdout, stderr);
    const words = setInterval(() => stream.write('\n'), WORD_EVERY_MS).unref();
    const end = (): void => {
      clearInterval(words);
      this.#hasEnded = true;
      this.#waiting?.(null);
    };
    stream.on('end', end).on('close', end).on('error', end);
  }

  /** Starts a container. Throws the daemon's errors. */
  static async start<Event extends object>(docker: Docker, options: ContainerCreateOptions): Promise<SandboxContainer<Event>> {
    const container = await docker.createContainer(options);
    try {
      const started = new SandboxContainer<Event>(
        container,
        (await container.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true })) as Duplex,
      );
      await container.start();
      const first = await started.next(READY_SECONDS * 1000);
      if (first === 'late') throw new Error(`its container was not ready within ${READY_SECONDS} seconds`);
      if (first === null)
        throw new Error(`its container ended before it was ready${started.#complaint && `: ${started.#complaint.trim()}`}`);
      if (!('event' in first) || first.event !== 'ready') throw new Error(`the image ${options.Image} does not start Python`);
      started.ready = { ...first };
      return started;
    } catch (error) {
      await container.remove({ force: true, v: true }).catch(() => {});
      throw error;
    }
  }

  get isGone(): boolean {
    return this.#hasEnded;
  }

  tell(message: object): void {
    this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message of PID 1. Null: it has ended; 'late': none arrived in time. */
  next(withinMs: number): Promise<Event | null | 'late'> {
    const event = this.#events.shift();
    if (event) return Promise.resolve(event);
    if (this.#hasEnded) return Promise.resolve(null);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting = undefined;
        resolve('late');
      }, withinMs);
      this.#waiting = (said) => {
        clearTimeout(timer);
        this.#waiting = undefined;
        resolve(said);
      };
    });
  }

  /** Unpacks a tar archive into a directory of its volumes. */
  async put(archive: NodeJS.ReadableStream, path: string): Promise<void> {
    await this.#container.putArchive(archive, { path });
  }

  /** After this it counts as gone, even if the daemon hangs: PID 1 ends as soon as the daemon notices that its stdin is closed. */
  async kill(): Promise<void> {
    await this.#container.kill({ signal: 'SIGKILL', abortSignal: AbortSignal.timeout(KILL_MS) }).catch(() => {}); // already ended, or no daemon
    this.#stream.destroy();
  }

  /** Whether memory ran out, known once the container has ended; null if the daemon does not know. */
  async wasOutOfMemory(): Promise<boolean | null> {
    try {
      const abortSignal = AbortSignal.timeout(KILL_MS);
      await this.#container.wait({ abortSignal });
      return (await this.#container.inspect({ abortSignal })).State.OOMKilled;
    } catch {
      return null;
    }
  }

  /** If the daemon cannot do it now, reap() will. */
  async remove(): Promise<void> {
    await this.#container.remove({ force: true, v: true, abortSignal: AbortSignal.timeout(KILL_MS) }).catch(() => {});
  }

  #read(text: string): void {
    if (!text.includes('\n')) {
      this.#rest += text; // a long line is joined only once
      return;
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      let event: Event;
      try {
        event = JSON.parse(line) as Event;
      } catch (error) {
        this.#stream.destroy(error as Error); // what does not speak like PID 1 is not listened to; this process goes on
        return;
      }
      if (this.#waiting) this.#waiting(event);
      else this.#events.push(event);
    }
  }
}

/** Whether a daemon rejected a request because it does not have the image. */
export function isImageMissing(error: unknown): boolean {
  const { statusCode, message = '' } = error as { statusCode?: number; message?: string };
  return statusCode === 404 && /no such image/i.test(message);
}

/** Removes our containers that have ended, were never started or have lost their owner. Returns how many. */
export async function reap(docker: Docker): Promise<number> {
  // by the daemon's clock rather than ours, so that a container that is just being started is kept
  const { SystemTime } = (await docker.info()) as { SystemTime: string };
  const startingSince = Date.parse(SystemTime) / 1000 - 60;
  const found = await docker.listContainers({ all: true, filters: { label: [LABEL] } });
  const over = found.filter(
    ({ State, Created, Labels }) =>
      ['exited', 'dead'].includes(State) || (State === 'created' && Created < startingSince) || isOrphan(Labels[LABEL]),
  );
  const gone = await Promise.allSettled(over.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
  return gone.filter(({ status }) => status === 'fulfilled').length;
}

function placeOfProcesses(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]}`;
  } catch {
    return null; // not Linux, or a hidden /proc
  }
}

/** True if its owner is gone; an owner elsewhere cannot be checked. */
function isOrphan(label = ''): boolean {
  const pid = Number(label.slice(label.lastIndexOf('/') + 1));
  return here !== null && pid > 0 && label === ownerLabel(pid) && !isAlive(pid);
}
