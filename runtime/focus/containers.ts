// What a worker runs at a Docker daemon: sandboxes for code, workspaces of work items, and the removal of both.

import type Docker from 'dockerode';
import type { Logger } from 'pino';

import { CodeSandbox } from '../../sandbox/codeSandbox.ts';
import { ContainerWorkspace, listVolumes, removeVolume } from '../../sandbox/containerWorkspace.ts';
import { daemonId } from '../../sandbox/daemonId.ts';
import { ping } from '../../sandbox/docker.ts';
import type { Directory } from '../../sandbox/openDirectory.ts';
import { reap } from '../../sandbox/sandboxContainer.ts';
import type { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { clearSockets } from '../../sandbox/toolSocket.ts';
import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import type { Claimed } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { namedBy } from './namedDirectory.ts';

type Engage = Claimed['faculty']['engage'];

type Held = { claim: Claimed; workspace: ContainerWorkspace };

export type Containers = {
  /** The id of the daemon; null: none has answered yet. */
  readonly daemon: string | null;
  /** Asks the daemon for its id. Throws the daemon's errors. */
  identify(): Promise<string>;
  /** The sandbox for code of a faculty with these settings. */
  sandbox(engage: Engage): CodeSandbox;
  /** The workspace that holds a work item's files and runs its commands. */
  workspace(claim: Claimed): Workspace;
  /** Ends whatever runs there for a focus that waits or has ended. The files stay. */
  release(claim: Claimed): Promise<void>;
  close(): Promise<void>;
};

const SWEEP_MS = 60_000;
const REST_MS = 300_000;

/** `ledger`: the ledger's id, see ledgerId(). */
export function openContainers(docker: Docker, db: Db, ledger: string, directories: ServedDirectories, log: Logger): Containers {
  const sandboxes = new Map<string, CodeSandbox>();
  /** Each with the newest claim of its item, under which it is bound to the daemon. */
  const workspaces = new Map<string, Held>();
  let daemon: string | null = null;
  const identify = async (): Promise<string> => (daemon ??= await daemonId(docker));
  const bind = async (claim: Claimed): Promise<void> => {
    const host = await db.workspaceBind(claim, await identify());
    if (host !== null) throw new WorkspaceUnavailable(`its files are in Docker on host "${host}"`);
  };

  const sweep = async (): Promise<void> => {
    try {
      await ping(docker); // a request to a daemon that hangs would keep a process from ending
      await identify();
      for (const [workItemId, { workspace }] of workspaces) {
        if (workspace.restsForMs < REST_MS) continue;
        workspaces.delete(workItemId);
        await workspace.close();
      }
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.endSessions(REST_MS)));
      await clearSockets();
      await reap(docker);
      for (const over of await db.workspacesOver(await listVolumes(docker))) await removeVolume(docker, over);
    } catch (error) {
      log.debug({ err: error }, 'containers not swept'); // no daemon answers at the moment
    }
  };
  void sweep();
  const sweeper = setInterval(() => void sweep(), SWEEP_MS).unref();

  return {
    get daemon() {
      return daemon;
    },
    identify,
    sandbox(engage) {
      const options = {
        image: engage.code_execution_image,
        memoryBytes: bytesOf(engage.code_execution_memory),
        cpus: engage.code_execution_cpus,
        ledger,
        pool: engage.code_execution_pool,
      };
      return remembered(sandboxes, JSON.stringify(options), () => new CodeSandbox({ docker, ...options }));
    },
    workspace(claim) {
      const {
        work_item_id: workItemId,
        faculty: { engage },
      } = claim;
      const held: Held = remembered(workspaces, workItemId, () => {
        const settings = {
          image: engage.workspace_image,
          memoryBytes: bytesOf(engage.workspace_memory),
          cpus: engage.workspace_cpus,
          ledger,
          sizeBytes: bytesOf(engage.workspace_size),
          seed: engage.workspace_dir === null ? null : () => seedOf(held.claim, directories),
        };
        return { claim, workspace: new ContainerWorkspace(docker, workItemId, settings, () => bind(held.claim)) };
      });
      held.claim = claim;
      return held.workspace;
    },
    async release({ work_item_id: workItemId, focus_id: focusId }) {
      const held = workspaces.get(workItemId);
      workspaces.delete(workItemId);
      await Promise.all([held?.workspace.close(), ...[...sandboxes.values()].map((sandbox) => sandbox.endSession(focusId))]);
    },
    async close() {
      clearInterval(sweeper);
      await Promise.all([...sandboxes.values(), ...[...workspaces.values()].map(({ workspace }) => workspace)].map((one) => one.close()));
    },
  };
}

/** Opens the directory whose files a workspace begins with. */
function seedOf(claim: Claimed, directories: ServedDirectories): Promise<Directory> {
  const named = namedBy(claim);
  if (named === null) throw new WorkspaceUnavailable('no directory is configured any more');
  return directories.open(named);
}

function remembered<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

const units: Record<string, number> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Converts a size such as "512m" to bytes. */
export function bytesOf(size: string): number {
  const [, amount, unit] = /^(\d+)([bkmg]?)$/i.exec(size) ?? [];
  return Number(amount ?? 512) * (units[(unit || 'b').toLowerCase()] ?? 1);
}
