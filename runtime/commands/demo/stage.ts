// What every scene of the demo needs: a model, a ledger, a small project, a worker, and somewhere to print what happens.

import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type Docker from 'dockerode';

import { giveToCommands } from '../../../sandbox/commandUser.ts';
import { modelAccess } from '../../config.ts';
import type { Settings } from '../../config.ts';
import type { Console } from '../../console/server.ts';
import { findLedger } from '../../install/findLedger.ts';
import type { Place } from '../../install/findLedger.ts';
import { readyLedger } from '../../install/installLedger.ts';
import { openChecked } from '../../ledger/db.ts';
import type { Db } from '../../ledger/db.ts';
import { createModelClient } from '../../model/callModel.ts';
import type { Script } from '../../model/script.ts';
import { startScriptedModel } from '../../model/scriptedModel.ts';
import type { ScriptedModel } from '../../model/scriptedModel.ts';
import { builtinTools } from '../../tools/builtinTools.ts';
import { startWorker } from '../../worker/worker.ts';
import type { Worker } from '../../worker/worker.ts';
import { note } from '../output.ts';
import { logger } from '../work.ts';
import { layOutProject } from './project.ts';

export type Stage = {
  isJson: boolean;
  /** On stdout or, with --json, on stderr. */
  say: (text: string) => void;
  /** No API key is set: the model is played from the script. */
  isScripted: boolean;
  place: Place;
  db: Db;
  /** The directory of the project. */
  workspace: string;
  /** Fires at Ctrl-C. */
  interrupted: AbortSignal;
  /** Says how to see more: with a command, and with queries. */
  lookFurther(command: string, ...queries: string[]): void;
  /** Starts the worker; the faculties must be saved before. */
  work(docker?: Docker): Promise<void>;
};

/** Sets the stage, shows the scene, and always clears up afterwards: nothing is left open that would keep the process running. */
export async function withStage(options: Settings, script: Script, show: (stage: Stage) => Promise<number>): Promise<number> {
  const place = await findLedger(options);
  await readyLedger(place.url, place.schema);
  const isJson = options.json ?? false;
  const access = modelAccess();
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const db = await openChecked(place.url, place.schema);
  let scripted: ScriptedModel | undefined;
  let worker: Worker | undefined;
  let watched: Console | undefined;
  try {
    if (!access) scripted = await startScriptedModel(script);
    const model = createModelClient(access ?? { apiKey: 'demo', baseURL: scripted?.url ?? '' });
    const workspace = await mkdtemp(join(tmpdir(), 'work-ledger-demo-'));
    await layOutProject(workspace);
    await giveToCommands(workspace);
    const say = (text: string): void => (isJson ? note(text) : void process.stdout.write(`${text}\n`));
    if (process.env['CONSOLE']) {
      const { startConsole } = await import('../../console/server.ts');
      watched = await startConsole({ url: place.url, schema: place.schema, port: 0 });
      say(`Watch it: ${watched.address}?token=${watched.token}\n`);
    }
    const exitCode = await show({
      isJson, place, db, workspace, say,
      isScripted: scripted !== undefined,
      interrupted: interrupted.signal,
      lookFurther: (command, ...queries) => say(lookFurther(place, command, queries)),
      work: async (docker) => {
        worker = await startWorker({ ...place, model, tools: builtinTools, log: logger('warn'), ownDirectories: [workspace], ...(docker && { docker }) });
      },
    });
    if (watched && !interrupted.signal.aborted) {
      say('\nThe console stays open until Ctrl-C.');
      await new Promise((resolve) => interrupted.signal.addEventListener('abort', resolve));
    }
    return exitCode;
  } finally {
    await watched?.close();
    await worker?.stop();
    await db.close();
    await scripted?.close();
  }
}

function lookFurther({ schema }: Place, command: string, queries: string[]): string {
  const isClone = existsSync(new URL('../../../work-ledger', import.meta.url));
  const typed = (words: string): string => `  ${isClone ? './' : ''}work-ledger ${words}${schema === 'work_ledger' ? '' : ` --schema ${schema}`}`;
  return ['\nLook further:', typed(command), typed('console'), typed('sql'), ...queries.map((query) => `    ${query}`)].join('\n');
}
