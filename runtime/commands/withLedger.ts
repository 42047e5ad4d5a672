// Opens the ledger for a command.

import type { Settings } from '../config.ts';
import { checkLedger, checkLedgerOn, NoLedger } from '../ledger/checkLedger.ts';
import { findDatabase, schemaOn } from '../install/findLedger.ts';
import type { Place } from '../install/findLedger.ts';
import { configOfCalls, connect } from '../ledger/connection.ts';
import type { Db } from '../ledger/db.ts';
import type { Looking } from '../ledger/looking.ts';
import type { Opened } from '../ledger/opened.ts';
import { proofOf } from '../ledger/people.ts';
import type { PinnedClient } from '../ledger/pinned.ts';
import { checkStandby } from '../ledger/standby.ts';
import { note, span } from './output.ts';

/** Throws unless this program can work with the ledger there. The first command that needs a ledger in an embedded database creates it. */
export async function checkPlace({ url, schema, isEmbedded }: Place, check = (): Promise<void> => checkLedger(url, schema)): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof NoLedger) || !isEmbedded || schema !== 'work_ledger') throw error;
    await (await import('../install/installLedger.ts')).installLedger(url, schema);
    note('set up an embedded PostgreSQL with a ledger (work-ledger up prints its address)');
  }
}

/** For commands that run work: an embedded database without a ledger gets one, any other database only if that was requested. */
export async function readyPlace({ url, schema, isEmbedded }: Place, isAsked = false): Promise<void> {
  await (await import('../install/installLedger.ts')).readyLedger(url, schema, { mayInstall: isEmbedded || isAsked });
}

type Open<Ledger> = (url: string, schema: string, maximumPoolSize: number, open: PinnedClient) => Promise<Ledger>;
/** Loads the code that opens the ledger. */
type Loading<Ledger> = () => Promise<Open<Ledger>>;
const openDb: Loading<Db> = async () => {
  const { openChecked } = await import('../ledger/db.ts');
  return (url, schema, maximumPoolSize, open) => openChecked(url, schema, { maximumPoolSize, open });
};
const openLooking: Loading<Looking> = async () => {
  const { openLooking: opening } = await import('../ledger/looking.ts');
  return (url, schema, maximumPoolSize, open) => opening(url, schema, maximumPoolSize, { open });
};

/** The caller closes it. */
export const openLedger = (settings: Settings, maximumPoolSize = 3): Promise<{ db: Db; url: string }> =>
  openBy(openDb, settings, maximumPoolSize);

/** The first queries use the connection on which the ledger was checked. */
async function openBy<Ledger>(load: Loading<Ledger>, settings: Settings, maximumPoolSize: number): Promise<{ db: Ledger; url: string }> {
  const { url, isEmbedded } = await findDatabase(settings);
  const connecting = connect(configOfCalls(url));
  const loading = load(); // while waiting for the server
  loading.catch(() => {}); // reported below
  const connection = await connecting;
  try {
    const schema = await schemaOn(connection, settings);
    await checkPlace({ url, schema, isEmbedded }, () => checkLedgerOn(connection, schema));
    return { db: await (await loading)(url, schema, maximumPoolSize, connection), url };
  } catch (error) {
    await connection.end().catch(() => {});
    throw error;
  }
}

/** The settings for a command that only reads. */
export const forReading = <Given extends Settings>(settings: Given): Given =>
  settings.readUrl ? { ...settings, databaseUrl: settings.readUrl } : settings;

/** Where to read a ledger that was opened for writing: the same one, unless the settings name a standby, which the caller closes. */
export async function openReader(
  settings: Settings,
  written: { db: Db; url: string },
  maximumPoolSize?: number,
): Promise<{ db: Db; url: string }> {
  if (!settings.readUrl) return written;
  const read = await openLedger(forReading(settings), maximumPoolSize);
  try {
    await checkStandby(read.db, written.db);
    return read;
  } catch (error) {
    await read.db.close();
    throw error;
  }
}

/** Opens the ledger for one command that only reads. Reports how old the data of a standby is. */
export const withReader = <T>(settings: Settings, use: (db: Db, url: string) => Promise<T>): Promise<T> => readBy(openDb, settings, use);

/** The same for a command that only shows work: loads just the queries for that, so that it answers sooner. */
export const withLooking = <T>(settings: Settings, use: (db: Looking) => Promise<T>): Promise<T> => readBy(openLooking, settings, use);

const readBy = <Groups extends Pick<Db, 'behind'>, T>(
  load: Loading<Opened<Groups>>,
  settings: Settings,
  use: (db: Opened<Groups>, url: string) => Promise<T>,
): Promise<T> =>
  useBy(load, forReading(settings), async (db, url) => {
    const { is_standby: isStandby, seconds } = await db.behind();
    if (isStandby && (seconds === null || seconds >= 1))
      note(`read on a standby: this is the ledger as it was ${seconds === null ? 'some time' : `up to ${span(seconds)}`} ago`);
    return use(db, url);
  });

/** Opens the ledger for one command, which acts in the name of the person whose token is set. */
export const withLedger = <T>(settings: Settings, use: (db: Db, url: string) => Promise<T>): Promise<T> => useBy(openDb, settings, use);

async function useBy<Groups, T>(
  load: Loading<Opened<Groups>>,
  settings: Settings,
  use: (db: Opened<Groups>, url: string) => Promise<T>,
): Promise<T> {
  const { db, url } = await openBy(load, settings, 3);
  const token = process.env['WORK_LEDGER_PERSON_TOKEN'];
  try {
    return await use(token ? db.as({ token: proofOf(token) }) : db, url);
  } finally {
    await db.close();
  }
}
