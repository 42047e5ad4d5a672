// Turns transcripts into turns if the program that appended them ended before they were read: any living worker does it for all.

import type { Logger } from 'pino';

import { readLeftTranscripts } from '../import/readTranscript.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';

const EVERY_MS = 10_000;

export function startTranscripts(db: Db, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const round = async (): Promise<void> => {
    try {
      const count = await readLeftTranscripts(db, stopping.signal);
      if (count > 0) log.info({ count }, 'read transcripts of programs that ended');
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'transcripts were not read');
    }
  };
  let running = round();
  const timer = setInterval(() => {
    running = running.then(round);
  }, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      stopping.abort();
      return running;
    },
  };
}
