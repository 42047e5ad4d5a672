// `work-ledger faculty PATH…`: stores faculty TOML files in the ledger.

import type { Settings } from '../config.ts';
import { loadFaculties } from '../faculty/loadFaculties.ts';
import type { Db } from '../ledger/db.ts';
import { executeCode } from '../focus/runCode.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import { projectNamedIn } from './configFile.ts';
import { withLedger } from './withLedger.ts';
import { exit, note, print } from './output.ts';

export const faculty = (paths: string[], options: Settings): Promise<number> =>
  withLedger(options, async (db) => {
    const saved = await saveFaculties(db, paths);
    const names = saved.map((one) => one.name);
    const ours = new Set([...builtinTools.map((tool) => tool.name), executeCode.name]); // a worker registers them when it starts
    const isSaved = (named: string, project: string | null): boolean => saved.some((one) => one.name === named && one.project === project);
    for (const { faculty: name, tool } of (await db.missingTools()).filter(
      (one) => isSaved(one.faculty, one.project) && !ours.has(one.tool),
    )) {
      note(`warning: faculty "${name}" uses the tool ${tool}, which is not registered: a worker must provide it with --tools`);
    }
    print(
      names,
      saved.map(({ name, project }) => `saved ${name}${project === null ? '' : ` of project ${project}`}`).join('\n'),
      options.json ?? false,
    );
    return exit.ok;
  });

export type Saved = { name: string; project: string | null; directory: string | null };

/**
 * Stores the faculties of TOML files or directories, all or none. Reports keys that are accepted but have no effect yet, and faculties that
 * now work in another place.
 */
export async function saveFaculties(db: Db, paths: readonly string[]): Promise<Saved[]> {
  const loaded = await loadFaculties(db, paths, projectNamedIn);
  const before = loaded.length === 0 ? [] : await db.facultyNeeds();
  const saved: Saved[] = [];
  for (const { config, warnings } of loaded) {
    for (const warning of warnings) note(`warning: ${warning}`);
    const directory = config.engage?.workspace_dir ?? null;
    const now = { name: await db.facultySave(config), project: config.project || null, directory };
    const was = before.find((one) => one.name === now.name && one.project === now.project)?.engage.workspace_dir ?? null;
    if (was !== null && now.directory !== null && was !== now.directory)
      note(
        `warning: faculty "${now.name}"${now.project === null ? '' : ` of project ${now.project}`} worked in ${was} until now, and from now on in ${now.directory}${now.project === null ? '. Faculties of two projects stay apart: project = "…" in work-ledger.toml' : ''}`,
      );
    saved.push(now);
  }
  return saved;
}
