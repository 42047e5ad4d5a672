// The Docker daemon of a test run. Where none answers, or the image is not built, what needs it is skipped and says so.

import Docker from 'dockerode';

import { sandboxImage } from '../sandbox/image.ts';

export const image = sandboxImage;
export const docker = new Docker();

/** Why tests with containers cannot run here; null when they can. */
export const noDocker: string | null = await docker
  .getImage(image)
  .inspect()
  .then(
    () => null,
    (error: Error) => error.message || String((error as NodeJS.ErrnoException).code),
  );
if (noDocker !== null) console.log(`Tests with containers are skipped: ${noDocker} (start dockerd, then make sandbox-image)`);

/** Where its socket is. */
export const dockerSocket = (process.env['DOCKER_HOST'] ?? '').replace(/^unix:\/\//, '') || '/var/run/docker.sock';
