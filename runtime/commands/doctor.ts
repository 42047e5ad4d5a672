// `work-ledger doctor`: finds and reports what would make the ledger lose or stall work.

import Docker from 'dockerode';

import type { Settings } from '../config.ts';
import { checkLedger, OtherLedger } from '../install/checkLedger.ts';
import { findLedger } from '../install/findLedger.ts';
import { openDb } from '../ledger/db.ts';
import { connectionsOf } from '../worker/connections.ts';
import { exit, print } from './output.ts';

type Check = { check: string; isFine: boolean; detail: string };

export async function doctor(options: Settings): Promise<number> {
  const place = await findLedger(options);
  try {
    await checkLedger(place.url, place.schema, { isWorker: true });
  } catch (error) {
    if (!(error instanceof OtherLedger)) throw error;
    return say([{ check: 'ledger', isFine: false, detail: error.message }], options);
  }
  const db = await openDb(place.url, place.schema, { maximumPoolSize: 2 });
  try {
    const settings = new Map((await db.serverSettings()).map((row) => [row.name, row.setting]));
    const isOn = (name: string): boolean => !['off', 'local'].includes(settings.get(name) ?? 'off');
    const expired = await db.expiredLeases();
    const dead = await db.deadJobs().catch(() => null); // only its owner may read graphile-worker's schema
    const connections = await db.connections();
    const unroutable = await db.unroutable();
    const missing = await db.missingTools();
    const checks: Check[] = [
      { check: 'PostgreSQL', isFine: Number.parseInt(settings.get('server_version') ?? '0') >= 15, detail: settings.get('server_version') ?? 'unknown' },
      { check: 'ledger', isFine: true, detail: `${await db.version()} in schema ${place.schema}` },
      { check: 'writable', isFine: settings.get('transaction_read_only') === 'off', detail: 'this node takes writes' },
      { check: 'durable commits', isFine: isOn('fsync') && isOn('synchronous_commit'), detail: `fsync ${settings.get('fsync')}, synchronous_commit ${settings.get('synchronous_commit')}` },
      { check: 'leases', isFine: expired.length === 0, detail: expired.length === 0 ? 'none expired' : `${expired.length} expired: is a worker running?` },
      { check: 'jobs', isFine: !dead, detail: dead === null ? 'not yours to see' : dead === 0 ? 'no dead job rows' : `${dead} dead job rows, which a worker sweeps: is one running?` },
      { check: 'connections', isFine: connections.left >= connectionsOf(4), detail: `${connections.left} of ${connections.most} left; a worker opens at most its --concurrency and 4 more (${connectionsOf(4)} by default)` },
      { check: 'routing', isFine: unroutable.length === 0, detail: unroutable.length === 0 ? 'every queued item has a faculty' : `${unroutable.length} queued items that no faculty accepts: ${[...new Set(unroutable.map((row) => row.work_type))].join(', ')}` },
      { check: 'tools', isFine: missing.length === 0, detail: missing.length === 0 ? 'every tool a faculty names is registered' : `not registered: ${missing.map((row) => `${row.tool} (${row.faculty})`).join(', ')}` },
      await lookAtDocker(),
      { check: 'model key', isFine: Boolean(process.env['ANTHROPIC_API_KEY']), detail: process.env['ANTHROPIC_API_KEY'] ? 'ANTHROPIC_API_KEY is set' : 'ANTHROPIC_API_KEY is not set: work and run need it' },
    ];
    return say(checks, options);
  } finally {
    await db.close();
  }
}

function say(checks: readonly Check[], options: Settings): number {
  print(checks, checks.map((c) => `${c.isFine ? 'ok  ' : 'look'}  ${c.check.padEnd(16)} ${c.detail}`).join('\n'), options.json ?? false);
  return checks.every((c) => c.isFine) ? exit.ok : exit.error;
}

/** Docker is optional: without it there is no code and there are no workspaces in containers. Older versions were never tested. */
async function lookAtDocker(): Promise<Check> {
  try {
    const { Version, Components } = await new Docker().version();
    const runc = (Components as { Name: string; Version: string }[] | undefined)?.find(({ Name }) => Name === 'runc')?.Version;
    const isRecent = isAtLeast(Version, [20, 10]) && (runc === undefined || isAtLeast(runc, [1, 1, 5]));
    return { check: 'Docker', isFine: isRecent, detail: `${Version}${runc ? `, runc ${runc}` : ''}${isRecent ? '' : ': needs 20.10 and runc 1.1.5, with the fixes of your distribution'}` };
  } catch (error) {
    return { check: 'Docker', isFine: true, detail: `none (${(error as NodeJS.ErrnoException).code ?? String(error)}): no execute_code, and only workspace = "host"` };
  }
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '0').split('.').map(Number);
  const [at, want] = wanted.map((number, i) => [parts[i] ?? 0, number] as const).find(([a, b]) => a !== b) ?? [0, 0];
  return at >= want;
}
