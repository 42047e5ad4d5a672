// Started by containerWorkspace.test.ts to be killed: a process with a command running in the workspace of argv[2].

import { ContainerWorkspace } from '../../sandbox/containerWorkspace.ts';
import { docker, image } from '../docker.ts';

const workspace = new ContainerWorkspace(
  docker,
  process.argv[2] ?? '',
  { image, memoryBytes: 128 * 1024 * 1024, cpus: 1, sizeBytes: 16 * 1024 * 1024, seed: null },
  async () => {},
);
await workspace.writeFile('begun', 'yes');
void workspace.run('setsid sleep 300 & sleep 300', { timeoutSeconds: 300, signal: new AbortController().signal });
console.log('runs');
setInterval(() => {}, 1000);
