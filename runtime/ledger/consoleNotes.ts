// The console's queries about notes: those of a project, one note with its lines and readers, its history.

import { sql } from 'slonik';
import { z } from 'zod';

import { isOf, number, text } from './consoleShapes.ts';
import type { Project } from './consoleShapes.ts';
import type { Calls } from './pool.ts';

const listed = z.object({
  file_id: z.string(),
  project: text,
  path: z.string(),
  version: z.number(),
  bytes: z.number(),
  pinned_at: text,
  pinned_version: number,
  written_by: z.string(),
  work_item_id: text,
  updated_at: z.string(),
  readers: z.number(),
});
export type ListedNote = z.infer<typeof listed>;

const whole = z.object({
  file_id: z.string(),
  project: text,
  path: z.string(),
  is_deleted: z.boolean(),
  version: z.number(),
  written_by: z.string(),
  work_item_id: text,
  created_at: z.string(),
  content: text,
  pinned_at: text,
  pinned_by: text,
  pinned_version: number,
});
export type WholeNote = z.infer<typeof whole>;

const version = z.object({
  version: z.number(),
  command: z.string(),
  path: z.string(),
  written_by: z.string(),
  work_item_id: text,
  why: text,
  created_at: z.string(),
  is_erased: z.boolean(),
  content: text,
  changes: z.string(),
});
export type NoteVersion = z.infer<typeof version>;

const line = z.object({
  line: z.number(),
  content: z.string(),
  since_version: z.number(),
  written_by: z.string(),
  work_item_id: text,
  created_at: z.string(),
  readers: z.number(),
});
const reader = z.object({ reader: z.string(), work_item_id: text, version: z.number(), viewed_at: z.string() });

export function consoleNotes({ run, named, invoked }: Calls) {
  const versionsOf = (fileId: string) => sql.fragment`
    select version, command, path, written_by, work_item_id, left(why, 300) as why, created_at, is_erased, content, changes
      from ${named('v_memory_versions')} where file_id = ${fileId}::uuid`;
  return {
    /** Ordered by project and path; `after`: the id of the last note already known. */
    notesPage: (project: Project, after: string | null, limit: number) =>
      run(
        () => sql.type(listed)`
      select file_id, project, path, version, bytes, pinned_at, pinned_version, written_by, work_item_id, updated_at, readers
        from ${named('v_memory_files')}
       where ${isOf(invoked, project, 'project')}
         and (${after}::uuid is null
              or (coalesce(project, '') collate "C", path collate "C") > (
                   select coalesce(a.project, ''), a.path from ${named('v_memory_files')} a where a.file_id = ${after}::uuid))
       order by coalesce(project, '') collate "C", path collate "C" limit ${limit}`,
      ),

    /** The note as it is now, or as it was when it was deleted. Null: there is no such note. */
    note: async (fileId: string) =>
      (
        await run(
          () => sql.type(whole)`
      select v.file_id, v.project, v.path_now as path, v.is_deleted, v.version, v.written_by, v.work_item_id, v.created_at, v.content,
             f.pinned_at, f.pinned_by, f.pinned_version
        from ${named('v_memory_versions')} v
        left join ${named('v_memory_files')} f on f.file_id = v.file_id
       where v.file_id = ${fileId}::uuid order by v.version desc limit 1`,
        )
      )[0] ?? null,

    /** A text that differs after a change of a note, of what is pinned, or of who was shown it. */
    noteChanges: async (fileId: string) => {
      const [now] = await run(
        () => sql.type(z.object({ now: z.string() }))`
      select concat_ws('/', v.version, v.is_deleted, v.is_erased, f.pinned_version, s.readers) as now
        from ${named('v_memory_versions')} v
        left join ${named('v_memory_files')} f on f.file_id = v.file_id
       cross join lateral (select concat_ws('/', count(*), max(s.viewed_at)) as readers from ${named('v_memory_views')} s where s.file_id = v.file_id) s
       where v.file_id = ${fileId}::uuid order by v.version desc limit 1`,
      );
      return now?.now ?? '';
    },

    noteVersions: (fileId: string, before: number | null, limit: number) =>
      run(
        () => sql.type(version)`
      ${versionsOf(fileId)} and (${before}::integer is null or version < ${before}::integer) order by version desc limit ${limit}`,
      ),

    noteVersion: async (fileId: string, at: number) =>
      (await run(() => sql.type(version)`${versionsOf(fileId)} and version = ${at}`))[0] ?? null,

    noteLines: (fileId: string) =>
      run(
        () => sql.type(line)`
      select line, content, since_version, written_by, work_item_id, created_at, readers
        from ${named('v_memory_lines')} where file_id = ${fileId}::uuid order by line`,
      ),

    /** An entry that might become part of a note. */
    noteSource: async (workItemId: string, seq: number) =>
      (
        await run(
          () => sql.type(z.object({ entry_type: z.string(), content: z.string() }))`
      select entry_type, content from ${named('v_ledger')} where work_item_id = ${workItemId}::uuid and seq = ${seq}`,
        )
      )[0] ?? null,

    noteReaders: (fileId: string, limit: number) =>
      run(
        () => sql.type(reader)`
      select reader, work_item_id, version, viewed_at from ${named('v_memory_views')} where file_id = ${fileId}::uuid order by viewed_at desc limit ${limit}`,
      ),
  };
}
