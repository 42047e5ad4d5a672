// graphile-worker's schema. Its migrations are its own: they are sent to a fake connection that only records them, and then run in our
// transaction, in a schema that may already exist, or printed.

import { EventEmitter } from 'node:events';

import pg from 'pg';

type Query = string | { text: string; values?: unknown[] };

/** The statements that bring graphile-worker's tables up to date from a migration; 0: its schema has no tables yet. */
export async function queueScript(since: number): Promise<string> {
  const { Logger, runMigrations } = await import('graphile-worker'); // every command loads this file, but few install
  const statements: string[] = [];
  const query = async (asked: Query, given?: unknown[]): Promise<{ rows: object[] }> => {
    const { text, values = [] } = typeof asked === 'string' ? { text: asked, values: given } : asked;
    if (text.startsWith('select current_setting')) {
      if (since === 0 && text.includes('.migrations')) throw Object.assign(new Error('there are no tables'), { code: '42P01' });
      return { rows: [{ server_version_num: '150000', id: since, biggest_breaking_id: null }] };
    }
    if (!['begin', 'commit'].includes(text))
      statements.push(
        silent(
          withValues(text, values)
            .replace(/^create schema .*;$/m, '')
            .trim()
            .replace(/;?$/, ';'),
        ),
      );
    return { rows: [] };
  };
  const pool = Object.assign(new EventEmitter(), { connect: async () => Object.assign(new EventEmitter(), { query, release: () => {} }) });
  for (const event of ['error', 'connect']) pool.on(event, () => {}); // else it warns of missing listeners
  await runMigrations({ pgPool: pool as unknown as pg.Pool, logger: new Logger(() => () => {}) });
  return statements.join('\n\n');
}

/** One statement; comments, quoted texts and bodies in between are skipped as a whole. */
const statementForm = /(?:--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[^]*?\1|[^;])+;/g;

/** The same script without results, which psql would print: each select becomes a perform. */
export const silent = (script: string): string =>
  script.replaceAll(statementForm, (statement) =>
    statement.replace(
      /^((?:\s|--.*)*)select\b([^]*);$/i,
      (_, before: string, asked: string) => `${before}do $silent$ begin perform${asked}; end $silent$;`,
    ),
  );

const withValues = (text: string, values: readonly unknown[]): string =>
  values.length === 0 ? text : text.replaceAll(/\$(\d)/g, (_, n: string) => literal(values[Number(n) - 1]));

function literal(value: unknown): string {
  if (Array.isArray(value)) return `'{${value.join(',')}}'`;
  return typeof value === 'string' ? pg.escapeLiteral(value) : String(value);
}

/** Lets a role use the existing jobs, as work_roles_create() does; for their owner to run, who need not trust the ledger's functions. */
export function queueGrants(role: string): string {
  const [quoted, named] = [pg.escapeIdentifier(role), pg.escapeLiteral(role)];
  return `grant usage on schema graphile_worker to ${quoted};
grant all on all tables in schema graphile_worker to ${quoted};
grant all on all sequences in schema graphile_worker to ${quoted};
grant execute on all functions in schema graphile_worker to ${quoted};
do $do$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid from pg_class c
     where c.relnamespace = 'graphile_worker'::regnamespace and c.relrowsecurity and not pg_has_role(${named}, c.relowner, 'usage')
       and not exists (select from pg_policy y where y.polrelid = c.oid and y.polname = ${named})
  loop
    execute format('create policy %I on %s to %I using (true)', ${named}, v_table, ${named});
  end loop;
end
$do$;`;
}
