// `work-ledger demo --scene code`: 47,000 tokens of test output become one line. The agent's code runs the tests in a
// container's Python, through the bash tool, and returns what matters.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CodeSandbox } from '../../../sandbox/codeSandbox.ts';
import { openDocker } from '../../../sandbox/docker.ts';
import { sandboxImage } from '../../../sandbox/image.ts';
import { follow } from '../follow.ts';
import { exit, note, print, visible } from '../output.ts';
import type { ScratchOptions } from './withScratch.ts';
import { withStage } from './stage.ts';
import type { Stage } from './stage.ts';

const task =
  'Run every_cent.js and say how many amounts are not kept, and which are the first of them. Its output is long: look at it by code.';

const everyCent = `import { format, toCents } from './src/money.js';

let failed = 0;
for (let cents = 0; cents < 5780; cents++) {
  const amount = cents / 100;
  const isKept = toCents(amount) === cents;
  if (!isKept) failed++;
  console.log(\`\${isKept ? 'ok' : 'not ok'} \${cents + 1} - \${amount.toFixed(2)} is kept as \${format(toCents(amount))}\`);
}
process.exitCode = failed > 0 ? 1 : 0;
`;

const code = `result = bash("node every_cent.js", timeout=60)
wrong = [line for line in result.stdout.splitlines() if line.startswith("not ok")]
ledger_append("finding", f"{len(wrong)} of {result.line_count} amounts lose a cent")
return f"exit code {result.exit_code}: {len(wrong)} of {result.line_count} amounts are not kept, the first: " + "; ".join(line.split(" - ")[1] for line in wrong[:3])`;

export async function demoCode(options: ScratchOptions): Promise<number> {
  const docker = await openDocker();
  const sandbox = new CodeSandbox({ docker, image: sandboxImage, memoryBytes: 1, cpus: 1, pool: 0 });
  const problem = await sandbox.problem();
  await sandbox.close();
  if (problem !== null) {
    note(`This scene runs code in a container, and cannot: ${problem}`);
    return exit.error;
  }
  return withStage(
    options,
    (request, { exchange }) => ({
      delayMs: 400,
      content:
        exchange === 0
          ? [
              { type: 'text', text: 'The output is long: I let code look at it.' },
              { type: 'tool_use', name: 'execute_code', input: { code } },
            ]
          : [
              {
                type: 'text',
                text: /exit code[^\\"]*/.exec(JSON.stringify(request.messages.at(-1)?.content))?.[0] ?? 'The code said nothing.',
              },
            ],
    }),
    showCode,
  );
}

async function showCode(stage: Stage): Promise<number> {
  const { db, place, say, workspace } = stage;
  await writeFile(join(workspace, 'every_cent.js'), everyCent);
  const faculty = await db.facultySave({
    name: 'demo-coder',
    accepts: ['demo-code'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['bash', 'read_file'], code_execution: true, max_turns: 10 },
  });
  say(
    `${stage.isScripted ? 'The model: a scripted server on this machine; everything else is real.' : 'The model: the API that your ANTHROPIC_API_KEY opens.'}\nThe project: ${workspace}\n\n${task}\n`,
  );
  const item = await stage.work({ workType: 'demo-code', description: task, faculty }, await openDocker());
  const ended = await follow(db, place.url, item.id, {}, stage.interrupted);
  if (stage.interrupted.aborted) return exit.interrupted;
  const calls = await db.codeCalls(item.id);
  for (const call of calls) {
    say(
      call.is_nested
        ? `    ${call.tool_name} → ${call.chars} characters, about ${Math.round(call.chars * 0.25)} tokens, seen by the code alone`
        : `${call.tool_name}\n${visible(call.code ?? '').replace(/^/gm, '    | ')}`,
    );
  }
  const shown = calls.find((call) => !call.is_nested);
  say(`\nWhat entered the context, ${shown?.result.length ?? 0} characters:\n\n${visible(shown?.result ?? '').replace(/^/gm, '    ')}\n`);
  stage.lookFurther(
    `show ${item.id}`,
    `select tool_name, status, parent_call_id is not null as from_code, left(result #>> '{}', 60) from tool_calls where work_item_id = '${item.id}';`,
  );
  if (stage.isJson) print({ ...ended, calls }, '', true);
  say(
    ended?.state === 'completed'
      ? `\nDone: ${visible(String(ended.outcome_data?.['summary']))}`
      : `\nThe work item is ${ended?.state}: ${ended?.state_reason ?? ''}`,
  );
  return ended?.state === 'completed' ? exit.ok : exit.workItemFailed;
}
