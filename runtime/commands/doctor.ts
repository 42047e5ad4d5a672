// `work-ledger doctor`: finds and reports anything that would make the ledger lose or stall work.

import { realpath, stat } from 'node:fs/promises';

import { commandUser, uncontained } from '../../sandbox/commandUser.ts';
import { listOwned, volumeOf } from '../../sandbox/containerWorkspace.ts';
import { answeringDocker } from '../../sandbox/docker.ts';
import { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import type { Settings } from '../config.ts';
import { checkLedger, NoQueue, OtherLedger } from '../ledger/checkLedger.ts';
import { findLedger } from '../install/findLedger.ts';
import { shownUrl } from '../ledger/address.ts';
import { withConnection } from '../ledger/connection.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf } from '../ledger/errors.ts';
import { hearing } from '../ledger/listener.ts';
import type { FacultyNeeds } from '../ledger/overview.ts';
import { dockerProblems, hasOwnModel } from './needs.ts';
import { exit, print, span } from './output.ts';
import { openReader } from './withLedger.ts';

type Severity = 'error' | 'warning' | 'fine';
type Check = { check: string; severity: Severity; work_item_id?: string | null; detail: string; remedy?: string | null };

/** The age from which a standby's data is reported: its primary was idle, or it does not follow. */
const LATE_SECONDS = 60;

export type DoctorOptions = Settings & { workspaceRoots?: string[] };

export async function doctor(options: DoctorOptions): Promise<number> {
  const place = await findLedger(options);
  try {
    await checkLedger(place.url, place.schema, { isWorker: true });
  } catch (error) {
    if (!(error instanceof OtherLedger)) throw error;
    // Reading does not require access to the queue.
    if (!(error instanceof NoQueue)) return say([{ check: 'ledger', severity: 'error', detail: error.message }], options);
  }
  const db = await openChecked(place.url, place.schema, { maximumPoolSize: 2 });
  try {
    const [found, needs] = [await db.doctor(), await db.facultyNeeds()];
    const checks: Check[] = [
      { check: 'ledger', severity: 'fine', detail: `${await db.version()} in schema ${place.schema}` },
      ...found.map(({ code, says, ...rest }) => ({ check: code, detail: says, ...rest })),
      await lookAtPooler(place.url),
      ...(options.readUrl ? [await lookAtReading(options, db)] : []),
      await lookAtDocker(await dockerProblems(needs)),
      ...(await lookAtWorkspaces(db)),
      ...(await lookAtDirectories(needs, new ServedDirectories(options.workspaceRoots ?? []))),
      process.env['ANTHROPIC_API_KEY']
        ? { check: 'model key', severity: 'fine', detail: 'ANTHROPIC_API_KEY is set' }
        : {
            check: 'model key',
            severity: needs.some(hasOwnModel) ? 'warning' : 'error',
            detail: 'ANTHROPIC_API_KEY is not set: work and run need it for faculties without a base_url or api_key_env',
          },
    ];
    return say(checks, options);
  } finally {
    await db.close();
  }
}

function say(checks: readonly Check[], options: Settings): number {
  const mark = { error: 'look', warning: 'note', fine: 'ok  ' };
  const line = (c: Check): string =>
    `${mark[c.severity]}  ${c.check.padEnd(12)} ${[c.work_item_id, c.detail].filter(Boolean).join(': ')}${c.remedy ? ` (${c.remedy})` : ''}`;
  print(checks, checks.map(line).join('\n'), options.json ?? false);
  return checks.some((c) => c.severity === 'error') ? exit.error : exit.ok;
}

/** Checks whether a pooler is in front of the database, and whether notifications arrive all the same. */
async function lookAtPooler(url: string): Promise<Check> {
  const check = 'pooler';
  const { isPooled, at } = await hearing(url);
  const here = isPooled ? 'a pooler stands between' : 'no pooler stands between';
  const remedy = 'set WORK_LEDGER_LISTEN_URL, --listen-url or listen_url to the server itself, or to a pooler in session mode';
  if (at === null)
    return {
      check,
      severity: 'warning',
      detail: `${here}: nothing can be listened to, jobs are looked for every second and all else every two`,
      remedy,
    };
  if (at === url && !isPooled) return { check, severity: 'fine', detail: here };
  const shown = shownUrl(at);
  try {
    const [database, listened] = await Promise.all([url, at].map(lookAtDatabase));
    if (database?.name !== listened?.name)
      return {
        check,
        severity: 'error',
        detail: `${shown}, where notifications are listened to, is not the database at ${shownUrl(url)}`,
        remedy,
      };
    if (listened?.isPooled)
      return {
        check,
        severity: 'warning',
        detail: `${shown}, where notifications are listened to, is a pooler, too: nothing is heard there unless it is in session mode`,
        remedy,
      };
    return { check, severity: 'fine', detail: `${here}; notifications are listened to at ${shown}` };
  } catch (error) {
    return { check, severity: 'error', detail: `cannot listen for notifications: ${messageOf(error)}`, remedy };
  }
}

/** Identifies the database, its server and that server's start. */
const lookAtDatabase = (url: string): Promise<{ name: string; isPooled: boolean }> =>
  withConnection({ connectionString: url }, async (client) => ({
    name:
      (await client.query<{ name: string }>(`select concat(current_database(), extract(epoch from pg_postmaster_start_time())) as name`))
        .rows[0]?.name ?? '',
    isPooled: client.isPooled,
  }));

/** Checks the standby from which the ledger is read. */
async function lookAtReading(options: Settings, db: Db): Promise<Check> {
  const check = 'reading';
  try {
    const read = await openReader(options, { db, url: '' }, 1);
    try {
      const { is_standby: isStandby, seconds } = await read.db.behind();
      if (!isStandby)
        return {
          check,
          severity: 'warning',
          detail: 'WORK_LEDGER_READ_URL leads to a server that is no standby',
          remedy: 'set it to a standby, or leave it out',
        };
      if (seconds === null || seconds >= LATE_SECONDS)
        return {
          check,
          severity: 'warning',
          detail: `the standby shows nothing newer than of ${seconds === null ? 'some time' : span(seconds)} ago`,
          remedy: 'check that it is connected to the primary and replays (pg_stat_wal_receiver, pg_get_wal_replay_pause_state())',
        };
      return { check, severity: 'fine', detail: 'a standby, which has what the primary sent' };
    } finally {
      await read.db.close();
    }
  } catch (error) {
    return { check, severity: 'error', detail: messageOf(error), remedy: 'correct WORK_LEDGER_READ_URL' };
  }
}

/**
 * Checks which faculty directories a worker here would serve, what agents' commands can reach if they run next to the worker, and what
 * cannot be kept from them.
 */
async function lookAtDirectories(faculties: readonly FacultyNeeds[], served: ServedDirectories): Promise<Check[]> {
  const checks: Check[] = [];
  const looked = new Set<string>();
  for (const { name, engage, saved_by: namedBy, is_administered: isAdministered } of faculties) {
    const path = engage.workspace_dir;
    if (engage.workspace === 'none' || (path === null && engage.workspace !== 'host')) continue;
    const refusal = path === null ? null : await served.refusal({ path, namedBy, isAdministered });
    if (refusal !== null) {
      checks.push({
        check: 'directories',
        severity: 'warning',
        detail: `work of faculty "${name}" would wait: ${refusal}`,
        remedy: 'add the directory, or a parent of it, to workspace_roots of the worker, or save the faculty as an administrator',
      });
    } else if (engage.workspace === 'host' && !looked.has(path ?? '')) {
      looked.add(path ?? '');
      checks.push(await lookAtDirectory(path ?? process.cwd()));
    }
  }
  if (!faculties.some(({ engage }) => engage.workspace === 'host')) return checks;
  const open = await uncontained();
  if (open !== null)
    checks.push({
      check: 'processes',
      severity: 'warning',
      detail: open,
      remedy: 'allow user namespaces, install bubblewrap, or use workspace = "container"',
    });
  return [
    ...checks,
    {
      check: 'secrets',
      severity: 'fine',
      detail:
        'not kept from commands of workspace = "host": files that their user may read (work-ledger.toml, .mcp.json, ~/.pgpass); what acts for that user elsewhere (a Docker socket, crontab, login scripts)',
    },
  ];
}

async function lookAtDirectory(directory: string): Promise<Check> {
  const check = 'secrets';
  const found = await stat(directory).catch(() => null);
  if (found === null) return { check, severity: 'warning', detail: `${directory} is not there` };
  const user = await commandUser({ path: await realpath(directory), uid: found.uid, gid: found.gid, isOwn: false }).catch(
    (error: unknown) => messageOf(error),
  );
  if (typeof user === 'string') return { check, severity: 'error', detail: user };
  const where = `commands in ${directory}`;
  if (user.kind === 'another')
    return {
      check,
      severity: 'fine',
      detail: `${where} run as ${user.name}, who cannot read the worker${user.mayWrite ? '' : ', nor write there'}`,
    };
  if (user.kind === 'same') {
    return {
      check,
      severity: 'warning',
      detail: `${where} can read the worker's memory and the environment of the shell that started it (${user.why})`,
      remedy: 'run the worker as root, so that they run as another user, or use workspace = "container"',
    };
  }
  if (user.why === null)
    return {
      check,
      severity: 'fine',
      detail: `${where} run in a user namespace: they cannot read the worker, nor the shell that started it`,
    };
  return {
    check,
    severity: 'warning',
    detail: `${where} run as root: they cannot read the worker, but write whatever root may (${user.why})`,
    remedy: 'make another user the owner of the directory, or set WORK_LEDGER_COMMANDS_AS to one',
  };
}

/**
 * Checks Docker, which is optional if no faculty needs it: without it, code and container workspaces are unavailable. Older versions were
 * never tested.
 */
async function lookAtDocker(problems: readonly string[]): Promise<Check> {
  if (problems.length > 0) return { check: 'Docker', severity: 'error', detail: problems.join('; ') };
  try {
    const { Version, Components } = await (await answeringDocker()).version();
    const runc = (Components as { Name: string; Version: string }[] | undefined)?.find(({ Name }) => Name === 'runc')?.Version;
    const isRecent = isAtLeast(Version, [20, 10]) && (runc === undefined || isAtLeast(runc, [1, 1, 5]));
    return {
      check: 'Docker',
      severity: isRecent ? 'fine' : 'error',
      detail: `${Version}${runc ? `, runc ${runc}` : ''}${isRecent ? '' : ': needs 20.10 and runc 1.1.5, with the fixes of your distribution'}`,
    };
  } catch (error) {
    return {
      check: 'Docker',
      severity: 'fine',
      detail: `none (${(error as NodeJS.ErrnoException).code ?? String(error)}): no execute_code, and only workspace = "host"`,
    };
  }
}

/** Checks for workspaces at this daemon that no worker of this ledger will ever remove. Ignores those labelled as another ledger's. */
async function lookAtWorkspaces(db: Db): Promise<Check[]> {
  const [all, ledger] = await Promise.all([
    answeringDocker()
      .then(listOwned)
      .catch(() => []),
    db.ledgerId(),
  ]);
  const unknownOf = (of: string | null): Promise<string[]> =>
    db.unknownItems(all.filter((one) => one.ledger === of).map(({ workItemId }) => workItemId));
  const [own, unlabelled] = [await unknownOf(ledger), await unknownOf(null)];
  const said = (volumes: readonly string[], of: string, remedy: string): Check[] =>
    volumes.length === 0
      ? []
      : [
          {
            check: 'workspaces',
            severity: 'warning',
            remedy,
            detail: `${volumes.length === 1 ? '1 volume' : `${volumes.length} volumes`} ${of}: ${volumes.toSorted().slice(0, 5).map(volumeOf).join(', ')}${volumes.length > 5 ? ', …' : ''}`,
          },
        ];
  return [
    ...said(own, 'of items that this ledger had and does not know any more', 'docker volume rm NAME'),
    // A ledger that no longer exists looks the same as one that was moved, so a person decides.
    ...said(
      unlabelled,
      'without the label of a ledger, which earlier versions did not set, of items that this ledger does not know: of another one, or of one that is gone',
      'look whether another ledger at this daemon has the item; docker volume rm NAME, where none has it any more',
    ),
  ];
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '0').split('.').map(Number);
  const [at, want] = wanted.map((number, i) => [parts[i] ?? 0, number] as const).find(([a, b]) => a !== b) ?? [0, 0];
  return at >= want;
}
