// `work-ledger demo`: an agent fixes a failing test, with its ledger in Postgres. Without an API key a scripted server
// plays the model; everything else is real: the API over HTTP, the worker, the tools, the database, the test.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { scriptOf } from '../../model/script.ts';
import { builtinTools } from '../../tools/builtinTools.ts';
import { follow } from '../follow.ts';
import { entryLine, exit, print, visible } from '../output.ts';
import type { ScratchOptions } from './withScratch.ts';
import { task } from './project.ts';
import { demoReplies } from './script.ts';
import { withStage } from './stage.ts';
import type { Stage } from './stage.ts';

const execute = promisify(execFile);

export async function demo(options: ScratchOptions): Promise<number> {
  return withStage(options, scriptOf(demoReplies.map((reply) => ('content' in reply ? { ...reply, delayMs: 400 } : reply))), showOne);
}

async function showOne(stage: Stage): Promise<number> {
  const { db, place, say, workspace } = stage;
  say(
    stage.isScripted
      ? 'The model: no ANTHROPIC_API_KEY is set, so a scripted server on this machine speaks its part over the real\nMessages API. Everything else is real: worker, tools, database, tests. Nothing leaves this machine.'
      : 'The model: the API that your ANTHROPIC_API_KEY opens.',
  );
  say(`The database: ${place.isEmbedded ? 'embedded PostgreSQL' : 'yours'}, in a ledger of the demo's own (schema ${place.schema}).`);
  say(`The project: ${workspace} (the faculty says workspace = "host": its tools read, write and run commands there).\n`);

  const faculty = await db.facultySave({
    name: 'demo-engineer',
    accepts: ['demo'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: builtinTools.map((tool) => tool.name), max_turns: 30 },
  });
  const item = await stage.work({ workType: 'demo', description: task, faculty });
  say(`select id from work_submit('demo', '${task}')\n→ ${item.id}\n`);
  let shown = 0;
  const ended = await follow(
    db,
    place.url,
    item.id,
    {
      onEntry: (entry) => say(`  ledger  ${entryLine(entry)}`),
      onPoll: async () => {
        const calls = (await db.toolCalls(item.id)).filter((call) => call.tool_name !== 'ledger_append');
        for (; shown < calls.length && calls[shown]?.status !== 'pending' && calls[shown]?.status !== 'running'; shown++) {
          const call = calls[shown];
          if (call) say(`  tool    ${call.tool_name} ${visible(JSON.stringify(call.input))} → ${call.status}`);
        }
      },
    },
    stage.interrupted,
  );
  if (stage.interrupted.aborted) return exit.interrupted;

  say("\nThe project's own test, run once more from outside:");
  const test = await execute(process.execPath, ['--test'], { cwd: workspace }).catch((error: { stdout: string }) => error);
  const passes = /^# pass (\d+)|pass (\d+)/m.exec(test.stdout)?.[0] ?? '';
  const fails = /fail (\d+)/m.exec(test.stdout)?.[1];
  say(`  ${passes.replace('# ', '')}, fail ${fails}`);

  say(`\nselect ledger_read_formatted('${item.id}')\n`);
  say(visible(await db.ledgerReadFormatted(item.id)));
  const next = await db.workSubmit({ workType: 'review', description: 'Review how amounts are rounded in the invoices project' });
  say(`\nAnd what a second work item is told: select awareness_digest('${next.id}')\n`);
  say(visible(await db.awarenessDigest(next.id)));
  await db.workCancel(next.id, 'the demo is over');

  stage.lookFurther(
    `logs ${item.id}`,
    `select * from ledger_read('${item.id}');`,
    `select context_at(id) from turns where work_item_id = '${item.id}' order by depth desc limit 1;  -- the last request, byte for byte`,
    `select * from ledger_help('ledger_append');`,
  );
  const isDone = ended?.state === 'completed' && fails === '0';
  if (stage.isJson) print({ ...ended, workspace, test: { passes, fails } }, '', true);
  say(
    isDone
      ? "\nDone: the work item is completed and the project's tests pass."
      : `\nThe work item is ${ended?.state}: ${ended?.state_reason ?? ''}`,
  );
  return isDone ? exit.ok : exit.workItemFailed;
}
