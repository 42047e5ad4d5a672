// `work-ledger demo --scene team`: a lead and its two children, and a reviewer from another tree, work at once on one project. Shows the
// trees as they change, then what each agent was told about the others, taken from the requests to its model.

import { setTimeout as sleep } from 'node:timers/promises';

import { isFinal } from '../../ledger/answers.ts';
import type { WorkItem } from '../../ledger/answers.ts';
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
  const look = ['read_file', 'glob', 'grep'];
  const talk = ['tell_agent', 'reply', 'ledger_search'];
  const engage = { workspace: 'host', workspace_dir: workspace, max_turns: 60, stall_limit: 0 };
  const faculty = (name: string, workType: string, offered: string[]): Promise<string> =>
    db.facultySave({ name, accepts: [workType], claims: 'refuse', engage: { ...engage, tools: offered } });
  await faculty('demo-lead', 'demo-lead', tools);
  await faculty('demo-fixer', 'demo-fix', [...tools, ...talk]);
  await faculty('demo-checker', 'demo-check', [...look, 'bash']);
  await faculty('demo-reviewer', 'demo-review', [...look, 'edit_file', ...talk]);
  const { ended, told } = await watchTrees(stage);
  if (stage.interrupted.aborted) return exit.interrupted;
  say(`\nWhat they were told of each other, as sent to their models: select * from context_parts('TURN')`);
  for (const { title, item, iteration, lines } of told)
    say(`\n${title} (${nameOf(item)}, iteration ${iteration})\n${lines.map((line) => `  | ${line}`).join('\n')}`);
  stage.lookFurther('list', 'select * from v_children;', 'select * from v_awareness_shown;', 'select * from v_inbox;');
  const isDone = ended.every((item) => item.state === 'completed');
  if (stage.isJson)
    print({ workspace, items: ended, told: told.map(({ item, ...one }) => ({ work_type: item.work_type, ...one })) }, '', true);
  say(isDone ? '\nDone: all of them are completed.' : '\nNot all of them are completed.');
  return isDone ? exit.ok : exit.workItemFailed;
}

const nameOf = (item: WorkItem): string => `${item.work_type.replace('demo-', '')} ${item.id.slice(-4)}`;

/**
 * Starts the lead and, once a descendant of it holds a file, the reviewer. Prints every change of state and every ledger entry of the
 * trees, indented by depth, until all of them are finished.
 */
async function watchTrees(stage: Stage): Promise<{ ended: readonly WorkItem[]; told: readonly Told[] }> {
  const { db, say } = stage;
  const roots = [(await stage.work({ workType: 'demo-lead', description: leadTask })).id];
  const seen = new Map<string, { state: string; seq: number }>();
  for (;;) {
    const items = await db.workTrees(roots);
    for (const item of items) {
      const before = seen.get(item.id) ?? { state: '', seq: 0 };
      const label = `${item.parent_id === null ? '' : '    '}${nameOf(item)}`;
      const sayState = (): void => {
        if (item.state !== before.state && !['queued', 'claimed'].includes(item.state))
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
    const isOver = items.every((item) => isFinal(item.state));
    if (stage.interrupted.aborted) return { ended: items, told: [] };
    if (roots.length === 1 && (isOver || (await db.claims()).length > 0))
      roots.push((await stage.work({ workType: 'demo-review', description: reviewTask })).id);
    else if (isOver) return { ended: items, told: await allTold(stage, items) };
    await sleep(150);
  }
}

type Told = { title: string; item: WorkItem; iteration: number; lines: string[] };

/** What the agent of an item was told, part by part, from its last request, which contains the earlier ones. */
const kinds: readonly { title: string; part: string; says: RegExp }[] = [
  { title: 'A lead that waits is seen by others', part: 'task', says: /^- .*\(waits for \d+ of its children\)/m },
  { title: 'A decision of a sibling', part: 'digest', says: /^- Decision: .*/m },
  { title: 'A search', part: 'result', says: /^What was found, [^]*/ },
  { title: 'A refused edit', part: 'result', says: /^\[claim\] Not executed: [^]*/ },
  { title: 'A message of another agent', part: 'agent_message', says: /[^]*/ },
];

/** In the order in which it is shown. */
async function allTold(stage: Stage, items: readonly WorkItem[]): Promise<Told[]> {
  const all = (await Promise.all(items.map((item) => toldTo(stage, item)))).flat();
  return kinds.flatMap(({ title }) => all.filter((one) => one.title.startsWith(title)));
}

async function toldTo({ db }: Stage, item: WorkItem): Promise<Told[]> {
  const parts = await db.contextParts((await db.turnIds(item.id)).at(-1) ?? '');
  const shown = await db.awarenessShown(item.id);
  return kinds.flatMap(({ title, part, says }) =>
    parts.flatMap((one) => {
      const [words] = (one.part === part && says.exec(one.content ?? '')) || [];
      if (words === undefined) return [];
      const before = shown.find((entry) => entry.kind === 'decision' && words.includes(entry.content))?.requests_before;
      const when = before === undefined ? '' : before === 0 ? ', told with the next request' : `, told after ${before} other requests`;
      return [{ title: `${title}${when}`, item, iteration: one.iteration ?? 1, lines: linesOf(words) }];
    }),
  );
}

/** At terminal width, without the markers around text from others. */
const linesOf = (words: string): string[] =>
  visible(words.replaceAll(/^<\/?data-.*/gm, ''))
    .split('\n')
    .flatMap((line) => line.match(/\S.{0,130}(?= |$)/g) ?? []);
