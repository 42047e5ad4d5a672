// Checks which rights a role lacks for installing a ledger, before anything is changed, so that one sentence can say it.

import type pg from 'pg';

import { isInstallable, isOurs, printCommand, QUEUE_MIGRATION } from '../ledger/checkLedger.ts';
import type { Standing } from '../ledger/checkLedger.ts';

/** This role may not do what an installation requires; the message says who may, and how. */
export class MissingRight extends Error {
  override name = 'MissingRight';
}

type Rights = {
  role: string;
  database: string;
  /** It may create schemas. */
  creates: boolean;
  /** It may create objects in the schema; null: there is no such schema. */
  fills: boolean | null;
  fills_queue: boolean | null;
  /** The owner, if this role is not a member of it. */
  owner: string | null;
  queue_owner: string | null;
};

/**
 * Throws MissingRight if this role cannot bring the ledger and graphile-worker's schema to the state that this program requires. `found`
 * null: it may not even look.
 */
export async function checkRights(client: pg.Client, schema: string, found: Standing | null): Promise<void> {
  const {
    rows: [rights],
  } = await client.query<Rights>(
    `
    select current_user as role, current_database() as database, has_database_privilege(current_database(), 'create') as creates,
           (select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1) as fills,
           (select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'graphile_worker') as fills_queue,
           (select pg_get_userbyid(c.relowner) from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = $1 and c.relname = 'work_items' and not pg_has_role(c.relowner, 'usage')) as owner,
           (select pg_get_userbyid(c.relowner) from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = 'graphile_worker' and c.relname = 'migrations' and not pg_has_role(c.relowner, 'usage')) as queue_owner`,
    [schema],
  );
  const lacks = rights === undefined ? null : lackOf(rights, schema, found);
  if (rights !== undefined && lacks !== null) throw new MissingRight(`role "${rights.role}" may not ${lacks}`);
}

/** What it may not do, and what to do about it. */
function lackOf(rights: Rights, schema: string, found: Standing | null): string | null {
  const { role, owner } = rights;
  const isTheirs = found === null || (found.ledger !== null && !isOurs(found) && isInstallable(found));
  if (owner !== null && isTheirs) return `change the ledger in schema "${schema}": install as role "${owner}", which it belongs to`;
  const what = found === null ? `use schema "${schema}"` : missingFor(rights, schema, found);
  return what === null ? null : `${what}: let a role that may run in psql what this prints: ${printCommand(schema, role)}`;
}

function missingFor(rights: Rights, schema: string, { ledger, queue }: Standing): string | null {
  const create = (name: string, fills: boolean | null): string | null => {
    if (fills === null) return rights.creates ? null : `create schema "${name}" in database "${rights.database}"`;
    return fills ? null : `create anything in schema "${name}"`;
  };
  const forLedger = ledger === null ? create(schema, rights.fills) : null;
  if (forLedger !== null || queue === null || queue >= QUEUE_MIGRATION) return forLedger;
  if (queue === 0) return create('graphile_worker', rights.fills_queue);
  return rights.queue_owner === null ? null : `change graphile-worker's tables, which belong to role "${rights.queue_owner}"`;
}
