// What programs call of a ledger: the functions and views that runtime/ names, with their arguments and columns. The list of each version
// is kept in sql/upgrades/called.json, so that it can be checked that programs of that version go on with the functions of this one.

import { globSync, readFileSync } from 'node:fs';

type Argument = { name: string; type: string; has_default: boolean };
type Column = { name: string; type: string };
/** By name. `columns`: of what it returns, where that is rows; else `returns` says all. */
export type Called = {
  functions: Record<string, { arguments: Argument[]; returns: string; columns: Column[] }>;
  views: Record<string, Column[]>;
};
type Asking = { query(sql: string): Promise<{ rows: unknown[] }> };
type Fn = { name: string; arguments: Argument[]; returns: string; columns: Column[] };

const columnsOf = (relation: string): string => `
  (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum)
     from pg_attribute a where a.attrelid = ${relation} and a.attnum > 0 and not a.attisdropped)`;

const functionsSql = `
  select p.proname as name, pg_get_function_result(p.oid) as returns,
         coalesce((select json_agg(json_build_object('name', a.name, 'type', format_type(a.type, null), 'has_default', a.n > p.pronargs - p.pronargdefaults) order by a.n)
                     from unnest(p.proargtypes::oid[], p.proargnames[1:p.pronargs]) with ordinality as a(type, name, n)), '[]') as arguments,
         coalesce(${columnsOf('t.typrelid')},
                  (select json_agg(json_build_object('name', a.name, 'type', format_type(a.type, null)) order by a.n)
                     from unnest(p.proallargtypes, p.proargnames, p.proargmodes) with ordinality as a(type, name, mode, n) where a.mode in ('t', 'o')), '[]') as columns
    from pg_proc p join pg_type t on t.oid = p.prorettype
   where p.pronamespace = 'ledger'::regnamespace and p.proname !~ '^_' and p.prorettype <> 'trigger'::regtype
   order by p.proname collate "C", p.oid`;

const viewsSql = `
  select c.relname as name, ${columnsOf('c.oid')} as columns
    from pg_class c where c.relnamespace = 'ledger'::regnamespace and c.relkind = 'v' and c.relname !~ '^_' order by c.relname collate "C"`;

/** Everything public that a ledger has. */
export async function everything(client: Asking): Promise<Called> {
  const functions = (await client.query(functionsSql)).rows as Fn[];
  const views = (await client.query(viewsSql)).rows as { name: string; columns: Column[] }[];
  return {
    functions: Object.fromEntries(functions.map(({ name, ...fn }) => [name, fn])),
    views: Object.fromEntries(views.map(({ name, columns }) => [name, columns])),
  };
}

/** What of it the programs of this version call. */
export function calledOf(all: Called): Called {
  const folder = new URL('../runtime/', import.meta.url).pathname;
  // What makes a ledger or carries it away is of the same build.
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !/^(?:install|move)\//.test(file));
  const source = files.map((file) => readFileSync(folder + file, 'utf8')).join('\n');
  const words = new Set([...source.matchAll(/['.](\w+)\b/g)].map(([, word = '']) => word));
  const named = <T>(of: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(of).filter(([name]) => words.has(name)));
  return { functions: named(all.functions), views: named(all.views) };
}

/** What programs that call this would miss in a ledger that has all that, in sentences. */
export function missingFor(called: Called, all: Called): string[] {
  const missing: string[] = [];
  const columns = (of: string, wanted: readonly Column[], there: readonly Column[]): void => {
    for (const { name, type } of wanted) {
      const now = there.find((column) => column.name === name);
      if (now === undefined) missing.push(`${of} has no column ${name}`);
      else if (now.type !== type) missing.push(`column ${name} of ${of} is ${now.type}, and was ${type}`);
    }
  };
  for (const [name, fn] of Object.entries(called.functions)) {
    const now = all.functions[name];
    if (now === undefined) {
      missing.push(`there is no function ${name}()`);
      continue;
    }
    for (const [n, { name: argument, type, has_default }] of fn.arguments.entries()) {
      const one = now.arguments[n];
      if (one?.name !== argument || one.type !== type) missing.push(`argument ${n + 1} of ${name}() was ${argument} ${type}`);
      else if (has_default && !one.has_default) missing.push(`${argument} of ${name}() could be left out`);
    }
    for (const { name: argument, has_default } of now.arguments.slice(fn.arguments.length)) {
      if (!has_default) missing.push(`${argument} of ${name}() is new and has no default`);
    }
    if (fn.columns.length > 0) columns(`${name}()`, fn.columns, now.columns);
    else if (now.returns !== fn.returns) missing.push(`${name}() returns ${now.returns}, and returned ${fn.returns}`);
  }
  for (const [name, wanted] of Object.entries(called.views)) {
    const now = all.views[name];
    if (now === undefined) missing.push(`there is no view ${name}`);
    else columns(name, wanted, now);
  }
  return missing;
}

/** A line for each function and view, so that a change shows in a review what it changes. */
export function calledText(lists: Readonly<Record<string, Called>>): string {
  const lines = <T>(of: Record<string, T>): string =>
    Object.entries(of)
      .map(([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n');
  return `{\n${Object.entries(lists)
    .map(
      ([version, { functions, views }]) =>
        `  ${JSON.stringify(version)}: {\n    "functions": {\n${lines(functions)}\n    },\n    "views": {\n${lines(views)}\n    }\n  }`,
    )
    .join(',\n')}\n}\n`;
}
