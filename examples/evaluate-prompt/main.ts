// Is a new system prompt better? Goes on from the middle of each recorded session with either prompt, and compares how the two came out.
//   work-ledger import ~/.claude/projects        once
//   node main.ts old.md new.md [SESSIONS]        of the newest ten sessions, or so many

import { readFile } from 'node:fs/promises';

import pg from 'pg';
import { builtinTools, createModelClient, ensureEmbedded, LedgerClient, readyLedger, startWorker } from 'work-ledger';

const [before, after, count = '10'] = process.argv.slice(2);
if (before === undefined || after === undefined) throw new Error('which prompts? node main.ts old.md new.md [SESSIONS]');
const prompts = { before: await readFile(before, 'utf8'), after: await readFile(after, 'utf8') };
const url = process.env['DATABASE_URL'] ?? (await ensureEmbedded()).url;
const schema = process.env['WORK_LEDGER_SCHEMA'] ?? 'work_ledger';
await readyLedger(url, schema);
const ledger = await LedgerClient.open({ databaseUrl: url, schema });
const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema},public` });
await client.connect();

for (const [name, prompt] of Object.entries(prompts))
  await ledger.saveFaculty({
    name: `prompt-${name}`,
    // What others found would help one of the two more than the other.
    awareness: { enabled: false },
    engage: {
      model: 'claude-sonnet-5-5',
      system_prompt: prompt,
      max_turns: 30,
      tools: ['read_file', 'grep'],
      workspace: 'host',
      workspace_dir: process.cwd(),
    },
  });

/** The turn in the middle of each session whose calls have all ended. */
const { rows: middles } = await client.query<{ id: string }>(
  `select m.id
     from (select work_item_id, session_label from v_work_list where work_type = 'import' order by created_at desc limit $1) w
     cross join lateral (
       select t.id, row_number() over (order by t.depth) as n, count(*) over () as of
         from turns t
        where t.work_item_id = w.work_item_id and t.status = 'completed'
          and not exists (select from tool_calls k where k.turn_id = t.id and k.completed_at is null)) m
    where m.n = greatest(1, m.of / 2)`,
  [Number(count)],
);

const worker = await startWorker({ url, schema, model: createModelClient(), tools: builtinTools, concurrency: 4 });
try {
  for (const name of Object.keys(prompts)) {
    const items = await Promise.all(
      middles.map(async ({ id: turn }) => {
        const { id } = await ledger.fork(turn, { faculty: `prompt-${name}` });
        await ledger.wait(id);
        return id;
      }),
    );
    const { rows } = await client.query<{ done: number; turns: string; tokens: string; failed: number }>(
      `select count(*) filter (where w.state = 'completed')::int as done, coalesce(sum(u.turns), 0) as turns, coalesce(sum(u.total_tokens), 0) as tokens,
              (select count(*)::int from tool_calls k where k.work_item_id = any ($1::uuid[]) and k.is_error) as failed
         from v_work_list w left join v_usage u using (work_item_id)
        where w.work_item_id = any ($1::uuid[])`,
      [items],
    );
    const { done, turns, tokens, failed } = rows[0]!;
    console.log(`${name}: ${done} of ${items.length} done, ${turns} turns, ${tokens} tokens, ${failed} failed calls`);
  }
} finally {
  await worker.stop();
  await client.end();
  await ledger.close();
}
