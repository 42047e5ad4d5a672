// What `install` would do, as a script for somebody with more rights to read and run in psql.

import pg from 'pg';

import { encodingCheck, plainScript, version } from '../../sql/extensionSource.ts';
import { isInPlace, isInstallable, isMadeByUs, otherLedger, QUEUE_MIGRATION } from '../ledger/checkLedger.ts';
import type { Standing } from '../ledger/checkLedger.ts';
import { queueGrants, queueScript } from './queue.ts';
import { renamedScript } from './renamedScript.ts';
import { checkSchemaName } from './schemaName.ts';

/**
 * In one transaction; null: nothing is missing. `found`: what is there; null: nothing at all. `owner`: the role that everything new belongs
 * to; null: the role that runs the script.
 */
export async function installScript(found: Standing | null, schema: string, owner: string | null): Promise<string | null> {
  checkSchemaName(schema);
  if (found !== null && !isInstallable(found)) throw otherLedger(found, schema);
  const parts = [...(await queueParts(found, owner)), ...(found !== null && isInPlace(found) ? [] : ledgerParts(found, schema, owner))];
  if (parts.length === 0) return null;
  return [
    `-- A ledger of Work Ledger ${version()} in schema ${pg.escapeIdentifier(schema)}, and graphile-worker's schema: all of it or nothing.`,
    `-- psql -v ON_ERROR_STOP=1 -f FILE, by a superuser or by a role that ${owner === null ? 'may create schemas' : `may create schemas and is a member of ${owner}`}.`,
    ...(owner === null
      ? [`-- It belongs to who runs this. Roles for everybody else: select * from ${pg.escapeIdentifier(schema)}.work_roles_create();`]
      : []),
    '',
    `set client_encoding to 'UTF8';`,
    'begin;',
    encodingCheck(),
    ...parts,
    'commit;',
    '',
  ].join('\n');
}

/** `role`: the role that acts from here on, in this transaction; null: the role that runs the script. */
const as = (role: string | null): string => (role === null ? 'reset role;' : `set local role ${pg.escapeIdentifier(role)};`);

const created = (schema: string, owner: string | null): string =>
  `create schema if not exists ${pg.escapeIdentifier(schema)}${owner === null ? '' : ` authorization ${pg.escapeIdentifier(owner)}`};`;

async function queueParts(found: Standing | null, owner: string | null): Promise<string[]> {
  const queue = found === null ? 0 : found.queue;
  if (queue === 0) return ['-- graphile-worker', created('graphile_worker', owner), as(owner), await queueScript(0), as(null)];
  const isOld = queue !== null && queue < QUEUE_MIGRATION;
  if (!isOld && owner === null) return [];
  return [
    '-- graphile-worker, whose jobs are those of all ledgers of this database',
    asOwner('graphile_worker.migrations'),
    ...(isOld ? [await queueScript(queue)] : []),
    ...(owner === null ? [] : [queueGrants(owner)]),
    as(null),
  ];
}

function ledgerParts(found: Standing | null, schema: string, owner: string | null): string[] {
  const ledger = found?.ledger ?? null;
  if (found === null || ledger === null) return ['-- The ledger', created(schema, owner), as(owner), plainScript(schema, null)];
  const quoted = pg.escapeIdentifier(schema);
  const change =
    found.form === 'script'
      ? [plainScript(schema, ledger.version)]
      : isMadeByUs(found)
        ? ledger.isOfServer
          ? []
          : [plainScript(schema, ledger.version)]
        : [`alter extension work_ledger update to '${version()}';`];
  return [
    '-- The ledger',
    asOwner(`${quoted}.work_items`),
    ...change,
    ...(ledger.formerSchema === null ? [] : [renamedScript(ledger.formerSchema, schema)]),
  ];
}

/** Continues as the owner of a table. */
const asOwner = (table: string): string => `do $do$
begin
  execute format('set local role %I', (select pg_get_userbyid(relowner) from pg_class where oid = to_regclass(${pg.escapeLiteral(table)})));
end
$do$;`;
