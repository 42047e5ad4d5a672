// Cursor's state.vscdb: an SQLite database, read with Node's own module and never written. Cursor may be running meanwhile.

import { DatabaseSync } from 'node:sqlite';

import { parseJson } from '../../plv8/anyJson.ts';
import { readCursor } from '../../plv8/readers/cursor.ts';
import { field, stringOf } from '../../plv8/readers/reading.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';

/**
 * Yields each conversation in it; `leave` is called for the empty ones. `isNew`: whether a conversation is wanted, judged by the record
 * that Cursor stores of it apart from its messages, which changes with each of them. Throws if it is not a database of Cursor's.
 */
export function* cursorRuns(
  file: string,
  leave: (reason: string) => void,
  isNew: (id: string, stored: unknown) => boolean = () => true,
): Generator<RecordedRun> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    // It must be a plain table, whose values are in the file: computed values could be of any size.
    if (
      !database
        .prepare(
          `select 1 from pragma_table_list('cursorDiskKV') where schema = 'main' and type = 'table' and not exists (select 1 from pragma_table_xinfo('cursorDiskKV') where hidden <> 0)`,
        )
        .get()
    ) {
      throw new Error("not a recorded run: an SQLite database without the table cursorDiskKV, which Cursor's global state.vscdb has");
    }
    const bubblesOf = database.prepare('select key, value from cursorDiskKV where key >= ? and key < ? order by key');
    const composers = new Map<string, unknown>();
    const wanted = new Set<string>();
    const parents = new Map<string, string>();
    for (const { key, value } of database
      .prepare(`select key, value from cursorDiskKV where key >= 'composerData:' and key < 'composerData;' order by key`)
      .iterate()) {
      const [id, composer] = [String(key).slice('composerData:'.length), parsed(value, leave)];
      composers.set(id, composer);
      if (isNew(id, value)) wanted.add(id);
      for (const part of listOf(field(composer, 'subComposerIds'))) if (stringOf(part) !== null) parents.set(String(part), id);
    }
    for (const [id, composer] of composers) {
      if (!wanted.has(id)) continue;
      const prefix = `bubbleId:${id}:`;
      const bubbles = new Map(
        bubblesOf.all(prefix, `bubbleId:${id};`).map(({ key, value }) => [String(key).slice(prefix.length), parsed(value, leave)]),
      );
      let parent = parents.get(id);
      // nested ones are stored flat
      for (let depth = 0; depth < 10 && parent !== undefined && parents.has(parent); depth++) parent = parents.get(parent);
      const run = readCursor({ id, composer, bubbles, ...(parent !== undefined && { parent }) });
      if (run) yield run;
      else leave('conversation without an answer');
    }
  } finally {
    database.close();
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** A value is JSON, as text or as bytes; null for anything else. */
function parsed(text: unknown, leave: (reason: string) => void): unknown {
  try {
    const { value, odd } = parseJson(text instanceof Uint8Array ? Buffer.from(text).toString('utf8') : String(text));
    if (odd !== null) leave(odd);
    return value;
  } catch {
    return null;
  }
}
