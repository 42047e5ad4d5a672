// A lead hands each part of a repository to a reviewer; what one reviewer finds, the others are told while they work.
//   node main.ts [DIRECTORY] [QUESTION]

import { resolve } from 'node:path';

import { builtinTools, createModelClient, ensureEmbedded, LedgerClient, projectOf, readyLedger, startWorker } from 'work-ledger';
import type { Faculty } from 'work-ledger';

const [directory = '.', question = 'Where can this code lose data?'] = process.argv.slice(2);
const repository = resolve(directory);
const url = process.env['DATABASE_URL'] ?? (await ensureEmbedded()).url;
const schema = process.env['WORK_LEDGER_SCHEMA'] ?? 'work_ledger';
const project = await projectOf(repository);

await readyLedger(url, schema);
const ledger = await LedgerClient.open({ databaseUrl: url, schema });
// They read and never write: a review leaves the repository as it was.
const reads: Faculty['engage'] = {
  model: 'claude-sonnet-5-5',
  tools: ['read_file', 'glob', 'grep'],
  workspace: 'host',
  workspace_dir: repository,
};
await ledger.saveFaculty({
  name: 'review-lead',
  project,
  accepts: ['review'],
  engage: {
    ...reads,
    system_prompt:
      'Look at the layout of the repository, then give each part that matters to a reviewer (spawn_child_work with work_type review-part, all at once) and wait for them. Say what they found, the worst first, each with its file and line.',
  },
});
await ledger.saveFaculty({
  name: 'reviewer',
  project,
  accepts: ['review-part'],
  max_concurrent: 4,
  engage: {
    ...reads,
    system_prompt: 'Review the part that you are given. Record each finding with its file and line as soon as you are sure.',
  },
});

const worker = await startWorker({ url, schema, project, model: createModelClient(), tools: builtinTools, concurrency: 6 });
try {
  const { id } = await ledger.submit({ workType: 'review', description: question, project, budget: { tokens: 2_000_000 } });
  console.log(`work-ledger logs ${id} --follow`);
  for await (const event of ledger.follow(id, { activity: 'none' }))
    if (event.kind === 'entry') console.log(`${event.entry.entry_type}: ${event.entry.content}`);
  const item = await ledger.item(id);
  console.log(item.state, item.outcome_data?.['summary'] ?? item.state_reason);
  process.exitCode = item.state === 'completed' ? 0 : 1;
} finally {
  await worker.stop();
  await ledger.close();
}
