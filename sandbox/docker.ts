// Creates clients of the Docker daemon. The only import of dockerode, which is loaded only when required.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type Docker from 'dockerode';

import { loadPackage } from './optionalPackage.ts';

/** For the daemon of DOCKER_HOST or of this machine; does not check whether it answers. Throws PackageMissing. */
export async function openDocker(): Promise<Docker> {
  const { default: Client } = await loadPackage('dockerode', 'Docker', () => import('dockerode'));
  return new Client();
}

/** False if no daemon can answer, because the socket does not exist at which dockerode would look for it. Loads nothing. */
export function hasDockerSocket(): boolean {
  const { DOCKER_HOST: host = '' } = process.env;
  if (host !== '' && !host.startsWith('unix://')) return true;
  const socket = host.slice('unix://'.length);
  const sockets = socket === '' ? [join(homedir(), '.docker', 'run', 'docker.sock'), '/var/run/docker.sock'] : [socket];
  return process.platform === 'win32' || sockets.some((path) => existsSync(path));
}
