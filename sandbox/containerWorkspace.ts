// The workspace of a work item in a container. Its files are on a volume, which stays until it is removed; the container belongs to this
// process and ends with it, and the next worker starts another with the same volume.

import { addAbortSignal } from 'node:stream';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import type Docker from 'dockerode';

import { packFiles, unpackFiles } from './fileArchive.ts';
import type { ArchiveLimits } from './fileArchive.ts';
import { openDirectory } from './openDirectory.ts';
import type { Directory } from './openDirectory.ts';
import { containerOptions, isImageMissing, LEDGER_LABEL, ofLedger, pythonProgram, SandboxContainer } from './sandboxContainer.ts';
import type { ContainerKind, ContainerSettings } from './sandboxContainer.ts';
import { changedMeanwhile, WorkspaceError, WorkspaceUnavailable } from './workspace.ts';
import type { FoundFile, ProcessResult, RunOptions, Workspace } from './workspace.ts';

export type WorkspaceSettings = ContainerSettings & {
  /** The maximum size of its files. */
  sizeBytes: number;
  /** Opens the directory of this host whose files the workspace starts with; null: none. */
  seed: (() => Promise<Directory>) | null;
};

type Answer = { id: number; refused?: string } & Record<string, unknown>;

/**
 * Where a volume is mounted. The workspace is the directory `agent` in it, because the daemon sets the owner of what it unpacks, but never
 * of the volume itself.
 */
const MOUNT = '/home';
const MAX_FILES = 100_000;
/** The label of every volume created here; its value is the work item. */
export const VOLUME_LABEL = 'work-ledger.workspace';
const program = pythonProgram('workspace');

export const volumeOf = (workItemId: string): string => `work-ledger-${workItemId}`;

const workspaceContainer = (workItemId: string, sizeBytes: number): ContainerKind => ({
  program,
  workingDir: MOUNT,
  maxProcesses: 256,
  maxOpenFiles: 1024,
  maxFileBytes: sizeBytes,
  mounts: {
    Mounts: [
      {
        Type: 'volume',
        Source: volumeOf(workItemId),
        Target: MOUNT,
        ReadOnly: false,
        VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
      },
    ],
  },
  labels: { [VOLUME_LABEL]: workItemId },
});

export class ContainerWorkspace implements Workspace {
  readonly root = '/home/agent'; // ROOT in python/workspace.py
  readonly #docker: Docker;
  readonly #workItemId: string;
  readonly #settings: WorkspaceSettings;
  readonly #bind: () => Promise<void>;
  readonly #asked = new Map<number, { of: SandboxContainer<Answer>; settle: (answer: Answer | null) => void }>();
  #container: Promise<SandboxContainer<Answer>> | undefined;
  #listening: Promise<void> | undefined;
  #count = 0;
  #usedAt = performance.now();

  /** `bind` is called before the volume is created or used; if it throws, the volume is not touched. */
  constructor(docker: Docker, workItemId: string, settings: WorkspaceSettings, bind: () => Promise<void>) {
    this.#docker = docker;
    this.#workItemId = workItemId;
    this.#settings = settings;
    this.#bind = bind;
  }

  /** Milliseconds since it was last used; 0 while it is in use. */
  get restsForMs(): number {
    return this.#asked.size > 0 ? 0 : performance.now() - this.#usedAt;
  }

  async readFile(path: string, maxBytes: number): Promise<Buffer> {
    const { data } = await this.#ask({ op: 'read', path, max_bytes: maxBytes }, 60);
    return Buffer.from(String(data), 'base64');
  }

  async hashFile(path: string): Promise<string | null> {
    const { hash } = await this.#ask({ op: 'hash', path }, 60);
    return hash as string | null;
  }

