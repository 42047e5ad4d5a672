#!/usr/bin/env node
// What `work-ledger` starts: the command line; but a hook, which a client waits for at each of its prompts, without the rest.

import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

import { endWithReader } from './commandLine/closedPipe.ts';

// Half of a short command's time goes into compiling what it loads. The cache is in a directory of the user's own, because what is found
// there is run.
const caches = process.env['XDG_CACHE_HOME'] || join(process.env['HOME'] ?? '', '.cache');
if (isAbsolute(caches) && existsSync(dirname(caches))) enableCompileCache(join(caches, 'work-ledger'));

const [command, ...words] = process.argv.slice(2);
endWithReader(command);
const hook = command === 'hook' ? await (await import('./commands/hook.ts')).plainHook(words) : null;
if (hook) {
  const code = await hook();
  // Its client waits for the end of this process: once everything that it says is written, nothing that is still open is waited for.
  process.stderr.write('', () => process.stdout.write('', () => process.exit(code))); // oxlint-disable-line unicorn/no-process-exit
} else await (await import('./main.ts')).main(process.argv.slice(2));
