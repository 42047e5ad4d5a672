// `work-ledger resume SESSION --in PROGRAM`: continues a session in another program, by writing a record of it where that program looks for
// its own, or in this ledger, as a fork.

import { randomUUID } from 'node:crypto';
import { link, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { z } from 'zod';

import type { Settings } from '../config.ts';
import { claudeHome, codexHome } from '../import/sessionFolders.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { exit, note, print, visible } from './output.ts';
import { withLedger } from './withLedger.ts';

export type Harness = 'claude-code' | 'codex' | 'work-ledger';
type Record = { [key: string]: unknown };

const place = z.object({ work_item_id: z.string().nullable(), turn_id: z.string().nullable(), cwd: z.string().nullable() });
const meta = z.object({ payload: z.object({ id: z.string(), timestamp: z.string() }) });

/** Where each program keeps its sessions, and the command that continues one. */
const keptBy: {
  [program in Exclude<Harness, 'work-ledger'>]: (records: Record[], cwd: string) => { id: string; file: string; command: string };
} = {
  'claude-code': ([first], cwd) => {
    const id = z.string().parse(first?.['sessionId']);
    const folder = cwd.replaceAll(/[^a-zA-Z0-9]/g, '-');
    if (folder.length > 200)
      throw new UsageError(`the path ${cwd} is too long: Claude Code abbreviates it in its own way; choose a shorter --workspace`);
    return { id, file: join(claudeHome(), 'projects', folder, `${id}.jsonl`), command: `claude --resume ${id}` };
  },
  codex: ([first]) => {
    const { id, timestamp } = meta.parse(first).payload;
    const [day = '', time = ''] = timestamp.slice(0, 19).split('T');
    const name = `rollout-${day}T${time.replaceAll(':', '-')}-${id}.jsonl`;
    return { id, file: join(codexHome(), 'sessions', ...day.split('-'), name), command: `codex resume ${id}` };
  },
};

export const resumeIn = (session: string, options: Settings & { in: Harness; workspace?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const program = options.in;
    if (program === 'work-ledger') return forkOf(db, session, options.json ?? false);
    const at = place.parse((await db.sessionExport(session, 'work-ledger', null)).records[0]);
    const cwd = await directory(options.workspace, at.cwd);
    const { records, leftOut } = await db.sessionExport(session, program, cwd);
    const { id, file, command } = keptBy[program](records, cwd);
    const goesOn = `cd ${quoted(cwd)} && ${command}`;
    await putNew(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''), goesOn);
    const counted = counts(leftOut);
    for (const { reason, count } of counted) note(`left out: ${count} × ${visible(reason)}`);
    print({ session: id, file, directory: cwd, command: goesOn, leftOut: counted }, `${file}\n${goesOn}`, options.json ?? false);
    return exit.ok;
  });

async function forkOf(db: Db, session: string, isJson: boolean): Promise<number> {
  const { records, leftOut } = await db.sessionExport(session, 'work-ledger', null);
  const at = place.parse(records[0]);
  if (at.turn_id === null) {
    throw new UsageError(
      `${session} has no turn to go on from; its packet tells what was done: work-ledger sql "select export_for_resumption('${at.work_item_id}')"`,
    );
  }
  const item = await db.workFork(at.turn_id, null, null);
  for (const { reason, count } of counts(leftOut)) note(`left out: ${count} × ${visible(reason)}`);
  print(item, item.id, isJson);
  return exit.ok;
}

/**
 * The directory that was requested, else the one where the session worked, if it exists here, else the current one; as programs in it see
 * its path.
 */
async function directory(asked: string | undefined, worked: string | null): Promise<string> {
  const isHere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;
  if (asked !== undefined && !(await isHere(asked))) throw new UsageError(`${asked} is not a directory`);
  if (asked !== undefined) return realpath(resolve(asked));
  if (worked !== null && (await isHere(worked))) return realpath(worked);
  if (worked !== null) note(`it ran in ${visible(worked)}, which does not exist here: it continues in this directory`);
  return realpath(process.cwd());
}

/** Writes a file completely or not at all, and never over an existing one: the session may have been continued there. */
async function putNew(file: string, text: string, goesOn: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = join(dirname(file), `.work-ledger-${randomUUID()}`);
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${file} already exists and was not changed; continue with: ${goesOn}`, { cause: error });
  } finally {
    await rm(draft, { force: true });
  }
}

function counts(reasons: string[]): { reason: string; count: number }[] {
  const counted = new Map<string, number>();
  for (const reason of reasons) counted.set(reason, (counted.get(reason) ?? 0) + 1);
  return [...counted].map(([reason, count]) => ({ reason, count }));
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
