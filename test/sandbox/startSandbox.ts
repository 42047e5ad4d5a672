// A process that runs code in a sandbox, says so, and is killed by the test that started it.

import { CodeSandbox } from '../../sandbox/codeSandbox.ts';
import { generateSdk } from '../../sandbox/generateSdk.ts';
import { docker, image } from '../docker.ts';

const echo = {
  name: 'echo',
  description: 'Says it again.',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const sandbox = new CodeSandbox({ docker, image, memoryBytes: 128 * 1024 * 1024, cpus: 1, pool: 0 });
const waiting = new CodeSandbox({ docker, image, memoryBytes: 128 * 1024 * 1024, cpus: 1, pool: 1 });
await waiting.ready();
await sandbox.run({
  code: 'echo("on")\nimport time\ntime.sleep(600)',
  sdk: generateSdk([echo], sandbox.socketPath),
  timeoutSeconds: 600,
  signal: new AbortController().signal,
  onCall: async () => {
    process.stdout.write('on\n');
    return { value: 'on' };
  },
});
