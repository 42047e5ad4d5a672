// Builds the image in which agents' code and workspaces run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { requireDocker } from './needs.ts';
import { exit, note, print } from './output.ts';

/**
 * Builds with Docker, which pulls the base image; `debian`: from Debian packages, where nothing can be pulled. The build's output goes to
 * stderr.
 */
export async function buildSandboxImage(
  image: string,
  { debian = false, json = false }: { debian?: boolean; json?: boolean },
): Promise<number> {
  const source = fileURLToPath(new URL('../../sandbox/', import.meta.url));
  await requireDocker();
  const [command, ...args] = debian ? ['bash', `${source}buildImage.sh`, image] : ['docker', 'build', '--tag', image, source];
  const build = spawn(command ?? '', args, { stdio: ['ignore', process.stderr, process.stderr] });
  let code: number | null;
  try {
    [code] = (await once(build, 'exit')) as [number | null];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`there is no ${command} on PATH`, { cause: error });
  }
  if (code !== 0) {
    note(
      debian
        ? 'error: the image was not built; it takes root, debootstrap and a Docker daemon'
        : 'error: the image was not built; where its base cannot be pulled: work-ledger workspace image --debian',
    );
    return exit.error;
  }
  print({ image }, image, json);
  return exit.ok;
}
