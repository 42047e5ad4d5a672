// `work-ledger sql`: psql with the ledger's address and search path.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Settings } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import { searchPathOf } from '../install/schemaName.ts';
import { withoutPassword } from '../ledger/address.ts';
import { withConnection } from '../ledger/connection.ts';
import { UsageError } from '../ledger/errors.ts';
import { hearing } from '../ledger/listener.ts';
import { note } from './output.ts';
import { checkPlace } from './withLedger.ts';

/** Runs the query, or opens a session; returns psql's exit code. */
export async function psql(query: string | undefined, options: Settings): Promise<number> {
  const place = await findLedger(options);
  await checkPlace(place);
  const url = (await hearing(place.url)).at ?? place.url;
  // through a pooler, session settings do not last until the next statement
  const isShared = await withConnection({ connectionString: url }, async ({ isPooled }) => isPooled);
  const { address, password } = withoutPassword(url); // every user of the machine can read the arguments of a process
  const searchPath = searchPathOf(place.schema);
  if (isShared && query === undefined)
    note(
      `a pooler stands between: no search path can be set, so names need their schema (${place.schema}.…); set WORK_LEDGER_LISTEN_URL to the address of the server itself`,
    );
  const asked = isShared ? ['-q', '-c', `set local search_path to ${searchPath};\n${query}`] : ['-c', query ?? ''];
  const child = spawn(
    'psql',
    // Users do not need to know where in the ledger's functions an error arose.
    [
      address,
      '-v',
      'SHOW_CONTEXT=never',
      ...(query === undefined ? [] : ['-X', '-v', 'ON_ERROR_STOP=1', ...(options.json ? ['-At'] : []), ...asked]),
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        ...(password !== null && { PGPASSWORD: password }),
        ...(!isShared && {
          PGOPTIONS: `${process.env['PGOPTIONS'] ?? ''} -c search_path=${searchPath.replaceAll(/([\\ ])/g, '\\$1')}`.trim(),
        }),
      },
    },
  );
  const ignore = (): void => {}; // Ctrl-C cancels a query but does not end the session
  process.on('SIGINT', ignore);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(
      `psql is not on PATH (on Debian: apt-get install postgresql-client). With any other client: ${address}, search_path ${place.schema}`,
    );
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