  async writeFile(path: string, content: string | Buffer, expected?: string | null): Promise<void> {
    const { is_changed } = await this.#ask(
      { op: 'write', path, data: Buffer.from(content).toString('base64'), ...(expected !== undefined && { expected }) },
      60,
    );
    if (is_changed === true) throw changedMeanwhile(path);
  }

  async *files(path: string, options: { isEverything?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<FoundFile> {
    const { files } = await this.#ask({ op: 'files', path, is_everything: options.isEverything ?? false }, 60);
    for (const [found, modifiedMs, size] of files as [string, number, number][]) yield { path: found, modifiedMs, size };
  }

  async run(command: string, options: RunOptions): Promise<ProcessResult> {
    const { timeoutSeconds, signal, maxBytes = 1_000_000, stdin } = options;
    const ended = await this.#ask(
      { op: 'run', command, timeout: timeoutSeconds, max_bytes: maxBytes, stdin: stdin ?? null },
      timeoutSeconds,
      signal,
    );
    return {
      stdout: String(ended['stdout']),
      stderr: String(ended['stderr']),
      exitCode: ended['exit_code'] as number | null,
      signal: ended['signal'] as string | null,
      cause: ended['cause'] as ProcessResult['cause'],
      isTruncated: ended['is_truncated'] === true,
      durationMs: Number(ended['duration_ms']),
    };
  }

  /** Ends whatever runs there. The files stay. */
  async close(): Promise<void> {
    const container = await this.#container?.catch(() => null);
    this.#container = undefined;
    if (!container) return;
    await container.kill();
    await this.#listening;
  }

  async #ask(request: Record<string, unknown>, seconds: number, signal?: AbortSignal): Promise<Answer> {
    const container = await this.#running();
    const id = ++this.#count;
    const answered = new Promise<Answer | null>((settle) => this.#asked.set(id, { of: container, settle }));
    const kill = (): void => container.tell({ op: 'kill', id });
    // A working container answers within the timeout; one that does not is stuck.
    const late = setTimeout(() => void container.kill(), (seconds + 30) * 1000);
    container.tell({ id, ...request });
    if (container.isGone) this.#asked.get(id)?.settle(null); // it ended before the request was sent
    if (signal?.aborted) kill();
    signal?.addEventListener('abort', kill, { once: true });
    try {
      const answer = await answered;
      if (answer === null) throw new WorkspaceUnavailable('the workspace container stopped in the middle of this');
      if (answer.refused !== undefined) throw new WorkspaceError(answer.refused);
      return answer;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', kill);
      this.#asked.delete(id);
      this.#usedAt = performance.now();
    }
  }

  /** The container, started by the first call that requires it. */
  async #running(): Promise<SandboxContainer<Answer>> {
    for (let tries = 0; tries < 3; tries++) {
      const starting = (this.#container ??= this.#start());
      const forget = (): void => {
        if (this.#container === starting) this.#container = undefined;
      };
      const running = await starting.catch((error: unknown) => {
        forget();
        throw error;
      });
      if (!running.isGone) return running;
      forget();
    }
    throw new WorkspaceUnavailable('its container ends as soon as it has started');
  }

  /** If the daemon was reachable before, waits for it to restart. */
  async #start(): Promise<SandboxContainer<Answer>> {
    for (const seconds of this.#count === 0 ? [null] : [1, 3, 8, null]) {
      try {
        return await this.#startOnce();
      } catch (error) {
        if (error instanceof WorkspaceError || error instanceof WorkspaceUnavailable) throw error;
        if (isImageMissing(error)) throw new WorkspaceUnavailable(`there is no image ${this.#settings.image}`);
        if (seconds === null) throw new WorkspaceUnavailable((error as { message?: string }).message ?? String(error));
        await sleep(seconds * 1000);
      }
    }
    throw new WorkspaceUnavailable('no Docker daemon answers');
  }

  async #startOnce(): Promise<SandboxContainer<Answer>> {
    const { sizeBytes, seed } = this.#settings;
    await this.#bind();
    const isLimited = await makeVolume(this.#docker, this.#workItemId, sizeBytes, this.#settings.ledger);
    const container = await SandboxContainer.start<Answer>(
      this.#docker,
      containerOptions(this.#settings, workspaceContainer(this.#workItemId, sizeBytes)),
    );
    try {
      if (container.ready['is_writable'] !== true)
        await container.put(await packFiles((await seed?.()) ?? null, { maxBytes: sizeBytes, maxFiles: MAX_FILES }), MOUNT);
      container.tell({ op: 'limit', bytes: isLimited ? null : sizeBytes });
    } catch (error) {
      await container.kill();
      await container.remove();
      throw error;
    }
    this.#listening = this.#listen(container);
    return container;
  }

  async #listen(container: SandboxContainer<Answer>): Promise<void> {
    for (;;) {
      const answer = await container.next(3_600_000);
      if (answer === null) break;
      if (answer !== 'late') this.#asked.get(answer.id)?.settle(answer);
    }
    for (const { of, settle } of this.#asked.values()) if (of === container) settle(null);
    await container.remove();
  }
}

/**
 * Creates the volume of a work item unless it exists. Returns whether the daemon enforces its size (it does on XFS with project quotas).
 */
async function makeVolume(docker: Docker, workItemId: string, sizeBytes: number, ledger?: string): Promise<boolean> {
  const Name = volumeOf(workItemId);
  const there = await docker
    .getVolume(Name)
    .inspect()
    .catch((error: { statusCode?: number }) => {
      if (error.statusCode === 404) return null;
      throw error;
    });
  if (there) return there.Options?.['size'] !== undefined;
  const make = (DriverOpts: Record<string, string>): Promise<unknown> =>
    docker.createVolume({ Name, Driver: 'local', DriverOpts, Labels: { [VOLUME_LABEL]: workItemId, ...ofLedger(ledger) } });
  try {
    await make({ size: String(sizeBytes) });
    return true;
  } catch (error) {
    if (!/quota/i.test((error as Error).message)) throw error;
    await make({});
    return false;
  }
}

/** Copies the files of a work item's workspace to a directory of this host; anything but directories and regular files is left out. */
export async function pullFiles(
  docker: Docker,
  workItemId: string,
  image: string,
  directory: string,
  limits: ArchiveLimits,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ files: number; leftOut: string[] }> {
  await docker.getVolume(volumeOf(workItemId)).inspect();
  return withVolume(docker, workItemId, image, async (container) => {
    const archive = (await container.getArchive({ path: `${MOUNT}/agent` })) as Readable;
    return unpackFiles(addAbortSignal(signal, archive), directory, limits);
  });
}

/** Copies the contents of a directory of this host to a work item's workspace, which is created if there is none yet. */
export async function pushFiles(
  docker: Docker,
  workItemId: string,
  image: string,
  directory: string,
  limits: ArchiveLimits,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const opened = await openDirectory(directory).catch((error: NodeJS.ErrnoException) => {
    throw new WorkspaceError(
      error.code === 'ENOENT' ? `there is no ${directory}` : `${directory} cannot be read: ${error.code ?? String(error)}`,
    );
  });
  const archive = await packFiles(opened, limits);
  await makeVolume(docker, workItemId, limits.maxBytes);
  await withVolume(docker, workItemId, image, async (container) => container.putArchive(archive, { path: MOUNT, abortSignal: signal }));
}

/** Creates a container without starting it, so that its volume can be read and written. */
async function withVolume<T>(
  docker: Docker,
  workItemId: string,
  image: string,
  use: (container: Docker.Container) => Promise<T>,
): Promise<T> {
  const container = await docker.createContainer(
    containerOptions({ image, memoryBytes: 64 * 1024 * 1024, cpus: 1 }, workspaceContainer(workItemId, 1)),
  );
  try {
    return await use(container);
  } finally {
    await container.remove({ force: true, v: true }).catch(() => {});
  }
}

/** The work items that have a volume at this daemon. */
export const listVolumes = async (docker: Docker): Promise<string[]> => (await listOwned(docker)).map(({ workItemId }) => workItemId);

/** Each with the ledger that it was created for; null: created by an earlier version, or by `push`, which does not know the ledger. */
export async function listOwned(docker: Docker): Promise<{ workItemId: string; ledger: string | null }[]> {
  const { Volumes } = await docker.listVolumes({ filters: { label: [VOLUME_LABEL] } });
  return Volumes.flatMap(({ Labels }) =>
    Labels[VOLUME_LABEL] ? [{ workItemId: Labels[VOLUME_LABEL], ledger: Labels[LEDGER_LABEL] ?? null }] : [],
  );
}

/** Removes a work item's files. False if they are still in use. */
export async function removeVolume(docker: Docker, workItemId: string): Promise<boolean> {
  return docker
    .getVolume(volumeOf(workItemId))
    .remove()
    .then(
      () => true,
      () => false,
    );
}
