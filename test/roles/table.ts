// The matrix as text: a block for each group of functions with the same answers, in it a line for each group of roles and each answer.

/** Answers by function, role and situation of work ('' where a call names none). */
export type Matrix = Map<string, Map<string, Map<string, string>>>;

type Grouped<T> = [keys: string[], value: T][];

/** Keys with equal values together, in the order in which they come first. */
function group<T>(entries: Iterable<[string, T]>, keyOf: (value: T) => string): Grouped<T> {
  const groups = Map.groupBy(entries, ([, value]) => keyOf(value));
  return [...groups.values()].map((members) => [members.map(([key]) => key), members[0]![1]]);
}

/** Situations in words: "any work", or "open · forked — own waiting · own driven": without a side both. */
function situations(chosen: readonly string[], all: readonly string[]): string {
  if (chosen.length === all.length) return chosen.length === 1 ? '' : 'any work';
  const [own, others] = [/^own /, /^another's /].map((side) => chosen.filter((one) => side.test(one)).map((one) => one.replace(side, '')));
  const segment = (side: string, kinds: readonly string[] | undefined): string[] => {
    const every = all.filter((one) => one.startsWith('own ')).map((one) => one.slice(4));
    const left = every.filter((kind) => !kinds?.includes(kind));
    if (!kinds || kinds.length === 0) return [];
    return [`${side}${left.length === 0 ? 'any' : left.length <= 2 ? `any but ${left.join(' and ')}` : kinds.join(' · ')}`];
  };
  const isSame = own?.join() === others?.join();
  const parts = isSame ? segment("own or another's: ", own) : [...segment('own: ', own), ...segment(`another's: `, others)];
  return [...parts, ...chosen.filter((one) => !/^own |^another's /.test(one))].join(' — ');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const linesOf = (roles: readonly string[], answers: Map<string, string>): string[] => {
  const all = [...answers.keys()];
  const parts = group(answers, (answer) => answer);
  const rows = parts.flatMap(([chosen, answer]) => {
    const lines = wrap(situations(chosen, all), 74);
    return lines.map((line, n) => [n === 0 ? answer : '', line] as const);
  });
  const head = wrap(roles.join(', '), 42);
  const height = Math.max(rows.length, head.length);
  return Array.from({ length: height }, (_, n) =>
    `  ${(head[n] ?? '').padEnd(44)}${(rows[n]?.[0] ?? '').padEnd(44)}${rows[n]?.[1] ?? ''}`.trimEnd(),
  );
};

export function tableOf(matrix: Matrix): string {
  const text = (answers: Map<string, string>): string => JSON.stringify([...answers]);
  const groups = group(
    [...matrix].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    (roles) => JSON.stringify([...roles].map(([role, answers]) => [role, text(answers)])),
  );
  return groups
    .map(([names, roles]) => {
      const allowed = [...roles].filter(([, answers]) => [...answers.values()].some((answer) => answer !== 'no right'));
      return [...names, ...group(allowed, text).flatMap(([members, answers]) => linesOf(members, answers)), ''].join('\n');
    })
    .join('\n');
}

type Asked = { query<Row extends Record<string, unknown>>(sql: string): Promise<Row[]>; kinds: readonly string[] };

/** What roles may without a function: their rights to relations, and private functions that are not simply for all who read. */
export async function grantsOf(world: Asked): Promise<string> {
  const relations = await world.query<{ line: string }>(`
    select format('%s  %s', rpad(r.kind, 12), coalesce(string_agg(distinct privilege, ', ' order by privilege), 'nothing')) as line
      from ledger.ledger_roles r
      left join lateral (
        select format('%s on all %s of the ledger%s', p.privilege, case c.relkind when 'v' then 'views' when 'S' then 'sequences' else 'tables' end,
                 case when count(*) filter (where not has_table_privilege(r.role, c.oid, p.privilege)) > 0
                      then ' but ' || string_agg(c.relname, ', ' order by c.relname) filter (where not has_table_privilege(r.role, c.oid, p.privilege)) else '' end) as privilege
          from pg_class c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'trigger', 'references']) as p(privilege)
         where c.relnamespace = 'ledger'::regnamespace and c.relkind in ('r', 'v') and has_schema_privilege(r.role, 'ledger', 'usage')
         group by p.privilege, case c.relkind when 'v' then 'views' when 'S' then 'sequences' else 'tables' end, c.relkind
        having bool_or(has_table_privilege(r.role, c.oid, p.privilege))) g on true
     where r.kind <> 'owner'
     group by r.kind order by r.kind`);
  const functions = await world.query<{ line: string }>(`
    select format('%s  %s', rpad(string_agg(r.kind, ', ' order by r.kind), 52), p.proname) as line
      from pg_proc p cross join ledger.ledger_roles r
     where p.pronamespace = 'ledger'::regnamespace and p.proname ~ '^_' and r.kind <> 'owner' and has_function_privilege(r.role, p.oid, 'execute')
     group by p.oid, p.proname, p.provolatile, p.prosecdef
    having p.prosecdef or p.provolatile = 'v' or array_agg(r.kind order by r.kind) <> array(
             select k.kind from ledger.ledger_roles k where k.kind <> 'owner' and has_table_privilege(k.role, 'ledger.work_items', 'select') order by k.kind)
     order by p.proname, p.oid`);
  return [
    'relations',
    ...relations.map(({ line }) => `  ${line}`),
    '',
    'private functions, but for those that only read, which all who read may call',
    ...functions.map(({ line }) => `  ${line}`),
    '',
  ].join('\n');
}
