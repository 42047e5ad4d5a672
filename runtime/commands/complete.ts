// `work-ledger --complete items|faculties WORD`: called by the scripts of `--completion` while somebody types. Prints a line for each word:
// the word, a tab, a description. Starts no server, reports no errors, and ends within a second.

import { embeddedUrl } from '../install/embedded.ts';
import { schemaOn } from '../install/findLedger.ts';
import { withConnection } from '../ledger/connection.ts';
import { openLooking } from '../ledger/looking.ts';
import type { Looking } from '../ledger/looking.ts';
import { literalName } from '../visible.ts';
import { fitting } from './cells.ts';
import { fileSettings } from './configFile.ts';
import { whereOf } from './where.ts';

const PATIENCE_MS = 1000;
const NEWEST = 100;

type Word = { word: string; says: string };

/** The lines; empty if there are none, or if the ledger does not answer in time. */
export async function complete(what: string, typed: string): Promise<string> {
  const words = { items, faculties }[what];
  if (words === undefined) return '';
  const late = setTimeout(() => process.exit(0), PATIENCE_MS);
  try {
    const file = await fileSettings({ isTyped: true });
    const url = process.env['DATABASE_URL'] || file.databaseUrl || embeddedUrl();
    const schema = await withConnection({ connectionString: url }, (client) =>
      schemaOn(client, process.env['WORK_LEDGER_SCHEMA'] ? {} : file),
    );
    const db = await openLooking(url, schema, 1, { patienceMs: 0 });
    try {
      return (await words(db, typed)).map(({ word, says }) => `${word}\t${literalName(fitting(says, 60))}\n`).join('');
    } finally {
      await db.close();
    }
  } catch {
    return '';
  } finally {
    clearTimeout(late);
  }
}

/**
 * The newest items of the project: by the end of the id, which distinguishes them, or by the whole id if the user has begun to type that.
 */
async function items(db: Looking, typed: string): Promise<Word[]> {
  const project = process.env['WORK_LEDGER_PROJECT'];
  const newest = await db.workList(null, await whereOf(project ? { project } : {}), NEWEST);
  return newest.flatMap(({ id, state, description }) => {
    const word = [id.slice(-6), id].find((one) => one.startsWith(typed.toLowerCase()));
    return word === undefined ? [] : [{ word, says: `${state}: ${description}` }];
  });
}

/** Omits names that a shell would split into words and names with hidden characters; they have to be typed. */
async function faculties(db: Looking, typed: string): Promise<Word[]> {
  const all = await db.facultyNeeds();
  return [...new Map(all.map(({ name, project }) => [name, project])).entries()]
    .filter(([name]) => name.startsWith(typed) && name === literalName(name))
    .map(([word, project]) => ({ word, says: project ?? 'of all projects' }));
}
