// What people can change: each form calls one public function of the ledger. An action returns where to go afterwards.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import type { ImportReport } from '../import/importFile.ts';
import { importFile } from '../import/importFile.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError, UsageError } from '../ledger/errors.ts';
import { notePath } from '../ledger/notes.ts';
import { uuid } from './page.ts';

type Fields = Record<string, unknown>;
/** Returns the address to go to; null: back to where the form was. */
type Action = (db: Db, id: string, fields: Fields) => Promise<string | null>;

const textOf = (fields: Fields, name: string): string => (typeof fields[name] === 'string' ? fields[name].trim() : '');
const orNull = (text: string): string | null => (text === '' ? null : text);

function needed(fields: Fields, name: string, says: string): string {
  const text = textOf(fields, name);
  if (text === '') throw new LedgerError('WL002', says, '', '');
  return text;
}

/** The text as sent in the form: with every character, including those that a page replaces by visible ones. */
function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw new LedgerError('WL002', `that is not ${what}`, '', '');
    throw error;
  }
}

const done = async (change: Promise<unknown>): Promise<null> => {
  await change;
  return null;
};

const onWork: Record<string, Action> = {
  message: (db, id, fields) => done(db.workMessage(id, needed(fields, 'content', 'there is nothing to say'), false)),
  interrupt: (db, id, fields) => done(db.workMessage(id, needed(fields, 'content', 'an interruption needs words'), true)),
  pause: (db, id, fields) => done(db.workPause(id, orNull(textOf(fields, 'reason')))),
  resume: (db, id) => done(db.workResume(id)),
  continue: (db, id) => done(db.journal.sessionStatus(id, 'active')),
  async retry(db, id, fields) {
    return `/work/${(await db.workRetry(id, orNull(textOf(fields, 'content')))).id}`;
  },
  cancel: (db, id, fields) => done(db.workCancel(id, orNull(textOf(fields, 'reason')))),
  async compact(db, id, fields) {
    const says = await db.console.compact(id, orNull(textOf(fields, 'instructions')));
    if (says !== null) throw new UsageError(says);
    return null;
  },
  checkpoint: (db, id) => done(db.journal.checkpointCreate(id, 'manual')),
  complete: (db, id, fields) => done(db.console.complete(id, needed(fields, 'summary', 'a summary is needed: what was done?'))),
  feedback: (db, id, fields) =>
    done(
      db.journal.log(id, 'user_feedback', { message: needed(fields, 'message', 'there is nothing to note'), isInterrupt: false }, 'high'),
    ),
  retract: (db, id, fields) =>
    done(db.ledgerRetract(id, Number(textOf(fields, 'seq')) || 0, needed(fields, 'reason', 'a reason is needed: why is it wrong?'))),
  async release(db, id, fields) {
    const isTaken = await db.claimBreak(
      id,
      decoded(needed(fields, 'claim', 'which of its claims is missing'), 'the key of a claim'),
      orNull(textOf(fields, 'reason')),
    );
    if (!isTaken) throw new UsageError('it no longer holds that claim');
    return null;
  },
  async elsewhere(db, id, fields) {
    const made = await db.console.resumeIn(
      id,
      needed(fields, 'conversation', 'the other conversation needs a name'),
      Number(textOf(fields, 'tokens')) || 2000,
    );
    return `/work/${made.id}`;
  },
};

const onCall: Record<string, Action> = {
  decide(db, id, fields) {
    if (textOf(fields, 'decision') === 'approve')
      return done(db.console.approve(id, needed(fields, 'input_hash', 'which arguments were looked at is missing')));
    if (textOf(fields, 'decision') === 'reject') return done(db.console.reject(id, orNull(textOf(fields, 'reason'))));
    throw new LedgerError('WL002', 'approve or reject', '', '');
  },
};

const onTurn: Record<string, Action> = {
  async fork(db, id, fields) {
    return `/work/${(await db.console.fork(id, orNull(textOf(fields, 'message')), null)).id}`;
  },
};

const onEntry: Record<string, Action> = { delete: (db, id, fields) => done(db.console.entryDelete(id, orNull(textOf(fields, 'reason')))) };

/** The text as it was typed; browsers send carriage returns at line ends. */
const noteText = (fields: Fields): string => (typeof fields['content'] === 'string' ? fields['content'].replaceAll('\r\n', '\n') : '');

/** Where a note is. A deleted note can be reached by its path, as long as no other note has it. */
async function placeOf(db: Db, id: string): Promise<{ path: string; project: string | null }> {
  const note = await db.console.note(id);
  if (note === null) throw new LedgerError('WL001', 'there is no such note', '', '');
  if (note.is_deleted && (await db.notes.read(note.path, note.project)))
    throw new LedgerError('WL006', `another note is ${note.path} by now`, '', '');
  return note;
}

