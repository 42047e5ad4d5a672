// Notes of a project: list, show, edit, history, rollback, pin, erase, and suggestions of new ones.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import type { Settings } from '../config.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError, UsageError } from '../ledger/errors.ts';
import { notePath } from '../ledger/notes.ts';
import { projectOf } from '../project.ts';
import { io } from './io.ts';
import { minute } from './localTime.ts';
import { exit, note, print, visible } from './output.ts';
import { withLedger, withReader } from './withLedger.ts';

export type MemoryOptions = Settings & { project?: string; why?: string; reason?: string; keepNewest?: boolean; replaces?: number };

/** Empty: the notes that belong to no project. */
const ofProject = async ({ project }: MemoryOptions): Promise<string | null> => (project ?? (await projectOf(process.cwd()))) || null;

const pathOf = (typed: string | undefined): string => {
  if (typed === undefined) throw new UsageError('name a note: "work-ledger memory list" shows their paths');
  return notePath(typed);
};

export const list = (options: MemoryOptions): Promise<number> =>
  withReader(options, async (db) => {
    const project = await ofProject(options);
    const found = await db.notes.list(project);
    const lines = found.map(
      (one) =>
        `${String(one.version).padStart(4)}  ${String(one.bytes).padStart(6)}  ${minute(one.updated_at)}  ${visible(one.path)}` +
        `  ${one.pinned_at === null ? '' : '(pinned) '}by ${visible(one.written_by)}`,
    );
    print(found, lines.join('\n') || `no notes${project === null ? '' : ` in ${visible(project)}`} yet`, options.json ?? false);
    return exit.ok;
  });

/** Entries that might become notes. */
export const suggest = (options: MemoryOptions): Promise<number> =>
  withReader(options, async (db) => {
    const found = await db.notes.suggest(await ofProject(options), 20);
    const lines = found.map(
      (one) =>
        `${one.entry_type} of ${one.work_item_id}/${one.seq}, told to ${one.told} since ${minute(one.since)}:\n` +
        `  ${visible(one.content).replaceAll('\n', '\n  ')}`,
    );
    print(
      found,
      lines.join('\n') || 'no suggestions: every finding that several agents were told of is covered by a note',
      options.json ?? false,
    );
    return exit.ok;
  });

export const show = (typed: string | undefined, options: MemoryOptions): Promise<number> =>
  withReader(options, async (db) => {
    const found = await read(db, pathOf(typed), options);
    print(found, visible(found.content.replace(/\n$/, '')), options.json ?? false);
    return exit.ok;
  });

async function read(db: Db, path: string, options: MemoryOptions) {
  const found = await db.notes.read(path, await ofProject(options));
  if (!found) throw new LedgerError('WL001', `there is no note ${path}`, '', 'work-ledger memory list shows their paths');
  return found;
}

export const history = (typed: string | undefined, options: MemoryOptions): Promise<number> =>
  withReader(options, async (db) => {
    const path = pathOf(typed);
    const found = await db.notes.history(path, await ofProject(options));
    if (found.length === 0) throw new LedgerError('WL001', `there is no note ${path}`, '', 'work-ledger memory list shows their paths');
    const lines = found.map(
      (one) =>
        `${String(one.version).padStart(4)}  ${minute(one.created_at)}  ${one.command.padEnd(11)}  by ${visible(one.written_by)}` +
        `${one.path === path ? '' : `  at ${visible(one.path)}`}${one.is_erased ? '  (erased)' : ''}${one.why === null ? '' : `: ${visible(one.why).split('\n')[0]}`}`,
    );
    print(found, lines.join('\n'), options.json ?? false);
    return exit.ok;
  });

/** Text from stdin replaces the given version, or creates a note; text from $EDITOR replaces the version that was loaded into it. */
export const edit = (typed: string | undefined, options: MemoryOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const path = pathOf(typed);
    const project = await ofProject(options);
    const before = await db.notes.read(path, project);
    const write = async (content: string, replaces: number | null): Promise<number> => {
      if (content === (before?.content ?? '')) {
        note('nothing was changed');
        return exit.ok;
      }
      const version = await db.notes.write(path, content, project, replaces, options.why ?? null);
      print({ path, version }, `${visible(path)} is version ${version}`, options.json ?? false);
      return exit.ok;
    };
    if (io().stdin.isTTY) return edited(path, before?.content ?? '', (content) => write(content, before?.version ?? null));
    const content = await typedIn();
    if (content === '') throw new UsageError('stdin was empty: nothing was written');
    if (before && options.replaces === undefined)
      throw new UsageError(
        `${path} is there: say which version this text is made from, as in --replaces ${before.version} ("work-ledger memory list" shows it)`,
      );
    return write(content, options.replaces ?? null);
  });

async function typedIn(): Promise<string> {
  let text = '';
  for await (const chunk of io().stdin.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** EDITOR may have arguments, as other programs allow. Edited text that cannot be written is not lost. */
async function edited(path: string, content: string, write: (content: string) => Promise<number>): Promise<number> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'];
  if (!editor) throw new UsageError('set EDITOR, or pass the text on stdin: work-ledger memory edit style.md < style.md');
  const folder = await mkdtemp(join(tmpdir(), 'work-ledger-'));
  const file = join(folder, basename(path));
  await writeFile(file, content);
  const code = await new Promise<number | null>((resolve, reject) =>
    spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' })
      .on('error', reject)
      .on('close', resolve),
  );
  try {
    if (code !== 0) throw new UsageError(`${editor} exited with ${code}: nothing was written`);
    const ended = await write(await readFile(file, 'utf8'));
    await rm(folder, { recursive: true, force: true });
    return ended;
  } catch (error) {
    note(`your text was saved in ${file}`);
    throw error;
  }
}

export const rollback = (typed: string | undefined, version: string | undefined, options: MemoryOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const path = pathOf(typed);
    const now = await db.notes.rollback(path, versionOf(version), await ofProject(options), options.why ?? null);
    print({ path, version: now }, `${visible(path)} was restored from version ${version}, as version ${now}`, options.json ?? false);
    return exit.ok;
  });

function versionOf(typed: string | undefined): number {
  if (!/^\d{1,9}$/.test(typed ?? '')) throw new UsageError('name a version: "work-ledger memory history PATH" lists them');
  return Number(typed);
}

/** `version`: the one that was read; if there is a newer one, nothing is pinned. */
export const pin = (typed: string | undefined, isPinned: boolean, options: MemoryOptions, version?: string): Promise<number> =>
  withLedger(options, async (db) => {
    const path = pathOf(typed);
    const isNew = await db.notes.pin(path, isPinned, await ofProject(options), version === undefined ? null : versionOf(version));
    const is = isPinned ? 'pinned' : 'not pinned';
    print({ path, is_new: isNew }, `${visible(path)} is ${is}${isNew ? '' : ' already'}`, options.json ?? false);
    return exit.ok;
  });

export const erase = (typed: string | undefined, options: MemoryOptions): Promise<number> =>
  withLedger(options, async (db) => {
    const path = pathOf(typed);
    if (options.reason === undefined) throw new UsageError('give a reason, which is kept: --reason TEXT');
    const gone = await db.notes.erase(path, options.reason, await ofProject(options), options.keepNewest ?? false);
    print({ path, versions: gone }, `permanently erased the text of ${gone} versions`, options.json ?? false);
    return exit.ok;
  });
