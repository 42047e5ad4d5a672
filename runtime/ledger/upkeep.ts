// The upkeep of workers, and the queries of the ledger's health checks.

import { sql } from 'slonik';
import { z } from 'zod';

import { version } from '../../sql/extensionSource.ts';
import type { Lease } from './iteration.ts';
import type { Calls } from './pool.ts';

/** From the files as they were when this process started. */
const programVersion = version();

export const upkeep = ({ call, values, one, run, once, named, schema }: Calls) => ({
  /**
   * Never repeated: a late heartbeat proves nothing. Rejected with WL010 if the ledger was upgraded and no longer serves this version, with
   * WL011 if it was moved.
   */
  leaseRenew: ({
    workerId,
    leases,
    host,
    pid,
    treeId,
    concurrency,
    daemon,
    project,
  }: {
    workerId: string;
    leases: readonly Lease[];
    host: string;
    pid: number;
    treeId: string | null;
    concurrency: number;
    daemon: string | null;
    project: string | null;
  }) =>
    once.values(
      'lease_renew',
      [
        workerId,
        sql.array(
          leases.map((held) => held.work_item_id),
          'uuid',
        ),
        sql.array(
          leases.map((held) => held.lease),
          'uuid',
        ),
        host,
        pid,
        treeId,
        concurrency,
        programVersion,
        daemon,
        project,
      ],
      z.string(),
    ),

  /** Whether the ledger serves programs of this version. */
  serves: () => call('work_ledger_serves', [programVersion], z.boolean()),

  /** Whether this connection may write: it may not on a standby, nor where the server or the database is set to read only. */
  takesWrites: async () =>
    (await one(() => sql.type(z.object({ is: z.boolean() }))`select current_setting('transaction_read_only') = 'off' as is`)).is,

  /** Never repeated: a sweep does what was missed. */
  workerStop: (workerId: string) => once.call('worker_stop', [workerId], z.unknown()),

  workSweep: (workerTimeoutSeconds: number) =>
    call(
      'work_sweep',
      [`${workerTimeoutSeconds} seconds`],
      z.object({ expired: z.number(), enqueued: z.number(), dead_workers: z.array(z.string()) }),
    ),

  /** Those of the work items whose workspace is no longer needed. */
  workspacesOver: (workItemIds: readonly string[]) => values('workspaces_over', [sql.array(workItemIds, 'uuid')], z.string()),

  /** Those of the work items that this ledger does not have. */
  unknownItems: async (workItemIds: readonly string[]) =>
    (
      await run(
        () => sql.type(z.object({ id: z.string() }))`
      select id from unnest(${sql.array(workItemIds, 'uuid')}) given(id) where not exists (select from ${named('v_work_list')} w where w.work_item_id = given.id) order by id`,
      )
    ).map(({ id }) => id),

  /** An id derived from server, database and schema: the same for everyone who uses this ledger, different for every other ledger. */
  async ledgerId() {
    // If the server does not reveal its identity, database and schema must suffice.
    const { may } = await one(
      () => sql.type(z.object({ may: z.boolean() }))`select has_function_privilege('pg_control_system()', 'execute') as may`,
    );
    const { id } = await one(
      () => sql.type(z.object({ id: z.string() }))`
      select left(encode(sha256(convert_to(concat_ws('/', ${may ? sql.fragment`(select system_identifier from pg_control_system())` : sql.fragment`null`}, quote_ident(current_database()), quote_ident(${schema})), 'UTF8')), 'hex'), 16) as id`,
    );
    return id;
  },

  /** What leaves the fewest: the server, or a limit of this database or of this role, which superusers ignore. */
  connections: () =>
    one(
      () => sql.type(z.object({ whose: z.enum(['server', 'database', 'role']), most: z.number(), left: z.number() }))`
      select whose, most, free as left from ${named('v_connections')} where whose <> 'role' or name = session_user order by free limit 1`,
    ),

  missingTools: () =>
    run(
      () =>
        sql.type(
          z.object({ faculty: z.string(), tool: z.string(), project: z.string().nullable() }),
        )`select faculty, tool, project from ${named('v_missing_tools')}`,
    ),

  unroutable: () =>
    run(() => sql.type(z.object({ id: z.string(), work_type: z.string() }))`select id, work_type from ${named('v_unroutable')}`),

  doctor: () =>
    run(
      () => sql.type(
        z.object({
          severity: z.enum(['error', 'warning', 'fine']),
          code: z.string(),
          work_item_id: z.string().nullable(),
          says: z.string(),
          remedy: z.string().nullable(),
        }),
      )`
      select * from ${named('work_ledger_doctor')}()`,
    ),

  /** Violated invariants in everything that is stored. */
  check: () =>
    run(
      () =>
        sql.type(
          z.object({ invariant: z.string(), work_item_id: z.string().nullable(), says: z.string() }),
        )`select * from ${named('work_ledger_check')}()`,
    ),
});
