// `work-ledger faculty PATH…`: stores faculty TOML files in the ledger.

import type { Settings } from '../config.ts';
import { loadFaculties } from '../faculty/loadFaculties.ts';
import type { Db } from '../ledger/db.ts';
import { executeCode } from '../focus/runCode.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import { withLedger } from './withLedger.ts';
import { exit, note, print } from './output.ts';

export const faculty = (paths: string[], options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const names = await saveFaculties(db, paths);
    const ours = new Set([...builtinTools.map((tool) => tool.name), executeCode.name]); // a worker registers them when it starts
    for (const { faculty: name, tool } of (await db.missingTools()).filter((one) => names.includes(one.faculty) && !ours.has(one.tool))) {
      note(`warning: faculty "${name}" names the tool ${tool}, which nobody has registered: a worker with --tools has to bring it`);
    }
    print(names, names.map((name) => `saved ${name}`).join('\n'), options.json ?? false);
    return exit.ok;
  });

/** Stores the faculties of TOML files or directories, all or none, and returns what is accepted but has no effect yet. */
export async function saveFaculties(db: Db, paths: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const { config, warnings } of await loadFaculties(db, paths)) {
    for (const warning of warnings) note(`warning: ${warning}`);
    names.push(await db.facultySave(config));
  }
  return names;
}
