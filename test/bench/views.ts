// What a look at one work item reads, in buffers of 8 KB, as the ledger around it grows: every view that knows of work items, by its
// work_item_id. No figure depends on the clock.

import { longItem } from '../longItem.ts';
import { explained } from './backlog.ts';
import { against, lineOf } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

export const views: Question = {
  asks: 'What does a look at one work item read?',
  axis: 'items',
  measure: ({ quick, say }) =>
    withServer(async ({ admin }) => {
      await admin.query(`set search_path = work_ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
      const item = await longItem(admin, 100);
      const looks = new Map<string, string>([
        [
          'message_files, of a message',
          `select * from message_files where message_id = (select m.id from messages m join turns t on t.id = m.turn_id where t.work_item_id = '${item}' limit 1)`,
        ],
      ]);
      const { rows } = await admin.query<{ name: string }>(`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'work_item_id'
       where c.relnamespace = 'work_ledger'::regnamespace and c.relkind = 'v' order by 1`);
      for (const { name } of rows) looks.set(name, `select * from ${name} where work_item_id = '${item}'`);
      const lines: Line[] = [];
      let items = 1;
      for (const size of quick ? [5, 20] : [10, 100, 1000]) {
        for (; items < size; items++) await longItem(admin, 100);
        await admin.query('vacuum analyze');
        say(`views: ${size} items`);
        for (const [name, query] of looks) {
          const line = lineOf(name, 'buffers', [(await explained(admin, query)).buffers], size);
          const first = lines.find((one) => one.name === name);
          lines.push(first && first.median > 0 ? against(line, { ...first, name: `that at ${first.at}` }) : line);
        }
      }
      return lines.toSorted((a, b) => a.name.localeCompare(b.name));
    }),
};
