#!/usr/bin/env node
// The entry point of `work-ledger`: runs the command line. A hook, which a client waits for at every prompt, runs without loading the rest.

import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

import { endWithReader } from './commandLine/closedPipe.ts';

// A short command spends half of its time compiling what it loads, so compiled code is cached. The cache is in a directory that belongs to
// the user, because cached code is executed.
const caches = process.env['XDG_CACHE_HOME'] || join(process.env['HOME'] ?? '', '.cache');
if (isAbsolute(caches) && existsSync(dirname(caches))) enableCompileCache(join(caches, 'work-ledger'));

const [command, ...words] = process.argv.slice(2);
endWithReader(command);
const hook = command === 'hook' ? await (await import('./commands/hook.ts')).plainHook(words) : null;
if (hook) {
  const code = await hook();
  // The client waits for this process to end, so it exits as soon as its output is written, without waiting for what is still open.
  process.stderr.write('', () => process.stdout.write('', () => process.exit(code))); // oxlint-disable-line unicorn/no-process-exit
} else {
  // Workers and servers, which run on, return memory while they wait.
  setTimeout(() => {
    import('./commandLine/trimMemory.ts').then(
      ({ trimMemory }) => trimMemory(),
      () => {}, // the package was replaced meanwhile
    );
  }, 10_000).unref();
  await (await import('./main.ts')).main(process.argv.slice(2));
}
