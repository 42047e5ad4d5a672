// Recorded runs of other agents, small ones, where their programs keep them.

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { root } from './pages.ts';

const jsonLines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const codex = jsonLines(
  { type: 'session_meta', payload: { base_instructions: { text: 'You code.' } } },
  { type: 'turn_context', payload: { model: 'gpt-5.5' } },
  ...[
    { type: 'message', role: 'user', content: [{ text: 'Fix it.' }] },
    { type: 'message', role: 'assistant', content: [{ text: 'I look.' }] },
    { type: 'function_call', name: 'exec_command', arguments: '{"cmd": "ls"}', call_id: 'a' },
    { type: 'function_call_output', call_id: 'a', output: 'a.py' },
  ].map((payload) => ({ timestamp: '2026-01-01T00:00:00Z', type: 'response_item', payload })),
);

const trajectory = JSON.stringify({
  trajectory_format: 'mini-swe-agent-1',
  info: { exit_status: 'Submitted', config: { model: { model_name: 'vendor/model' } } },
  messages: [
    { role: 'system', content: 'You are helpful.' },
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', content: 'THOUGHT: I look.\n\n```bash\nls\n```' },
    { role: 'user', content: 'a.py' },
  ],
});

/** One of Claude Code, Codex and Cursor each below `home`, and `run.traj.json` of mini-swe-agent in it. */
export async function putRecordings(home: string): Promise<void> {
  const place = async (path: string): Promise<string> => {
    await mkdir(dirname(join(home, path)), { recursive: true });
    return join(home, path);
  };
  await copyFile(`${root}test/fixtures/claudeCode.jsonl`, await place('.claude/projects/DIRECTORY/SESSION.jsonl'));
  await writeFile(await place('.codex/sessions/2026/01/01/rollout.jsonl'), codex);
  await writeFile(await place('run.traj.json'), trajectory);
  const cursor = new DatabaseSync(await place('.config/Cursor/User/globalStorage/state.vscdb'));
  cursor.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)');
  const put = (key: string, value: object) =>
    cursor.prepare('insert into cursorDiskKV values (?, ?)').run(key, Buffer.from(JSON.stringify(value)));
  put('bubbleId:c:1', { bubbleId: '1', type: 1, text: 'Fix it.' });
  put('bubbleId:c:2', { bubbleId: '2', type: 2, text: 'Done.' });
  put('composerData:c', { createdAt: Date.UTC(2026, 0, 1), fullConversationHeadersOnly: [{ bubbleId: '1' }, { bubbleId: '2' }] });
  cursor.close();
}
