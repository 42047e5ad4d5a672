// What a new entry of a journal costs who subscribes to it, as the journal grows: from the entry to its callback, and what the server
// does for both.

import { setTimeout as sleep } from 'node:timers/promises';

import { openDb } from '../../runtime/ledger/db.ts';
import { WorkJournal } from '../../runtime/ledger/journal.ts';
import { against, lineOf, spread } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

export const journal: Question = {
  asks: 'Does a journal wake its readers as fast when it is long?',
  axis: 'entries',
  measure: ({ quick, say }) =>
    withServer(async ({ url, admin, cpu }) => {
      const db = await openDb(url, 'work_ledger');
      const book = new WorkJournal(db, url);
      const { id } = await book.createSession('bench', 'Find why');
      let told = (_entry: string): void => {};
      const lines: Line[] = [];
      for (const size of quick ? [100, 1000] : [100, 1000, 10_000]) {
        await admin.query(
          `insert into journal_entries (work_item_id, entry_type, content, created_at) select $1, 'user_feedback', jsonb_build_object('message', 'Word' || n || ' of many'), now() - interval '1 hour' from generate_series(1, $2 - (select count(*)::integer from journal_entries)) n`,
          [id, size],
        );
        await admin.query('vacuum analyze');
        say(`journal: ${size}`);
        const end = book.subscribe(id, (entry) => told(entry.id));
        await sleep(1000);
        const [times, cpus]: [number[], number[]] = [[], []];
        for (let n = 0; n < (quick ? 5 : 20); n++) {
          await sleep(100);
          const [before, startedAt] = [await cpu(), performance.now()];
          const heard = new Promise<void>((resolve) => (told = () => resolve()));
          await book.logEntry(id, 'user_feedback', { message: `Look again, ${n}` });
          await heard;
          times.push(performance.now() - startedAt);
          const after = await cpu();
          if (before !== null && after !== null) cpus.push(after - before);
        }
        end();
        await sleep(200);
        const line = {
          ...lineOf('an entry, until who subscribes has it', 'ms', times, size),
          ...(cpus.length > 0 && { cpu: spread(cpus).median }),
        };
        const [first] = lines;
        lines.push(first ? against(line, { ...first, name: `that at ${first.at}` }) : line);
      }
      await db.close();
      return lines;
    }),
};
