// Opens a temporary ledger for one command. Ignores any schema set by the environment, work-ledger.toml or other commands.

import type { Settings } from '../../config.ts';
import { findDatabase } from '../../install/findLedger.ts';
import type { Place } from '../../install/findLedger.ts';
import { makeScratch } from '../../install/scratchLedger.ts';
import { shownUrl } from '../../ledger/address.ts';
import { messageOf, UsageError } from '../../ledger/errors.ts';
import { exit, note } from '../output.ts';

export type ScratchOptions = Omit<Settings, 'schema' | 'readUrl'> & { install?: boolean; keep?: boolean };

/**
 * Creates the ledger, calls `use`, and drops the ledger, even after a signal. `use` is notified of the signal and returns; the exit code is
 * then that of an interruption.
 */
export async function withScratch(
  options: ScratchOptions,
  use: (place: Place, interrupted: AbortSignal) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.once(name, onSignal); // a second signal ends it at once; the next demo removes what it left
  try {
    const { url, isEmbedded } = await findDatabase(options);
    if (!isEmbedded && !options.install) {
      throw new UsageError(
        `demo makes a ledger of its own in ${shownUrl(url)}, in a schema that is gone when it ends: --install lets it; without an address it uses the embedded database`,
      );
    }
    const scratch = await makeScratch(url, { isKept: options.keep ?? false });
    let code: number = exit.interrupted;
    try {
      if (!interrupted.signal.aborted) code = await use({ url, schema: scratch.schema, isEmbedded }, interrupted.signal);
    } finally {
      await scratch
        .remove()
        .catch((error: unknown) => note(`schema ${scratch.schema} could not be dropped (${messageOf(error)}); the next demo drops it`));
    }
    if (code === exit.interrupted)
      note(options.keep ? `stopped; its work is in schema ${scratch.schema}` : 'stopped; the demo left nothing behind');
    return code;
  } finally {
    for (const name of signals) process.removeListener(name, onSignal);
  }
}
