// An embedded PostgreSQL in a temporary directory; both go when the process that started them does.

import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ensureEmbedded, stopEmbedded } from './embedded.ts';
import type { Embedded } from './embedded.ts';

/** Stop it with `stop()`; if the process is killed and cannot, a keeper process does. */
export async function startThrowaway(options: { isDurable: boolean }): Promise<Embedded & { stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'wl-test-'));
  await chmod(dataDir, 0o755);
  const embedded = await ensureEmbedded({ dataDir, isDurable: options.isDurable });
  const keeper = spawn(
    'sh',
    [
      '-c',
      `while kill -0 ${process.pid} 2>/dev/null; do sleep 2; done; pid=$(head -1 '${dataDir}/cluster/postmaster.pid' 2>/dev/null) && kill -INT $pid; sleep 2; rm -rf '${dataDir}'`,
    ],
    { detached: true, stdio: 'ignore' },
  );
  keeper.unref();
  return {
    ...embedded,
    async stop() {
      await stopEmbedded(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
