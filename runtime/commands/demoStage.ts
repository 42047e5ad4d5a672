// What every scene of the demo stands on: a model, a ledger, a small project, a worker, and somewhere to say what happens.

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type Docker from 'dockerode';

import { findLedger, modelAccess } from '../config.ts';
import type { Place, Settings } from '../config.ts';
import { openDb } from '../db.ts';
import type { Db } from '../db.ts';
import { layOutProject } from '../demo/project.ts';
import { createModelClient } from '../focus/callModel.ts';
import { installLedger } from '../install.ts';
import { startScriptedModel } from '../scriptedModel.ts';
import type { Script } from '../scriptedModel.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import { startWorker } from '../worker.ts';
import type { Worker } from '../worker.ts';
import { note } from './output.ts';
import { logger } from './work.ts';

export type Stage = {
  isJson: boolean;
  /** On stdout or, with --json, on stderr. */
  say: (text: string) => void;
  /** No API key is set: the model speaks from the script. */
  isScripted: boolean;
  place: Place;
  db: Db;
  /** The directory of the project. */
  workspace: string;
  /** Fires at Ctrl-C. */
  interrupted: AbortSignal;
  /** Starts the worker; the faculties are saved before. */
  work(docker?: Docker): Promise<void>;
  close(): Promise<void>;
};

export async function openStage(options: Settings, script: Script): Promise<Stage> {
  const isJson = options.json ?? false;
  const access = modelAccess();
  const scripted = access ? null : await startScriptedModel(script);
  const model = createModelClient(access ?? { apiKey: 'demo', baseURL: scripted?.url ?? '' });
  const place = await findLedger(options);
  await installLedger(place.url, place.schema);
  const db = await openDb(place.url, place.schema);
  const workspace = await mkdtemp(join(tmpdir(), 'work-ledger-demo-'));
  await layOutProject(workspace);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  let worker: Worker | undefined;
  return {
    isJson, place, db, workspace,
    say: (text) => (isJson ? note(text) : void process.stdout.write(`${text}\n`)),
    isScripted: scripted !== null,
    interrupted: interrupted.signal,
    work: async (docker) => {
      worker = await startWorker({ ...place, model, tools: builtinTools, log: logger('warn'), ...(docker && { docker }) });
    },
    close: async () => {
      await worker?.stop();
      await db.close();
      await scripted?.close();
    },
  };
}
