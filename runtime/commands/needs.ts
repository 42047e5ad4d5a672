// What faculties require of this machine, checked before their work starts: Docker with an image, and a key for the model.

import type Docker from 'dockerode';

import { openDocker, ping } from '../../sandbox/docker.ts';
import { sandboxImage } from '../../sandbox/image.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import type { FacultyNeeds } from '../ledger/overview.ts';
import { builtinTools } from '../tools/builtinTools.ts';

const fileTools = new Set(builtinTools.map((tool) => tool.name).filter((name) => name !== 'web_fetch'));

/** The images whose containers hold a faculty's files, commands and code. */
export function imagesOf({ engage }: FacultyNeeds): string[] {
  const hasFiles = engage.workspace === 'container' && engage.tools.some((tool) => fileTools.has(tool));
  return [...(hasFiles ? [engage.workspace_image] : []), ...(engage.code_execution ? [engage.code_execution_image] : [])];
}

/** Which faculties cannot use files and commands here, and why: one sentence per reason. */
export async function dockerProblems(faculties: readonly FacultyNeeds[]): Promise<string[]> {
  const wanting = faculties.filter((faculty) => imagesOf(faculty).length > 0);
  if (wanting.length === 0) return [];
  const whose = (some: readonly FacultyNeeds[]): string =>
    `the files and commands of ${some.length === 1 ? 'faculty' : 'faculties'} ${some.map(({ name }) => `"${name}"`).join(', ')} need`;
  const remedy = wanting.every(({ engage }) => !engage.code_execution)
    ? 'or workspace = "host"'
    : 'or workspace = "host" and code_execution = false';
  const docker = await openDocker().catch(messageOf);
  if (typeof docker === 'string') return [`${whose(wanting)} Docker: ${docker}, ${remedy}`];
  if (
    !(await ping(docker).then(
      () => true,
      () => false,
    ))
  )
    return [`${whose(wanting)} Docker, and none answers: start it, ${remedy}`];
  const problems: string[] = [];
  for (const image of new Set(wanting.flatMap(imagesOf))) {
    const isThere = await docker
      .getImage(image)
      .inspect()
      .then(
        () => true,
        (error: { statusCode?: number }) => error.statusCode !== 404,
      );
    if (!isThere)
      problems.push(
        `${whose(wanting.filter((faculty) => imagesOf(faculty).includes(image)))} the image ${image}, and Docker does not have it: ${image === sandboxImage ? 'work-ledger workspace image builds it' : 'build or pull it'}, ${remedy}`,
      );
  }
  return problems;
}

/** A client of the Docker daemon. Throws UsageError if none answers. */
export async function requireDocker(): Promise<Docker> {
  const docker = await openDocker();
  await ping(docker).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'EACCES'
        ? 'you may not talk to Docker: become a member of its group (usermod -aG docker), or set DOCKER_HOST'
        : `no Docker daemon answers (${error.code ?? error.message}): start one, or set DOCKER_HOST`,
    );
  });
  return docker;
}

/** Whether a faculty can run without the worker's own key. */
export const hasOwnModel = ({ engage }: FacultyNeeds): boolean => Boolean(engage.base_url ?? engage.api_key_env);
