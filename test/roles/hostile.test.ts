// Functions that run as the ledger's owner, called from sessions that bring along whatever a login can: objects of its own under every
// name that a function could mean, and every setting. None of its code runs as anybody else, and the answers are those of any session.

import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { answerOf, callsIn, isReader, keyOf, NO_RIGHT, situationsOf } from './answers.ts';
import type { Work } from './arguments.ts';
import type { Call } from './calls.ts';
import { hostileSettings } from './settings.ts';
import { createWorld, NONE, OWNER } from './world.ts';
import type { Session, World } from './world.ts';

let world: World;
let calls: Call[];
let works: Work[];
let kinds: string[];
/** By kind, function and situation: what a session without anything of its own is answered. Only what has no right is left out. */
const usual = new Map<string, string>();
const readers = new Set<string>();

beforeAll(async () => {
  world = await createWorld();
  calls = (await callsIn(world)).filter((call) => call.function.is_definer);
  works = world.works.filter(
    ({ side, kind }) => /^(open|held)$/.test(kind) || (side === 'another' && /^(finished|imported|journal)$/.test(kind)),
  );
  kinds = world.kinds.filter((kind) => kind !== NONE && kind !== OWNER);
  await world.query(`
    do $$ begin execute format('grant create on database %I to %I', current_database(), '${world.caller}'); end $$;
    grant set on parameter session_replication_role to ${world.caller}`);
  const session = await world.connect();
  for (const kind of kinds) {
    await world.as(kind, async () => {
      if (await isReader(session)) readers.add(kind);
      await eachCall(kind, session, works, (key, words) => void (words === NO_RIGHT || usual.set(key, words)), false);
    });
  }
  // As a reader, who may name the types of the ledger.
  await world.as('reader', async () => {
    await session.client.query(await readFile(new URL('hostile.sql', import.meta.url), 'utf8'));
    await session.client.query(`set statement_timeout = 0; select hostile.functions(), hostile.relations('hostile')`);
  });
  await session.client.end();
});
afterAll(async () => {
  await world?.query(`revoke set on parameter session_replication_role from ${world.caller}`);
  await world?.drop();
});

type Take = (key: string, words: string, call: Call) => void;

async function eachCall(kind: string, session: Session, chosen: readonly Work[], take: Take, isAgain = true): Promise<void> {
  for (const call of calls) {
    for (const work of situationsOf(call, chosen)) {
      const key = `${kind}, ${keyOf(call, work)}: ${call.title}`;
      if (isAgain && !usual.has(key)) continue;
      session.notices.length = 0;
      const { words } = await answerOf(session, call, work, readers.has(kind));
      take(key, words, call);
      if (words === NO_RIGHT) break;
    }
  }
}

type Found = { ran: Set<string>; otherwise: Set<string> };

/** What it brought along ran as somebody else, and what was answered otherwise. `mayLack`: it may be refused what others get. */
async function tried(options: {
  chosen: readonly Work[];
  among: readonly string[];
  startup?: string;
  mayLack?: boolean;
  begin: (session: Session) => Promise<unknown>;
}): Promise<Found> {
  const found: Found = { ran: new Set(), otherwise: new Set() };
  const session = await world.connect(options.startup);
  await world.as('reader', () => options.begin(session));
  for (const kind of options.among) {
    await world.as(kind, () =>
      eachCall(kind, session, options.chosen, (key, words, call) => {
        for (const notice of session.notices) {
          const as = /^ran (.*) as (.*)$/.exec(notice);
          if (as && as[2] !== world.caller) found.ran.add(`${call.title}: ${as[1]} as ${as[2]?.replace(/^m\d+_/, '')}`);
        }
        const lacks = options.mayLack === true && !/^(ok|nothing)|tells/.test(words);
        if (words !== usual.get(key) && !lacks) found.otherwise.add(`${key}: ${words} instead of ${usual.get(key)}`);
      }),
    );
  }
  await session.client.end();
  return found;
}

const nothing: Found = { ran: new Set(), otherwise: new Set() };

test('a schema first in the path, from the beginning of the session', async () => {
  const begin = ({ client }: Session): Promise<unknown> =>
    client.query('set statement_timeout = 0; select hostile.temporary(); reset statement_timeout');
  expect(await tried({ chosen: works, among: kinds, startup: '-c search_path=hostile,ledger,pg_catalog', begin })).toEqual(nothing);
});

test('temporary relations and types first in the path', async () => {
  const begin = ({ client }: Session): Promise<unknown> =>
    client.query(
      'set statement_timeout = 0; select hostile.temporary(); reset statement_timeout; set search_path = pg_temp, hostile, ledger, pg_catalog',
    );
  expect(await tried({ chosen: works, among: kinds, begin })).toEqual(nothing);
});

test.each(hostileSettings)('%s', async (_, settings) => {
  const chosen = works.filter(({ kind }) => /^(open|held)$/.test(kind));
  const among = kinds.filter((kind) => /^(client|agent|worker)$/.test(kind));
  expect(
    await tried({
      chosen,
      among,
      mayLack: true,
      begin: async ({ client }) => {
        const { rows } = await client.query<{ name: string; value: string }>(settings);
        for (const { name, value } of rows) await client.query('select set_config($1, $2, false)', [name, value]);
      },
    }),
  ).toEqual(nothing);
});
