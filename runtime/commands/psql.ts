// `work-ledger sql`: psql with the ledger's address and search path.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Settings } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import { withoutPassword } from '../ledger/address.ts';
import { UsageError } from '../ledger/errors.ts';
import { checkPlace } from './withLedger.ts';

/** Runs the query, or opens a session; returns psql's exit code. */
export async function psql(query: string | undefined, options: Settings): Promise<number> {
  const place = await findLedger(options);
  await checkPlace(place);
  const { address, password } = withoutPassword(place.url); // every user of the machine can read the arguments of a process
  const searchPath = `"${place.schema.replaceAll('"', '""')}",public`.replaceAll(/([\\ ])/g, '\\$1');
  const child = spawn('psql', [address, ...(query === undefined ? [] : ['-X', '-v', 'ON_ERROR_STOP=1', ...(options.json ? ['-At'] : []), '-c', query])], {
    stdio: 'inherit',
    env: { ...process.env, ...(password !== null && { PGPASSWORD: password }), PGOPTIONS: `${process.env['PGOPTIONS'] ?? ''} -c search_path=${searchPath}`.trim() },
  });
  const ignore = (): void => {}; // Ctrl-C breaks off a query, it does not end the session
  process.on('SIGINT', ignore);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(`psql is not on PATH (on Debian: apt-get install postgresql-client). With any other client: ${address}, search_path ${place.schema}`);
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
