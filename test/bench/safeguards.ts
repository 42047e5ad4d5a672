// What an append pays for being safe: the chain of hashes, the look for secrets, and the right to append alone, by a function that runs as
// the owner of tables which its caller cannot write. By pgbench, against appends of the owner without chain and look.

import pg from 'pg';

import { appendOne, bench_items, rate } from './append.ts';
import type { Place, Variant } from './append.ts';
import { linesOf, takeTurns } from './harness/question.ts';
import type { Line, Options, Question } from './harness/question.ts';
import { findPgbench, withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';

const bare = 'ledger_append, bare';
const ofOwner: Record<string, Variant> = {
  [bare]: { statement: appendOne, isUnchained: true, isUnredacted: true },
  ledger_append: { statement: appendOne, of: bare },
  'ledger_append, no redaction': { statement: appendOne, isUnredacted: true, of: 'ledger_append' },
  'ledger_append, no chain': { statement: appendOne, isUnchained: true, of: 'ledger_append' },
};
const ofClient: Record<string, Variant> = {
  'ledger_append, a client': { statement: appendOne, of: [bare, 'ledger_append'] },
  'ledger_append, a client, no chain': { statement: appendOne, isUnchained: true, of: [bare, 'ledger_append, no chain'] },
};

export const safeguards: Question = {
  asks: 'What does an append pay for being safe?',
  axis: 'clients',
  async measure(options) {
    if ((await findPgbench()) !== null) return measure(options);
    options.say('safeguards: left out, there is no pgbench here (Debian: apt-get install postgresql-15)');
    return [];
  },
};

const measure = ({ quick, say }: Options): Promise<Line[]> =>
  withServer(
    async (server) => {
      const ledger = await withRoles(server);
      try {
        const [rounds, seconds] = quick ? [3, 1] : [9, 4];
        const variants = { ...ofOwner, ...ofClient };
        const of = Object.fromEntries(Object.entries(variants).flatMap(([name, variant]) => (variant.of ? [[name, variant.of]] : [])));
        const lines: Line[] = [];
        for (const clients of quick ? [16] : [1, 16]) {
          say(`safeguards: ${clients} clients`);
          const turns = Object.entries(variants).map(([name, variant]) => [
            name,
            () => rate(server, name in ofClient ? ledger.client : ledger.owner, variant, clients, seconds),
          ]);
          lines.push(...linesOf(await takeTurns(rounds, Object.fromEntries(turns)), { unit: 'entries/s', of, at: clients }));
        }
        return lines;
      } finally {
        await ledger.end();
      }
    },
    { autovacuum: 'off' },
  );

/**
 * A ledger with its database roles, and two logins: one is its owner, one a client, which owns nothing and writes no table of the ledger.
 * Neither is a superuser: a server does not look at what those may do, so that against one even an owner would pay.
 */
async function withRoles(server: Server): Promise<{ owner: Place; client: Place; end: () => Promise<void> }> {
  const url = await server.database('with_roles', 'ledger');
  const admin = new pg.Client(url);
  await admin.connect();
  await admin.query(`
    select work_roles_create();
    create role bench_owner login in role work_ledger_owner;
    alter role bench_owner set role = work_ledger_owner;
    create role bench_client login in role work_ledger_client;
    ${bench_items};
    grant select, insert on bench_items to work_ledger_owner, bench_client`);
  const placeOf = async (role: string): Promise<Place> => {
    const own = url.replace('postgres@', `${role}@`);
    const writer = new pg.Client(own);
    await writer.connect();
    return { owner: admin, writer, url: own };
  };
  const [owner, client] = [await placeOf('bench_owner'), await placeOf('bench_client')];
  return { owner, client, end: async () => void (await Promise.all([admin, owner.writer, client.writer].map((one) => one.end()))) };
}
