// `work-ledger demo --scene context`: what a model is shown after its closed blocks have left its context: the last request of a run, part
// by part, each with its name and source.

import type { ContextPart } from '../../ledger/answers.ts';
import { builtinTools } from '../../tools/builtinTools.ts';
import { follow } from '../follow.ts';
import { entryLine, exit, print, visible } from '../output.ts';
import type { ScratchOptions } from './withScratch.ts';
import { contextScript, contextTask } from './contextScript.ts';
import { withStage } from './stage.ts';
import type { Stage } from './stage.ts';

export async function demoContext(options: ScratchOptions): Promise<number> {
  return withStage(options, contextScript(), showContext);
}

async function showContext(stage: Stage): Promise<number> {
  const { db, place, say, workspace } = stage;
  // A budget of 0, so that this short run has cuts at all; with the default, a run of this length has none.
  const faculty = await db.facultySave({
    name: 'demo-context',
    accepts: ['demo-context'],
    awareness: { enabled: false },
    engage: { workspace: 'host', workspace_dir: workspace, tools: builtinTools.map((tool) => tool.name), max_turns: 30, elide_budget: 0 },
  });
  say(
    `${stage.isScripted ? 'The model: a scripted server on this machine; everything else is real.' : 'The model: the API that your ANTHROPIC_API_KEY opens.'}\nThe project: ${workspace}\n\n${contextTask}\n`,
  );
  const item = await stage.work({ workType: 'demo-context', description: contextTask, faculty });
  let isTold = false;
  const ended = await follow(
    db,
    place.url,
    item.id,
    {
      onEntry: (entry) => say(`  ledger  ${entryLine(entry)}${entry.keep === null ? '' : `  (keep: ${entry.keep.join(', ')})`}`),
      onPoll: async () => {
        if (isTold || (await db.ledgerSince(item.id, 0)).length === 0) return;
        isTold = true;
        await db.workMessage(item.id, 'Do not touch anything outside src/, please.', false);
        say('  you     Do not touch anything outside src/, please.');
      },
    },
    stage.interrupted,
  );
  if (stage.interrupted.aborted) return exit.interrupted;
  const turnId = (await db.turnIds(item.id)).at(-1) ?? '';
  const parts = await db.contextParts(turnId);
  say(`\nWhat the model was asked last, part by part: select * from context_parts('${turnId}')\n`);
  for (const part of parts) say(partLines(part));
  say(
    `\nIn all about ${parts.reduce((sum, part) => sum + part.tokens, 0)} tokens. Why each block is in or out: select * from explain_turn('${turnId}')`,
  );
  for (const block of await db.explainTurn(turnId)) say(`  block ${block.block}  ${block.shown.padEnd(9)} ${block.why}`);
  stage.lookFurther(`logs ${item.id}`, `select context_at('${turnId}');  -- byte for byte`, `select * from context_cost('${item.id}');`);
  if (stage.isJson) print({ ...ended, parts }, '', true);
  say(
    ended?.state === 'completed'
      ? '\nDone: the work item is completed.'
      : `\nThe work item is ${ended?.state}: ${ended?.state_reason ?? ''}`,
  );
  return ended?.state === 'completed' ? exit.ok : exit.workItemFailed;
}

/** The first lines of a part, under its name. */
function partLines({ part, iteration, block, tokens, content }: ContextPart): string {
  const from = iteration === null ? '' : `, iteration ${iteration}, block ${block}`;
  const lines = visible(content ?? '').split('\n');
  const most = part === 'system' || part === 'tools' ? 3 : 14;
  const shown = lines.slice(0, most).map((line) => `    | ${line.slice(0, 150)}`);
  return [
    `  ${part} (${tokens} tokens${from})`,
    ...shown,
    ...(lines.length > most ? [`    | … ${lines.length - most} more lines`] : []),
  ].join('\n');
}
