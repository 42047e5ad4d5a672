// Released versions, as they were installed then: test/released/ keeps their scripts on purpose, since no source tells any more what they
// were.

import { readFileSync } from 'node:fs';

import { frozen, version } from '../sql/extensionSource.ts';

/** The versions that ledgers are upgraded from. */
export const earlierVersions = (): string[] =>
  frozen()
    .versions.map((one) => one.version)
    .filter((one) => one !== version());

/** What `create extension work_ledger` ran. */
export const releasedExtension = (of: string): string => readFileSync(new URL(`released/work_ledger--${of}.sql`, import.meta.url), 'utf8');

/** What `work-ledger install` ran, in one transaction. */
export function releasedScript(of: string, schema: string): string {
  const script = releasedExtension(of)
    .replace(/^\\echo .*\n/m, '')
    .replace(/^-- extension\.sql\n[^]*/m, '');
  return `begin; create schema if not exists ${schema}; set local search_path to ${schema}, pg_temp; set local check_function_bodies to off;\n${script.replaceAll('@extschema@', schema)}\ncommit;`;
}
