// Where the ledger is: flags beat environment beats the embedded default.

import { z } from 'zod';

import { withConnection } from './ledger/connection.ts';
import { ensureEmbedded } from './install/embedded.ts';
import type { HostHeaders } from './tools/tool.ts';

export type Settings = {
  databaseUrl?: string;
  schema?: string;
  json?: boolean;
};

export type Place = { url: string; schema: string; isEmbedded: boolean };

/** The database and the schema of the ledger in it; starts the embedded database where no other is named. */
export async function findLedger(settings: Settings): Promise<Place> {
  const given = settings.databaseUrl ?? process.env['DATABASE_URL'];
  const url = given && given !== '' ? given : (await ensureEmbedded()).url;
  const schema = settings.schema ?? process.env['WORK_LEDGER_SCHEMA'] ?? (await extensionSchema(url)) ?? 'work_ledger';
  return { url, schema, isEmbedded: !given };
}

/** An address as it may be printed: without its password. */
export function shownUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1:***@');
}

/** Where `create extension work_ledger` put it, if somebody did. */
async function extensionSchema(url: string): Promise<string | null> {
  const found = await withConnection({ connectionString: url }, (client) => client.query<{ schema: string }>(
    `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger'`,
  ));
  return found.rows[0]?.schema ?? null;
}

/** The key and address of the model's API. */
export function modelAccess(): { apiKey: string; baseURL?: string } | null {
  const apiKey = process.env['ANTHROPIC_API_KEY'];
  const baseURL = process.env['ANTHROPIC_BASE_URL'];
  if (!apiKey) return null;
  return { apiKey, ...(baseURL && { baseURL }) };
}

const hostHeaders = z.record(z.string().regex(/^[a-z0-9.-]+(:\d+)?$/), z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t -~]+$/)));

/** What web_fetch sends to which host: WORK_LEDGER_WEB_FETCH_HEADERS, `{"api.example.org": {"authorization": "Bearer …"}}`. Throws where it is something else. */
export function webFetchHeaders(): HostHeaders | null {
  const given = process.env['WORK_LEDGER_WEB_FETCH_HEADERS'];
  if (!given) return null;
  try {
    return hostHeaders.parse(JSON.parse(given));
  } catch {
    // What is wrong is not said by quoting it: these are secrets.
    throw new Error('WORK_LEDGER_WEB_FETCH_HEADERS must be JSON such as {"api.example.org": {"authorization": "Bearer TOKEN"}}, with hosts in lower case, name or name:port');
  }
}
