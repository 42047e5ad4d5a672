// Which pgTAP files ask about plans, statistics or sessions, which what other files did on a connection would change:
//   node test/ofServer.ts FILE...   prints those among them, a line each

import { readFileSync } from 'node:fs';

const asks = /\b(explain|pg_stat\w*|pg_backend_pid|plan_cache_mode|analyze\s+\w+;)/;

/** Whether a file must have a connection of its own, by its text. */
export const asksOfServer = (sql: string): boolean => asks.test(sql);

if (import.meta.main) for (const file of process.argv.slice(2)) if (asksOfServer(readFileSync(file, 'utf8'))) console.log(file);
