// `work-ledger restore`: the ledger of a dump, under any name, and whether it is as it was written.

import type { Settings } from '../config.ts';
import { findDatabase } from '../install/findLedger.ts';
import { restoreLedger } from '../install/restoreLedger.ts';
import { openDb } from '../ledger/db.ts';
import { exit, note, print, visible } from './output.ts';

export type RestoreOptions = Settings & { from?: string };

export async function restore(file: string, options: RestoreOptions): Promise<number> {
  const { url } = await findDatabase(options);
  const restored = await restoreLedger(file, url, options.schema || 'work_ledger', options.from);
  const db = await openDb(url, restored.schema, { maximumPoolSize: 1 });
  try {
    const problems = await db.ledgerVerify(null, null);
    const said = problems.length === 0 ? 'everything is as it was written' : problems.map((one) => visible([one.work_item_id, one.place, one.problem].filter(Boolean).join('  '))).join('\n');
    print({ ...restored, problems }, `restored ${restored.workItems} work items with ${restored.entries} entries from schema ${restored.from} into schema ${restored.schema}\n${said}`, options.json ?? false);
    for (const missing of restored.missingFunctions) note(`there is no function ${missing}, which a tool or a retention policy names: it was not in the ledger`);
    note('Not in a dump of a ledger: roles (work_roles_create), jobs (the first worker enqueues what is due), functions in JavaScript (work-ledger javascript), functions of your own, workspaces.');
    return problems.length === 0 ? exit.ok : exit.error;
  } finally {
    await db.close();
  }
}
