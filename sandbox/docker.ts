// Creates clients of the Docker daemon. The only import of dockerode, which is loaded only when required.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type Docker from 'dockerode';

import { loadPackage } from './optionalPackage.ts';

/** How long a daemon under load may take to answer a request. */
const ANSWER_MS = 120_000;
const PING_MS = 10_000;

/** For the daemon of DOCKER_HOST or of this machine; does not check whether it answers. Throws PackageMissing. */
export async function openDocker(): Promise<Docker> {
  const { default: Client } = await loadPackage('dockerode', 'Docker', () => import('dockerode'));
  return new Client({ timeout: ANSWER_MS });
}

/** The same for a daemon that answers. Throws its errors. */
export async function answeringDocker(): Promise<Docker> {
  const docker = await openDocker();
  await ping(docker);
  return docker;
}

/** Throws if no daemon answers. One that hangs accepts connections and never answers. */
export async function ping(docker: Docker): Promise<void> {
  const abortSignal = AbortSignal.timeout(PING_MS);
  // its types do not know the option
  await (docker.ping({ abortSignal } as never) as unknown as Promise<unknown>).catch((error: unknown) => {
    throw abortSignal.aborted ? new Error(`it hangs: no answer within ${PING_MS / 1000} seconds`) : error;
  });
}

/** False if no daemon can answer, because the socket does not exist at which dockerode would look for it. Loads nothing. */
export function hasDockerSocket(): boolean {
  const { DOCKER_HOST: host = '' } = process.env;
  if (host !== '' && !host.startsWith('unix://')) return true;
  const socket = host.slice('unix://'.length);
  const sockets = socket === '' ? [join(homedir(), '.docker', 'run', 'docker.sock'), '/var/run/docker.sock'] : [socket];
  return process.platform === 'win32' || sockets.some((path) => existsSync(path));
}