async function pinNote(db: Db, id: string, isPinned: boolean, version: number | null = null): Promise<null> {
  const { path, project } = await placeOf(db, id);
  return done(db.notes.pin(path, isPinned, project, version));
}

const onNote: Record<string, Action> = {
  async write(db, id, fields) {
    const { path, project } = await placeOf(db, id);
    await db.notes.write(path, noteText(fields), project, Number(textOf(fields, 'version')) || null, orNull(textOf(fields, 'why')));
    return `/note/${id}`;
  },
  async rollback(db, id, fields) {
    const { path, project } = await placeOf(db, id);
    const [version, replaces] = ['version', 'replaces'].map((name) => Number(textOf(fields, name)) || 0);
    await db.notes.rollback(path, version ?? 0, project, orNull(textOf(fields, 'why')), replaces ?? 0);
    return `/note/${id}`;
  },
  pin: (db, id, fields) => pinNote(db, id, true, Number(textOf(fields, 'version')) || 0),
  unpin: (db, id) => pinNote(db, id, false),
  async erase(db, id, fields) {
    const { path, project } = await placeOf(db, id);
    return done(db.notes.erase(path, textOf(fields, 'reason'), project, textOf(fields, 'keep') === 'newest'));
  },
};

/** Creates a note, at the path and in the project that the form gives. */
async function writeNote(db: Db, fields: Fields): Promise<string> {
  const path = notePath(needed(fields, 'path', 'a note needs a path'));
  const project = orNull(decoded(textOf(fields, 'of'), 'the name of a project'));
  await db.notes.write(path, noteText(fields), project, null, orNull(textOf(fields, 'why')));
  const written = await db.notes.read(path, project);
  return written ? `/note/${written.file_id}` : '/notes';
}

/** Owner, resource and amount come from the form; an empty amount removes the budget. */
async function setDailyBudget(db: Db, fields: Fields): Promise<null> {
  const [, scope, name] = /^(project|faculty):(.*)$/.exec(needed(fields, 'of', 'of which project or faculty is missing')) ?? [];
  if (name === undefined) throw new LedgerError('WL002', 'that is neither a project nor a faculty', '', '');
  const amount = textOf(fields, 'amount');
  if (amount !== '' && !/^\d{1,15}(\.\d{1,6})?$/.test(amount))
    throw new LedgerError('WL002', 'an amount is a number, such as 20 or 2.5', '', '');
  const of = { scope: scope === 'project' ? ('project' as const) : ('faculty' as const), name: decoded(name, 'a name') };
  return done(db.dailyBudgetSet(textOf(fields, 'resource'), orNull(amount), of));
}

const actions: Record<string, Record<string, Action>> = { work: onWork, call: onCall, turn: onTurn, entry: onEntry, note: onNote };
const pattern = new RegExp(`^/(?<what>work|call|turn|entry|note)/(?<id>${uuid})/(?<name>[a-z]+)$`);

/** What the form at an address does; null: there is no such form. */
export function actionAt(path: string): ((db: Db, fields: Fields) => Promise<string | null>) | null {
  if (path === '/import') return importDropped;
  if (path === '/notes/write') return writeNote;
  if (path === '/fleet/budget') return setDailyBudget;
  const { what = '', id = '', name = '' } = pattern.exec(path)?.groups ?? {};
  const action = Object.hasOwn(actions, what) && Object.hasOwn(actions[what] ?? {}, name) ? actions[what]?.[name] : undefined;
  return action ? (db, fields) => action(db, id, fields) : null;
}

/** Imports recorded sessions. Files that cannot be read are rejected; the others are kept. */
async function importDropped(db: Db, fields: Fields): Promise<string | null> {
  const files = [fields['file']].flat().filter((file) => file instanceof File && file.size > 0) as File[];
  if (files.length === 0) throw new LedgerError('WL002', 'no file was chosen', '', '');
  const directory = await mkdtemp(join(tmpdir(), 'work-ledger-import-'));
  try {
    const reports: ImportReport[] = [];
    for (const file of files) {
      const path = join(directory, basename(file.name).replaceAll(/[^\w.-]/g, '_') || 'session');
      await writeFile(path, file.stream());
      reports.push(await importFile(db, path, { name: file.name }));
    }
    const bad = reports.find((report) => 'error' in report);
    if (bad && 'error' in bad) throw new LedgerError('WL002', `${bad.file}: ${bad.error}`, '', '');
    const first = reports[0];
    return first && 'sessions' in first && reports.length === 1 ? `/work/${first.sessions[0]?.workItemId}/context` : '/sessions#import';
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
