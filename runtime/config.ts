// Settings from flags and the environment.

import { hostname } from 'node:os';

import { z } from 'zod';

import type { HostHeaders } from './tools/tool.ts';

export type Settings = {
  databaseUrl?: string;
  /** Where notifications are listened to, if not at `databaseUrl`. */
  listenUrl?: string;
  /** Where reads go, if not to `databaseUrl`: a standby of that database. */
  readUrl?: string;
  schema?: string;
  json?: boolean;
};

/** The key and address of the model's API. */
export function modelAccess(): { apiKey: string; baseURL?: string } | null {
  const apiKey = process.env['ANTHROPIC_API_KEY'];
  const baseURL = process.env['ANTHROPIC_BASE_URL'];
  if (!apiKey) return null;
  return { apiKey, ...(baseURL && { baseURL }) };
}

/** This machine's name, by which faculties can request it: the given one, otherwise WORK_LEDGER_HOST, otherwise the system's host name. */
export const hostName = (given?: string): string => given || process.env['WORK_LEDGER_HOST'] || hostname();

const hostHeaders = z.record(
  z.string().regex(/^[a-z0-9.-]+(:\d+)?$/),
  z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t -~]+$/)),
);

/**
 * The headers that web_fetch sends to each host, from WORK_LEDGER_WEB_FETCH_HEADERS: `{"api.example.org": {"authorization": "Bearer …"}}`.
 * Throws if the value has another form.
 */
export function webFetchHeaders(): HostHeaders | null {
  const given = process.env['WORK_LEDGER_WEB_FETCH_HEADERS'];
  if (!given) return null;
  try {
    return hostHeaders.parse(JSON.parse(given));
  } catch {
    // The error does not quote the value: it contains secrets.
    throw new Error(
      'WORK_LEDGER_WEB_FETCH_HEADERS must be JSON such as {"api.example.org": {"authorization": "Bearer TOKEN"}}, with hosts in lower case, name or name:port',
    );
  }
}
