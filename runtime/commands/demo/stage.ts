// What every scene of the demo needs: a model, a temporary ledger, a small project, workers, and output.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type Docker from 'dockerode';

import { giveToCommands } from '../../../sandbox/commandUser.ts';
import { hostName, modelAccess } from '../../config.ts';
import type { Console } from '../../console/server.ts';
import type { Place } from '../../install/findLedger.ts';
import { scratchFolder } from '../../install/scratchFolder.ts';
import type { WorkItem } from '../../ledger/answers.ts';
import { openChecked } from '../../ledger/db.ts';
import type { Db } from '../../ledger/db.ts';
import type { Submission } from '../../ledger/submit.ts';
import { createModelClient } from '../../model/callModel.ts';
import type { Script } from '../../model/script.ts';
import { startScriptedModel } from '../../model/scriptedModel.ts';
import type { ScriptedModel } from '../../model/scriptedModel.ts';
import { builtinTools } from '../../tools/builtinTools.ts';
import { startWorker } from '../../worker/worker.ts';
import type { Worker } from '../../worker/worker.ts';
import { io } from '../io.ts';
import { note } from '../output.ts';
import { withScratch } from './withScratch.ts';
import type { ScratchOptions } from './withScratch.ts';
import { logger } from '../work.ts';
import { layOutProject } from './project.ts';

export type Stage = {
  isJson: boolean;
  /** Prints to stdout or, with --json, to stderr. */
  say: (text: string) => void;
  /** No API key is set: a script plays the model. */
  isScripted: boolean;
  place: Place;
  db: Db;
  /** The project's directory. */
  workspace: string;
  /** Fires at Ctrl-C. */
  interrupted: AbortSignal;
  /** Prints how to see more: with a command, and with queries. */
  lookFurther(command: string, ...queries: string[]): void;
  /** Submits an item and starts a worker only for it and the items delegated below it; the faculties must have been saved before. */
  work(submission: Submission, docker?: Docker): Promise<WorkItem>;
};

/**
 * Sets the stage, shows the scene, and always cleans up afterwards: nothing stays open that would keep the process running, and nothing is
 * left behind.
 */
export const withStage = (options: ScratchOptions, script: Script, show: (stage: Stage) => Promise<number>): Promise<number> =>
  withScratch(options, async (place, interrupted) => {
    const isKept = options.keep ?? false;
    const db = await openChecked(place.url, place.schema);
    const folder = await scratchFolder({ isKept });
    const workspace = join(folder, 'invoices');
    const workers: Worker[] = [];
    const roots: string[] = [];
    let scripted: ScriptedModel | undefined;
    let watched: Console | undefined;
    try {
      await layOutProject(workspace);
      await giveToCommands(workspace);
      const access = modelAccess();
      if (!access) scripted = await startScriptedModel(script);
      const model = createModelClient(access ?? { apiKey: 'demo', baseURL: scripted?.url ?? '' });
      const isJson = options.json ?? false;
      const say = (text: string): void => (isJson ? note(text) : void io().stdout.write(`${text}\n`));
      if (process.env['CONSOLE']) {
        const { startConsole } = await import('../../console/server.ts');
        watched = await startConsole({ url: place.url, schema: place.schema, port: 0 });
        say(`Watch it: ${watched.address}?token=${watched.token}\n`);
      }
      const exitCode = await show({
        isJson,
        place,
        db,
        workspace,
        say,
        interrupted,
        isScripted: scripted !== undefined,
        lookFurther: (command, ...queries) => say(lookFurther(place, isKept, command, queries)),
        work: async (submission, docker) => {
          const keeper = randomUUID();
          const item = await db.workSubmitKept(submission, keeper, hostName());
          roots.push(item.id);
          workers.push(
            await startWorker({
              ...place,
              model,
              tools: builtinTools,
              log: logger('warn'),
              treeId: item.id,
              ownDirectories: [workspace],
              ...(docker && { docker }),
            }),
          );
          await db.workerStop(keeper); // the worker has taken over
          return item;
        },
      });
      if (watched && !interrupted.aborted) {
        say('\nThe console stays open until Ctrl-C.');
        await new Promise((resolve) => interrupted.addEventListener('abort', resolve));
      }
      return exitCode;
    } finally {
      await watched?.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      // In a ledger that is kept, nobody should continue this work.
      if (isKept) for (const root of roots) await db.workCancel(root, 'the demo is over').catch(() => {});
      await db.close();
      await scripted?.close();
      if (!isKept) await rm(folder, { recursive: true, force: true });
    }
  });

function lookFurther({ schema }: Place, isKept: boolean, command: string, queries: string[]): string {
  const isClone = existsSync(new URL('../../../work-ledger', import.meta.url));
  const typed = (words: string): string => `  ${isClone ? './' : ''}work-ledger ${words}`;
  if (!isKept) return `\nLook further: with --keep its ledger stays, for\n${['show', 'console', 'sql'].map(typed).join('\n')}`;
  return [
    `\nLook further (the ledger stays until you drop schema ${schema}):`,
    ...[command, 'console', 'sql'].map((words) => typed(`${words} --schema ${schema}`)),
    ...queries.map((query) => `    ${query}`),
  ].join('\n');
}
