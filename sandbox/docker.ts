// Creates clients of the Docker daemon. The only import of dockerode, which is loaded only when required.

import type Docker from 'dockerode';

import { loadPackage } from './optionalPackage.ts';

/** For the daemon of DOCKER_HOST or of this machine; does not check whether it answers. Throws PackageMissing. */
export async function openDocker(): Promise<Docker> {
  const { default: Client } = await loadPackage('dockerode', 'Docker', () => import('dockerode'));
  return new Client();
}
