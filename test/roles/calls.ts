// The calls of the matrix: every public function as the catalog has it, with arguments.ts; more than once where it may name things of
// others, and ability_invoke() for each ability. A function or an argument that nobody has thought about stops it.

import type pg from 'pg';

import { abilities, inputOf, naming, quoted, unsaid, values } from './arguments.ts';
import type { Value, Work } from './arguments.ts';

export type Argument = { name: string; type: string; has_default: boolean };
export type Function = {
  name: string;
  is_public: boolean;
  is_definer: boolean;
  is_void: boolean;
  is_alone: boolean;
  arguments: Argument[];
};
/** `of`: one value; with `work` true it depends on the situation. */
export type Call = { title: string; function: Function; isOfWork: boolean; sql(work: Work): string };

/** The functions of a ledger, private ones too, if they are granted to anybody but its owner. */
export const functionsSql = `
  select p.proname as name, p.proname !~ '^_' as is_public, p.prosecdef as is_definer, p.prorettype = 'void'::regtype as is_void, count(*) over (partition by p.proname) = 1 as is_alone,
         coalesce((select json_agg(json_build_object('name', a.name, 'type', format_type(a.type, null), 'has_default', a.n > p.pronargs - p.pronargdefaults) order by a.n)
                     from unnest(p.proargtypes::oid[], p.proargnames[1:p.pronargs]) with ordinality as a(type, name, n)), '[]') as arguments
    from pg_proc p
   where p.pronamespace = 'ledger'::regnamespace and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
     and (p.proname !~ '^_' or p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee <> p.proowner))
   order by p.proname, p.oid`;

type Given = { text: (work: Work) => string; isOfWork: boolean };
const given = (value: Value): Given =>
  typeof value === 'string' ? { text: () => value, isOfWork: false } : { text: value, isOfWork: true };

/** What a lease is where none is held: left out, or one that somebody makes up. */
const lease =
  (hasDefault: boolean) =>
  (work: Work): string | null =>
    work.lease !== null ? quoted(work.lease) : hasDefault ? null : `'00000000-0000-4000-8000-00000000000f'`;

function call(one: Function, title: string, more: Record<string, Value> = {}): Call {
  const parts: ((work: Work) => string | null)[] = [];
  let isOfWork = false;
  for (const { name, has_default } of one.arguments) {
    const key = `${one.name}.${name}`;
    if (name === 'p_lease') {
      parts.push((work) => {
        const text = lease(has_default)(work);
        return text === null ? null : `p_lease => ${text}`;
      });
      continue;
    }
    const usual = values[name];
    // What may be left out is, unless it says whose work it is.
    const value = more[name] ?? (key in values ? values[key] : has_default && typeof usual !== 'function' ? undefined : usual);
    if (value === undefined) {
      if (!has_default)
        throw new Error(`test/roles/arguments.ts: say in \`values\` what ${one.name}() is given as ${name}, as "${name}" or "${key}"`);
      if (!(key in values) && !unsaid.has(name) && !(name in naming) && !(name in values)) {
        throw new Error(
          `test/roles/arguments.ts: ${name} of ${one.name}() may be left out. Put it into \`unsaid\`, or into \`naming\` if it names something that others may have`,
        );
      }
      continue;
    }
    const { text, isOfWork: depends } = given(value);
    isOfWork ||= depends;
    parts.push((work) => `${name} => ${text(work)}`);
  }
  return {
    title,
    function: one,
    isOfWork,
    sql: (work) =>
      `ledger.${one.name}(${parts
        .map((part) => part(work))
        .filter((part) => part !== null)
        .join(', ')})`,
  };
}

/** `registered`: the names of the abilities in the ledger; `kept`: those of them that workers run, which SQL refuses. */
export function callsOf(functions: readonly Function[], registered: readonly string[]): Call[] {
  const missing = registered.filter((ability) => !(ability in abilities));
  if (missing.length > 0) throw new Error(`test/roles/arguments.ts: say in \`abilities\` what is the input of ${missing.join(', ')}`);
  return functions
    .filter(({ is_public }) => is_public)
    .flatMap((one) => {
      if (one.name === 'ability_invoke') {
        return registered.map((ability) =>
          call(one, `ability_invoke ${ability}`, {
            p_name: quoted(ability),
            p_input: (work) => inputOf(ability, work),
            p_work_item_id: values['p_work_item_id']!,
          }),
        );
      }
      const title = one.is_alone ? one.name : `${one.name}(${one.arguments.map(({ type }) => type).join(', ')})`;
      const named = one.arguments.filter(({ name, has_default }) => has_default && name in naming && !(`${one.name}.${name}` in values));
      return [call(one, title), ...named.map(({ name }) => call(one, `${title} with ${name}`, { [name]: naming[name]! }))];
    });
}

/** A statement that runs as one who calls, in a transaction that is rolled back; which rows it has written it says before that. */
export const statement = (sql: string, held: string | null): string => `
  begin; select t::pg_catalog.text as row from ${sql} t; set constraints all immediate;
  select distinct w as written from matrix.written(${held === null ? 'null' : quoted(held)}) w order by w; rollback`;

async function mayCall(client: pg.Client, name = ''): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `
    select pg_catalog.bool_or(pg_catalog.has_function_privilege(p.oid, 'execute')) as may
      from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) p.pronamespace
     where n.nspname operator(pg_catalog.=) 'ledger' and p.proname operator(pg_catalog.=) $1`,
    [name],
  );
  return rows[0]?.may === true;
}

export type Answer = { said: string; written: string[]; rows: string[]; error: pg.DatabaseError | null };

export async function ask(client: pg.Client, sql: string, held: string | null): Promise<Answer> {
  const name = /^ledger\.(\w+)/.exec(sql)?.[1];
  try {
    const results = (await client.query(statement(sql, held))) as unknown as pg.QueryResult<{ row: string; written: string }>[];
    const rows = (results[1]?.rows ?? []).map(({ row }) => row);
    return { said: 'ok', rows, written: (results[3]?.rows ?? []).map(({ written }) => written), error: null };
  } catch (error) {
    await client.query('rollback');
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { code, message } = error as pg.DatabaseError;
    // What is denied first may be a function that the check of an argument's type calls, if this session has forgotten that it called it
    // before.
    const hasNoRight =
      code === '42501' &&
      (new RegExp(`^permission denied for (schema ledger|function ${name})$`).test(message) ||
        (message.startsWith('permission denied for function ') && !(await mayCall(client, name))));
    return {
      said: hasNoRight ? 'no right' : code === '42501' ? 'refused' : (code ?? 'none'),
      rows: [],
      written: [],
      error: error as pg.DatabaseError,
    };
  }
}
