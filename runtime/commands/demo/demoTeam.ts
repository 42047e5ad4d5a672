// `work-ledger demo --scene team`: three faculties at once on one project. A lead delegates reading to two children, fixes
// and tests; a reviewer learns from its digest what one of the children found. The tree is shown as it changes.

import { setTimeout as sleep } from 'node:timers/promises';

import { isFinal } from '../../ledger/answers.ts';
import type { WorkItem } from '../../ledger/answers.ts';
import type { Db } from '../../ledger/db.ts';
import { builtinTools } from '../../tools/builtinTools.ts';
import { entryLine, exit, print, visible } from '../output.ts';
import type { ScratchOptions } from './withScratch.ts';
import { withStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { leadTask, reviewTask, teamScript } from './teamScript.ts';

export async function demoTeam(options: ScratchOptions): Promise<number> {
  return withStage(options, teamScript, showTeam);
}

async function showTeam(stage: Stage): Promise<number> {
  const { db, say, workspace } = stage;
  say(
    `${stage.isScripted ? 'The model: a scripted server on this machine; everything else is real.' : 'The model: the API that your ANTHROPIC_API_KEY opens.'}\nThe project: ${workspace}\n`,
  );

  const tools = builtinTools.map((tool) => tool.name);
  const engage = { workspace: 'host', workspace_dir: workspace, max_turns: 60 };
  const readers = { ...engage, tools: ['read_file', 'glob', 'grep', 'bash'] };
  await db.facultySave({ name: 'demo-lead', accepts: ['demo-lead'], engage: { ...engage, tools } });
  await db.facultySave({ name: 'demo-reader', accepts: ['demo-read'], max_concurrent: 2, engage: readers });
  await db.facultySave({
    name: 'demo-reviewer',
    accepts: ['demo-review'],
    engage: { ...readers, tools: ['read_file', 'glob', 'grep'], stall_limit: 0 },
    awareness: { include_child_work: true, refresh_every: 1 },
  });
  const lead = await stage.work({ workType: 'demo-lead', description: leadTask });
  const review = await stage.work({ workType: 'demo-review', description: reviewTask });
  const ended = await watchTrees(db, [lead.id, review.id], say, stage.interrupted);
  if (stage.interrupted.aborted) return exit.interrupted;
  const told = await db.awarenessShown(review.id);
  say('\nWhat the reviewer was told of the others: select * from v_awareness_shown\n');
  for (const one of told) say(`  iteration ${one.iteration}  ${one.kind}: ${visible(one.content)}`);
  stage.lookFurther('list', 'select * from v_children;');
  const isDone = ended.every((item) => item.state === 'completed');
  if (stage.isJson) print({ workspace, items: ended, told }, '', true);
  say(isDone ? '\nDone: all of them are completed.' : '\nNot all of them are completed.');
  return isDone ? exit.ok : exit.workItemFailed;
}

/** Prints every change of state and every ledger entry of the trees, indented by depth, until all of them are finished. */
async function watchTrees(
  db: Db,
  rootIds: readonly string[],
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly WorkItem[]> {
  const seen = new Map<string, { state: string; seq: number }>();
  for (;;) {
    const items = await db.workTrees(rootIds);
    for (const item of items) {
      const before = seen.get(item.id) ?? { state: '', seq: 0 };
      const label = `${item.parent_id === null ? '' : '    '}${item.work_type.replace('demo-', '')} ${item.id.slice(-4)}`;
      const sayState = (): void => {
        if (item.state !== before.state)
          say(`${label.padEnd(18)} ${item.state}${item.state_reason === null ? '' : ` (${visible(item.state_reason)})`}`);
      };
      if (!isFinal(item.state)) sayState();
      for (const entry of await db.ledgerSince(item.id, before.seq)) {
        say(`${label.padEnd(18)}   ${entryLine(entry)}`);
        before.seq = entry.seq;
      }
      if (isFinal(item.state)) sayState();
      seen.set(item.id, { state: item.state, seq: before.seq });
    }
    if (signal.aborted || items.every((item) => isFinal(item.state))) return items;
    await sleep(150);
  }
}
