// Two agents of the Claude Agent SDK, side by side in one directory: each has its session in the ledger, hears what the other one finds, and
// is told before it changes a file that the other one is at.
//   node main.ts 'First task' 'Second task'

import { query } from '@anthropic-ai/claude-agent-sdk';
import { ledgerSession } from 'work-ledger/claude-agent-sdk';

const tasks = process.argv.slice(2);
if (tasks.length === 0) throw new Error("what is to be done? node main.ts 'First task' 'Second task'");
const url = process.env['DATABASE_URL'];
const schema = process.env['WORK_LEDGER_SCHEMA'] ?? 'work_ledger';
const ledger = ledgerSession({ ...(url !== undefined && { url }), schema });

/** One agent; a session that is broken off can be resumed by its id, here or on another host. */
async function agent(prompt: string): Promise<void> {
  // The ledger's own tools are used without asking.
  const options = { ...ledger, permissionMode: 'acceptEdits', allowedTools: ['mcp__work-ledger'] };
  for await (const message of query({ prompt, options })) {
    if (message.type !== 'result') continue;
    const { session_id: id, result = 'broken off' } = message as { session_id: string; result?: string };
    console.log(`${id}: ${result}`);
  }
}

try {
  await Promise.all(tasks.map(agent));
} finally {
  await ledger.close();
}
