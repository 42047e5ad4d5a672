// A worker's Docker daemon, which may be there later than the worker. dockerode, which takes 12 MB, is loaded only then.

import type Docker from 'dockerode';
import type { Logger } from 'pino';

import { hasDockerSocket, openDocker, ping } from '../../sandbox/docker.ts';
import type { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { openContainers } from '../focus/containers.ts';
import type { Containers } from '../focus/containers.ts';
import { executeCode } from '../focus/runCode.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';

export type WorkerDocker = {
  /** Null while no daemon is known. */
  containers(): Containers | null;
  /** Offers execute_code if the daemon answers. False: none answers at the moment. */
  offersCode(): Promise<boolean>;
};

/** `given`: undefined: the daemon of DOCKER_HOST or of this machine; null: the worker uses none. `ledger`: see ledgerId(). */
export function workerDocker(
  given: Docker | null | undefined,
  { db, ledger, directories, log }: { db: Db; ledger: string; directories: ServedDirectories; log: Logger },
): WorkerDocker {
  let opened = given === undefined ? undefined : Promise.resolve(given);
  let containers: Containers | null = null;
  return {
    containers: () => containers,
    async offersCode() {
      if (opened === undefined && !hasDockerSocket()) return false;
      const docker = await (opened ??= openDocker().catch((error: unknown) => {
        log.info(`execute_code is not offered, and there are no workspaces in containers: ${messageOf(error)}`);
        return null;
      }));
      if (docker === null) return true;
      containers ??= openContainers(docker, db, ledger, directories, log);
      const isThere = await ping(docker).then(
        () => true,
        () => false,
      );
      if (isThere) {
        await containers.identify().catch(() => {}); // repeated when a workspace is wanted, which reports the error
        await db.abilityRegister(executeCode);
      }
      return isThere;
    },
  };
}
