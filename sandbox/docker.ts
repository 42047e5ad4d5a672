// A client of the Docker daemon. The only import of dockerode, which is loaded by who needs it.

import type Docker from 'dockerode';

import { loadPackage } from './optionalPackage.ts';

/** For the daemon of DOCKER_HOST, or of this machine; whether it answers is not asked. Throws PackageMissing. */
export async function openDocker(): Promise<Docker> {
  const { default: Client } = await loadPackage('dockerode', 'Docker', () => import('dockerode'));
  return new Client();
}
