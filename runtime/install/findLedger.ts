// Locates the ledger: flags override the environment, which overrides the embedded default.

import type pg from 'pg';

import type { Settings } from '../config.ts';
import { checkAddress } from '../ledger/checkAddress.ts';
import { withConnection } from '../ledger/connection.ts';
import { checkSchema } from '../ledger/given.ts';
import { listenAt } from '../ledger/listener.ts';

export type Place = { url: string; schema: string; isEmbedded: boolean };

/** The database and the ledger's schema in it; starts the embedded database if no other is given. */
export async function findLedger(settings: Settings): Promise<Place> {
  const { url, isEmbedded } = await findDatabase(settings);
  return {
    url,
    schema: givenSchema(settings) ?? (await withConnection({ connectionString: url }, (client) => schemaOn(client, settings))),
    isEmbedded,
  };
}

/** Only the database. */
export async function findDatabase(settings: Settings): Promise<Omit<Place, 'schema'>> {
  const given = settings.databaseUrl ?? process.env['DATABASE_URL'];
  const listened = settings.listenUrl || process.env['WORK_LEDGER_LISTEN_URL'];
  for (const address of [given, listened]) if (address !== undefined && address !== '') checkAddress(address);
  const place = await embeddedOr(given);
  if (given && listened) listenAt(place.url, listened);
  return place;
}

/** The embedded database, started, if no address or its own is given. An address with another role is left as it is, like any other. */
async function embeddedOr(given: string | undefined): Promise<Omit<Place, 'schema'>> {
  if (given && !(await isOurs(given))) return { url: given, isEmbedded: false };
  const { url } = await (await import('./embedded.ts')).ensureEmbedded();
  return given && !['', roleOf(url)].includes(roleOf(given)) ? { url: given, isEmbedded: false } : { url, isEmbedded: true };
}

/** The role in an address that is a URL; '': it has none. */
function roleOf(address: string): string {
  const { username, searchParams } = new URL(address);
  return searchParams.get('user') ?? decodeURIComponent(username);
}

/** Whether it is the address that `up` prints; only a socket's address can be. */
const isOurs = async (address: string): Promise<boolean> =>
  /%2f|host=/i.test(address) && (await import('./embedded.ts')).isEmbeddedUrl(address);

/** The ledger's schema: the given one, else that of the extension work_ledger, if it is installed. */
export async function schemaOn(client: pg.Client, settings: Settings): Promise<string> {
  const given = givenSchema(settings);
  if (given !== undefined) return given;
  const found = await client.query<{ schema: string }>(
    `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger'`,
  );
  return found.rows[0]?.schema ?? 'work_ledger';
}

function givenSchema({ schema }: Settings): string | undefined {
  if (schema) checkSchema(schema);
  return schema || process.env['WORK_LEDGER_SCHEMA'] || undefined;
}
