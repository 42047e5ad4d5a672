// Files imported into a database of the test's own, and what is there then.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { importFile } from '../runtime/import/importFile.ts';
import type { ImportedSession, ImportReport } from '../runtime/import/importFile.ts';
import { openDb } from '../runtime/ledger/db.ts';
import type { Db } from '../runtime/ledger/db.ts';
import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';

export class Importer {
  readonly database: TestDatabase;
  readonly db: Db;
  /** For the files. */
  readonly directory: string;

  private constructor(database: TestDatabase, db: Db, directory: string) {
    this.database = database;
    this.db = db;
    this.directory = directory;
  }

  static async open(): Promise<Importer> {
    const database = await createDatabase();
    return new Importer(database, await openDb(database.url, 'ledger'), await mkdtemp(join(tmpdir(), 'import-test-')));
  }

  /** The report, and its first session. Throws where nothing was imported. */
  async import(file: string): Promise<Exclude<ImportReport, { error: string }> & ImportedSession> {
    const report = await importFile(this.db, file);
    if ('error' in report) throw new Error(report.error);
    const [first] = report.sessions;
    if (!first) throw new Error('nothing was imported');
    return { ...report, ...first };
  }

  /** How many rows there are that an import writes. */
  async rows(): Promise<number> {
    const [row] = await this.database.query<{ n: number }>(`
      select ((select count(*) from ledger.turns) + (select count(*) from ledger.messages) + (select count(*) from ledger.tool_calls) + (select count(*) from ledger.sessions)
              + (select count(*) from ledger.session_history))::int as n`);
    return row!.n;
  }

  /** What a session's head leads back to: its own turns, and those that it shares. */
  async chain(session: string): Promise<{ turns: number; calls: number; open: number }> {
    const [row] = await this.database.query<{ turns: number; calls: number; open: number }>(`
      with line as (select a.id from ledger.sessions s, ledger.turn_ancestry(s.head_turn_id) a join ledger.turns t using (id) where s.label = '${session}' and t.turn_type = 'normal')
      select count(*)::int as turns, (select count(*)::int from ledger.tool_calls k join line on line.id = k.turn_id) as calls,
             (select count(*)::int from ledger.tool_calls k join line on line.id = k.turn_id where k.completed_at is null) as open from line`);
    return row!;
  }

  async close(): Promise<void> {
    await this.db.close();
    await this.database.drop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A session of Claude Code with n exchanges: a line for each content block, as it writes them. */
export const claudeSession = (n: number): string[] => {
  const at = (i: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString();
  const record = (i: number, message: object, more: object = {}) =>
    JSON.stringify({
      type: (message as { role: string }).role,
      uuid: `session-1-${i}`,
      sessionId: 'session-1',
      cwd: '/work',
      timestamp: at(i),
      message,
      ...more,
    });
  const lines = [record(0, { role: 'user', content: 'Mend the import' })];
  for (let i = 1; i <= n; i++) {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 };
    lines.push(
      record(i * 10, {
        role: 'assistant',
        id: `m${i}`,
        model: 'claude-opus-5',
        usage,
        content: [{ type: 'text', text: `I look at ${i}.` }],
      }),
    );
    lines.push(
      record(i * 10 + 1, {
        role: 'assistant',
        id: `m${i}`,
        model: 'claude-opus-5',
        usage,
        content: [{ type: 'tool_use', id: `t${i}`, name: 'Read', input: { file_path: `f${i}` } }],
      }),
    );
    lines.push(record(i * 10 + 2, { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: `content of ${i}` }] }));
  }
  return lines;
};
