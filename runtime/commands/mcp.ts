// An interactive agent beside the workers: `work-ledger mcp` serves it the ledger, `work-ledger hook …` is called by its
// client at fixed points. Both find their session by the conversation: by default the directory that the client works in.

import { UsageError } from '../ledger/errors.ts';
import { serveMcp } from '../mcp/server.ts';
import type { ClientOptions } from './hook.ts';
import { exit } from './output.ts';

export type McpOptions = ClientOptions & { workItem?: string };

/** The client is answered at once; the code that opens a ledger is loaded and run after that. */
export async function mcp(options: McpOptions): Promise<number> {
  await serveMcp(async () => {
    const [{ openLedger }, { sessionOf }, { keepAlive }] = await Promise.all([import('./withLedger.ts'), import('./hook.ts'), import('../ledger/journal.ts')]);
    const { db } = await openLedger(options);
    try {
      if (options.workItem !== undefined && (await db.workItem(options.workItem)) === null) throw new UsageError(`there is no work item ${options.workItem}`);
      if (options.workItem !== undefined) return { db, workItemId: options.workItem, leave: () => db.close() };
      const workItemId = await sessionOf(db, options.conversation ?? process.cwd());
      const letGo = keepAlive(db, workItemId); // as long as the client has its server
      return {
        db,
        workItemId,
        leave() {
          letGo();
          return db.close();
        },
      };
    } catch (error) {
      await db.close();
      throw error;
    }
  });
  return exit.ok;
}
