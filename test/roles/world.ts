// A ledger with roles, in which each situation of work is there twice (world.sql): submitted by the login that is tried, which gets one
// kind of role after another, and by somebody else.

import { readFile } from 'node:fs/promises';

import pg from 'pg';

import { createDatabase } from '../database.ts';
import type { Work } from './arguments.ts';

export type World = {
  /** The logins, and the kinds of roles that the first of them gets. */
  caller: string;
  another: string;
  kinds: string[];
  works: Work[];
  /** As a superuser. */
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  /** A session of the login that is tried, with what it gives along at its beginning, and what the server has told it. */
  connect(options?: string): Promise<Session>;
  /** What is done while that login has a role of this kind; none: no right at all. */
  as<T>(kind: string, what: () => Promise<T>): Promise<T>;
  drop(): Promise<void>;
};

export type Session = { client: pg.Client; notices: string[] };

export const NONE = 'none';
/** Who is a member of the ledger's owner, as which nobody logs in. */
export const OWNER = 'member of the owner';

export async function createWorld(): Promise<World> {
  const database = await createDatabase();
  const prefix = `m${process.pid}_`;
  const [caller, another] = [`${prefix}caller`, `${prefix}another`];
  // One connection: only the last one to be idle sees what it has set.
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const query = async <Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> => {
    const result = await admin.query<Row>(sql);
    return (Array.isArray(result) ? (result as pg.QueryResult<Row>[]).at(-1)?.rows : result.rows) ?? [];
  };
  // A fuse: a call that hangs ends by it.
  await query(`
    set search_path to ledger, work_test, public; set client_min_messages = error;
    create role ${caller} login; alter role ${caller} set statement_timeout = '600s'; create role ${another} login;
    set matrix.caller = '${caller}'; set matrix.another = '${another}';
    select work_roles_create('${prefix}'); grant ${prefix}client to ${caller}, ${another}`);
  await query(await readFile(new URL('world.sql', import.meta.url), 'utf8'));
  await query(await readFile(new URL('users.sql', import.meta.url), 'utf8'));
  await query(`
    select tool('execute_code'), tool('erase', 'unsafe', 'dangerous'), model_save('claude-opus-4-5', 200000);
    select faculty_save('{"name": "feeder", "accepts": ["chore"], "orient": {"command": "true"},
      "engage": {"tools": ["look", "erase"], "require_approval": "dangerous", "code_execution": true}}') from tool('look');
    select matrix.fill('another'); select matrix.fill('own');
    select matrix.note('another', 'held', i, lease(i)) from matrix.driven('held', 'held', true) i;
    select matrix.note('another', 'held, asked', i, lease(i)) from matrix.driven('held', 'asked', false) i;
    update foci set lease_expires_at = now() + interval '1 day' where lease_expires_at is not null;
    -- Due from the beginning: no answer depends on how long ago an attempt was given up.
    update work_items set run_at = now() where state = 'queued';
    -- In the past, so that a heartbeat writes, whenever it comes.
    update work_items set heartbeat_ends_at = now() where work_type = 'journal';
    update workers set seen_at = now() + interval '1 day';
    revoke ${prefix}client from ${caller}`);
  // In a statement of its own: nothing that comes after is older.
  await query('select matrix.take_baseline()');
  const works = await query<Work>(`
    select w.*, (select i::text from work_items i where i.id = w.item) as row from (select * from matrix.work union all
      select w.place + 1000, w.side, 'with another''s lease', w.item, w.child, h.lease, w.turn, w.call, w.code, w.entry_call, w.risky,
             w.hook_run, w.session, w.message, w.focus, w.journal_entry, w.conversation, w.handle, w.task, w.recorded
        from matrix.work w, matrix.work h where w.side = 'another' and w.kind = 'driven' and h.kind = 'held') w order by w.side desc, w.place`);
  const granted = await query<{ kind: string }>(`select kind from _role_kinds() where kind <> 'owner'`);
  const kinds = [NONE, ...granted.map(({ kind }) => kind), OWNER];

  const roleOf = (kind: string): string => `${prefix}${kind === OWNER ? 'owner' : kind}`;
  return {
    caller,
    another,
    kinds,
    works,
    query,
    // Logged in, not "set session authorization": a superuser behind it could take it back, and settings of a login would not count.
    async connect(options = '') {
      const client = new pg.Client({ connectionString: database.url.replace('postgres@', `${caller}@`), options });
      const notices: string[] = [];
      client.on('notice', ({ message }) => notices.push(message ?? ''));
      await client.connect();
      return { client, notices };
    },
    async as(kind, what) {
      if (kind === NONE) return what();
      await query(`grant ${roleOf(kind)} to ${caller}`);
      try {
        return await what();
      } finally {
        await query(`revoke ${roleOf(kind)} from ${caller}`);
      }
    },
    async drop() {
      await query(
        `drop schema if exists hostile cascade; select work_roles_drop(); drop owned by ${caller}, ${another}; drop role ${caller}, ${another}`,
      );
      await admin.end();
      await database.drop();
    },
  };
}
