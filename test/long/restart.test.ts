// The database server goes away under a working worker and comes back: the worker goes on by itself. A command that waited for it in vain
// says so.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wl-restart-'));
  await chmod(dataDir, 0o755);
});
afterAll(async () => {
  await stopEmbedded(dataDir).catch(() => {});
  await rm(dataDir, { recursive: true, force: true });
});

test('work that was under way and work submitted afterwards are both done', async () => {
  const { url } = await ensureEmbedded({ dataDir });
  await installLedger(url, 'work_ledger');
  const db = await openDb(url, 'work_ledger');
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
  const note = (n: number) => ({
    content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: String(n) } }],
    delayMs: 600,
  });
  const model = await startScriptedModel(scriptOf([note(1), note(2), note(3), note(4), { content: [{ type: 'text', text: 'Done.' }] }]));
  const worker = await startWorkerProcess({ url, modelUrl: model.url, leaseSeconds: 6 });

  const first = await db.workSubmit({ workType: 'talk', description: 'x' });
  await until(() => model.requests.length === 2);
  await stopEmbedded(dataDir);
  await until(() => worker.log().includes('heartbeat failed'));
  await ensureEmbedded({ dataDir });

  const second = await db.workSubmit({ workType: 'talk', description: 'y' });
  for (const item of [first, second]) {
    const ended = await until(async () => {
      const now = await db.workItem(item.id);
      return now?.resolved_at ? now : null;
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${worker.log()}`);
    });
    expect(ended.state, worker.log()).toBe('completed');
    expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['1', '2', '3', '4']);
  }
  expect(await worker.end('SIGTERM')).toBe(0);
  await model.close();
  await db.close();
});

test('run, from which the server stays away, ends, and says how to go on', async () => {
  const { url } = await ensureEmbedded({ dataDir });
  const model = await startScriptedModel(scriptOf([{ stall: true }]));
  const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
  const child = spawn(process.execPath, [main, 'run', 'Say hello', '--faculty', await talker(), '--grace-seconds', '0'], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'], HOME: dataDir, DATABASE_URL: url, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'exit');
  await until(() => model.requests.length === 1);
  await stopEmbedded(dataDir);
  expect((await ended)[0], said).toBe(1);
  expect(said).toMatch(
    /\nstopped; nothing is lost\. Continue with: work-ledger run --resume [0-9a-f-]{36}\nerror: the database postgresql:\S+ cannot be reached: there is no socket \S+ \(ENOENT\)\. Start it, /,
  );
  await model.close();
  await ensureEmbedded({ dataDir });
});

async function talker(): Promise<string> {
  const file = join(dataDir, 'talker.toml');
  await writeFile(file, '[faculty]\nname = "talker"\naccepts = ["talk"]\n');
  return file;
}
