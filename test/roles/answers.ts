// What calls are answered in each situation of work, in a few words each.

import type { Work } from './arguments.ts';
import { ask, callsOf, functionsSql } from './calls.ts';
import type { Answer, Call, Function } from './calls.ts';
import type { Session, World } from './world.ts';

/** What a role without the right to call a function is told, whatever it gives it. */
export const NO_RIGHT = 'no right';

const situationOf = ({ side, kind, lease }: Work): string => (lease === null ? `${side === 'own' ? 'own' : `another's`} ${kind}` : kind);
const heldOf = ({ kind, item }: Work): string | null => (kind.startsWith('held') ? item : null);
export const situationsOf = (call: Call, works: readonly Work[]): Work[] => (call.isOfWork ? [...works] : works.slice(0, 1));
export const keyOf = (call: Call, work: Work): string => (call.isOfWork ? situationOf(work) : '');

export async function callsIn(world: World): Promise<Call[]> {
  const abilities = await world.query<{ name: string }>(
    `select name from ledger.abilities where implementation <> 'runtime' order by name`,
  );
  return callsOf(
    await world.query<Function>(functionsSql),
    abilities.map(({ name }) => name),
  );
}

/** Whether a role reads the ledger: then it may be told of everybody's work. */
export async function isReader({ client }: Session): Promise<boolean> {
  const {
    rows: [can],
  } = await client.query<{ reads: boolean }>(`
    select coalesce(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'), false) as reads
      from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'ledger' where c.relname = 'work_items'`);
  return can?.reads === true;
}

/** The answer to one call, and the code if it is not one of ours. */
export async function answerOf(
  { client }: Session,
  call: Call,
  work: Work,
  reads: boolean,
): Promise<{ words: string; foreign: string | null }> {
  const answer = await ask(client, call.sql(work), heldOf(work));
  const isOurs = answer.error === null || /^(WL0\d\d|42501|0A000)$/.test(answer.error.code ?? '');
  return { words: inWords(call, answer, reads), foreign: isOurs ? null : `${call.title}: ${answer.error?.code} ${answer.error?.message}` };
}

function inWords(call: Call, { said, rows, written, error }: Answer, reads: boolean): string {
  const tells = !reads && /wombat/i.test([...rows, error?.message, error?.detail].join(' '));
  const isNothing = said === 'ok' && !call.function.is_void && rows.every((row) => row === null || /^([{[]?[}\]]?|\(,*\)|f)$/.test(row));
  const kind = /^\{\s*"kind"\s*:\s*"(\w+)"/.exec(rows[0] ?? '')?.[1];
  return [
    isNothing && written.length === 0 ? 'nothing' : kind === undefined ? said : `${said} (${kind})`,
    ...(written.length > 0 ? [`writes ${written.join(', ')}`] : []),
    ...(tells ? [`tells of another's`] : []),
  ].join(', ');
}
