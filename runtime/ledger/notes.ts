// Notes: files of a project that outlive the work that wrote them.

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import type { Calls } from './pool.ts';

const note = z.object({
  file_id: z.string(),
  path: z.string(),
  version: z.number(),
  bytes: z.number(),
  pinned_at: z.string().nullable(),
  written_by: z.string(),
  updated_at: z.string(),
  readers: z.number(),
});
const wholeNote = note.extend({ content: z.string() });
const noteVersion = z.object({
  path: z.string(),
  version: z.number(),
  command: z.string(),
  written_by: z.string(),
  work_item_id: z.string().nullable(),
  why: z.string().nullable(),
  created_at: z.string(),
  is_erased: z.boolean(),
  is_deleted: z.boolean(),
});

const suggestion = z.object({
  content: z.string(),
  entry_type: z.string(),
  work_item_id: z.string(),
  seq: z.number(),
  told: z.number(),
  since: z.string(),
});

export type Note = z.infer<typeof note>;

/** The path that a person typed, below /memories, which need not be typed. */
export const notePath = (typed: string): string =>
  /^\/*memories(\/|$)/.test(typed) ? `/${typed.replace(/^\/+/, '')}` : `/memories/${typed.replace(/^\/+/, '')}`;

/** Whose notes these are, and who reads or writes them; see memory_command(). */
export type MemoryHand = { project: string | null; workItemId: string | null; lease: string | null; reader: string | null };

export const notes = ({ call, rows, run, named }: Calls) => ({
  notes: {
    /** Runs a command of the memory tool; repeating it with the same `key` does nothing. */
    command: (input: object, { project, workItemId, lease, reader }: MemoryHand, key: string | null) =>
      call('memory_command', [storableJson(input), project, workItemId, lease, reader, key], z.string()),

    /** Entries that several agents were told of and that no note quotes, most often told first. */
    suggest: (project: string | null, limit: number) => rows('memory_suggest', [project, limit], suggestion),

    list: (project: string | null) =>
      run(
        () => sql.type(note)`
        select file_id, path, version, bytes, pinned_at, written_by, updated_at, readers
          from ${named('v_memory_files')} where project is not distinct from ${named('project_name')}(${project}) order by path collate "C"`,
      ),

    /** Undefined: there is no such note. */
    read: async (path: string, project: string | null) =>
      (
        await run(
          () => sql.type(wholeNote)`
        select file_id, path, version, bytes, pinned_at, written_by, updated_at, readers, content
          from ${named('v_memory_files')} where project is not distinct from ${named('project_name')}(${project}) and path = ${path}`,
        )
      )[0],

    /** Newest version first; includes files that had this path and were deleted or renamed. */
    history: (path: string, project: string | null) =>
      run(
        () => sql.type(noteVersion)`
        select path, version, command, written_by, work_item_id, why, created_at, is_erased, content is null as is_deleted
          from ${named('v_memory_versions')} v
         where project is not distinct from ${named('project_name')}(${project})
           and file_id in (select o.file_id from ${named('v_memory_versions')} o
                            where o.project is not distinct from ${named('project_name')}(${project}) and ${path} in (o.path, o.path_now))
         order by path_now = ${path} desc, created_at desc, version desc
         limit 1000`,
      ),

    /** `version`: the version to replace, as it was read; null: there is none yet. */
    write: (path: string, content: string, project: string | null, version: number | null, why: string | null) =>
      call('memory_write', [path, content, project, version, why], z.number()),

    /** `replaces`: the current version, as it was read; null: whichever it is. */
    rollback: (path: string, version: number, project: string | null, why: string | null, replaces: number | null = null) =>
      call('memory_rollback', [path, version, project, replaces, why], z.number()),

    /** `version`: the one that was read; it is refused if there is a newer one. Null: the newest. */
    pin: (path: string, isPinned: boolean, project: string | null, version: number | null = null) =>
      call('memory_pin', [path, isPinned, project, version], z.boolean()),

    erase: (path: string, reason: string, project: string | null, keepNewest: boolean) =>
      call('memory_erase', [path, reason, project, keepNewest], z.number()),
  },
});
