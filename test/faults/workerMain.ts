// A worker as users have it, in a process that is there to be killed: its tools note what they do in a file.

import { z } from 'zod';

import { logger } from '../../runtime/commands/work.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { recorded } from './effects.ts';
import { tools as ofWorkload } from './workload.ts';

const given = z
  .object({
    url: z.string(),
    schema: z.string(),
    modelUrl: z.string(),
    effectsFile: z.string(),
    leaseSeconds: z.number(),
    hasDocker: z.boolean(),
    /** Breaks the rule on purpose: calls that must not run twice are declared as ones that may. */
    repeatsUnsafe: z.boolean(),
  })
  .parse(JSON.parse(process.env['WORK_LEDGER_FAULTS_WORKER'] ?? ''));

const tools = ofWorkload.map((tool) => recorded(tool, given.effectsFile));
const worker = await startWorker({
  url: given.url,
  schema: given.schema,
  leaseSeconds: given.leaseSeconds,
  concurrency: 3,
  facultyModels: false,
  graceSeconds: 1,
  log: logger('info'),
  model: createModelClient({ apiKey: 'scripted', baseURL: given.modelUrl, idleTimeoutMs: 5000 }),
  tools: given.repeatsUnsafe ? tools.map((tool) => ({ ...tool, effect: 'idempotent' as const })) : tools,
  ...(!given.hasDocker && { docker: null }),
});
process.send?.('started');
await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()).once('disconnect', resolve));
await worker.stop();
process.disconnect?.();
