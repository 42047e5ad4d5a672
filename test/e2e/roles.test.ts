// Roles, as people log in with them: work is submitted, done and read by roles of which none can write a table, and
// nobody gets at what is not theirs. In both forms of installation; the script is installed by a role that is no superuser.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { layOutProject, task } from '../../runtime/commands/demo/project.ts';
import { demoReplies } from '../../runtime/commands/demo/script.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

type Row = Record<string, unknown>;

/** Who logs in, and which kind of role they have. */
const people = { app: 'client', other: 'client', model: 'agent', boss: 'approver', eve: 'reader', host: 'worker', root: 'admin' } as const;
type Person = keyof typeof people;

describe.each(['script', 'extension'] as const)('a ledger of the %s', (form) => {
  const prefix = `r${form}${process.pid}_`;
  const installer = `${prefix}installer`;
  let database: TestDatabase;

  const urlOf = (role: string): string => database.url.replace('postgres@', `${role}@`);
  /** `options`: what the connection begins with, as PGOPTIONS. */
  async function run(role: string, sql: string, options?: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: urlOf(role), ...(options !== undefined && { options }) });
    await client.connect();
    try {
      const result = await client.query<Row>(sql);
      return (Array.isArray(result) ? (result as pg.QueryResult<Row>[]).at(-1)?.rows : result.rows) ?? [];
    } finally {
      await client.end();
    }
  }
  const as = (person: Person, sql: string): Promise<Row[]> => run(`${prefix}${person}`, sql);
  const one = async (person: Person, sql: string): Promise<unknown> => Object.values((await as(person, sql))[0] ?? {})[0];
  const submit = (person: Person, more = ''): Promise<string> =>
    one(person, `select id from work_submit('chore', 'Sweep the floor'${more})`) as Promise<string>;
  const refused = { code: '42501' };

  beforeAll(async () => {
    database = await createDatabase(form === 'extension' ? {} : { from: null });
    await database.query(
      `create role ${installer} login createrole; ${Object.keys(people)
        .map((person) => `create role ${prefix}${person} login`)
        .join('; ')}`,
    );
    if (form === 'script') {
      await database.query(`do $$ begin execute format('alter database %I owner to ${installer}', current_database()); end $$`);
      await installLedger(urlOf(installer), 'ledger');
    }
    await run(form === 'script' ? installer : 'postgres', `select work_roles_create('${prefix}')`);
    for (const [person, kind] of Object.entries(people)) await database.query(`grant ${prefix}${kind} to ${prefix}${person}`);
  });
  afterAll(async () => {
    await run(form === 'script' ? installer : 'postgres', 'select work_roles_drop()');
    const left = await database.query<{ rolname: string }>(
      `select rolname from pg_roles where rolname in (${['owner', 'tools', ...Object.values(people)].map((kind) => `'${prefix}${kind}'`).join(', ')})`,
    );
    await database.drop();
    const admin = await createDatabase({ from: null });
    await admin.query(`drop role ${[installer, ...Object.keys(people).map((person) => `${prefix}${person}`)].join(', ')}`);
    await admin.drop();
    expect(left).toEqual([]);
  });

  test('work is submitted by a client, done by a worker and read by a reader', async () => {
    const workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
    await layOutProject(workspace);
    const faculty = join(workspace, 'engineer.toml');
    await writeFile(
      faculty,
      `
[faculty]
name = "engineer"
accepts = ["mend"]

[faculty.engage]
workspace = "host"
workspace_dir = "."
tools = ["read_file", "write_file", "edit_file", "glob", "grep", "bash"]
`,
    );
    const model = await startScriptedModel(scriptOf(demoReplies));
    const worker = await startWorkerProcess({
      url: urlOf(`${prefix}host`),
      modelUrl: model.url,
      args: ['--faculty', faculty],
      env: { WORK_LEDGER_SCHEMA: 'ledger' },
    });
    try {
      const id = String((await run(`${prefix}app`, `select id from work_submit('mend', ${pg.escapeLiteral(task)})`))[0]?.['id']);
      const state = await until(async () => {
        const [now] = await as('eve', `select state, resolved_at from work_items where id = '${id}'`);
        return now?.['resolved_at'] ? now['state'] : null;
      });
      expect(state, worker.log()).toBe('completed');
      expect((await as('eve', `select seq from ledger_read('${id}')`)).length).toBeGreaterThan(3);
      expect(await as('eve', `select submitted_by from work_items where id = '${id}'`)).toEqual([{ submitted_by: `${prefix}app` }]);
    } finally {
      await worker.end('SIGTERM');
      await model.close();
      await rm(workspace, { recursive: true, force: true });
    }
  });

  test('a client does everything with the work that it submitted, and with work below it', async () => {
    const id = await submit('app');
    const child = String(await one('app', `select id from spawn_child_work('${id}', 'chore', 'Sweep the corner')`));
    expect(await as('app', `select seq from ledger_append('${id}', 'note', 'x', '{"a": 1}')`)).toEqual([{ seq: 1 }]);
    await as(
      'app',
      `select ledger_append_batch('${id}', '[{"entry_type": "note", "content": "y"}]'), work_message('${child}', 'Both corners'),
                            work_pause('${child}'), work_resume('${child}'), budget_set('${id}', 'tokens', 1000), checkpoint_create('${id}')`,
    );
    await as('app', `select work_complete('${child}', 'Swept'), work_cancel('${id}')`);
    const journal = String(await one('app', `select id from journal_session_create('c${form}${process.pid}', 'Look around')`));
    await as('app', `select journal_log('${journal}', 'thinking', '{"reasoning": "Where is it?"}'), journal_heartbeat('${journal}')`);
  });

  test('and nothing with the work of somebody else, which an administrator may', async () => {
    const id = await submit('app');
    for (const write of [
      `ledger_append('${id}', 'note', 'not mine')`,
      `ledger_append('${id}', 'note', 'not mine', p_idempotency_key => 'k')`,
      `ledger_append_batch('${id}', '[{"entry_type": "note", "content": "not mine"}]')`,
      `work_message('${id}', 'Stop it')`,
      `work_pause('${id}')`,
      `work_resume('${id}')`,
      `workspace_abandon('${id}')`,
      `work_cancel('${id}')`,
      `work_complete('${id}', 'Done')`,
      `work_fail('${id}', 'No')`,
      `budget_set('${id}', 'tokens', 1)`,
      `checkpoint_create('${id}')`,
      `context_compact('${id}')`,
      `work_submit('chore', 'Below it', p_parent_id => '${id}')`,
      `spawn_child_work('${id}', 'chore', 'Below it')`,
      `ability_invoke('ledger_append', '{"entry_type": "note", "content": "not mine"}', '${id}')`,
      `ability_invoke('work_complete', '{"summary": "Done"}', '${id}')`,
    ])
      await expect(as('other', `select ${write}`), write).rejects.toMatchObject(refused);
    const journal = String(await one('app', `select id from journal_session_create('d${form}${process.pid}', 'Look around')`));
    for (const write of [
      `journal_log('${journal}', 'thinking', '{"reasoning": "x"}')`,
      `journal_heartbeat('${journal}')`,
      `journal_session_status('${journal}', 'paused')`,
      `journal_summary_save('${journal}', 'Nothing', 'm')`,
    ]) {
      await expect(as('other', `select ${write}`), write).rejects.toMatchObject(refused);
    }
    await as(
      'app',
      `select ability_invoke('ldg:task:save', '{"task": {"id": "t${form}${process.pid}", "systemPrompt": "p", "createdAt": 1, "updatedAt": 1}}')`,
    );
    await expect(
      as(
        'other',
        `select ability_invoke('ldg:task:save', '{"task": {"id": "t${form}${process.pid}", "systemPrompt": "q", "createdAt": 1, "updatedAt": 1}}')`,
      ),
    ).rejects.toMatchObject(refused);
    await as('root', `select ledger_append('${id}', 'note', 'From above'), work_message('${id}', 'Hello'); select work_cancel('${id}')`);
  });

  test('nobody writes tables, settled or not', async () => {
    const id = await submit('app');
    for (const person of Object.keys(people) as Person[]) {
      for (const write of [
        `insert into work_ledger (work_item_id, seq, entry_type, content, attempt) values ('${id}', 1000, 'note', 'squatted', 0)`,
        `update work_items set state = 'completed'`,
        `update fences set ledger_count = 0`,
        `update approvals set decided_by = 'the ceo'`,
        `update tool_calls set input = '{}'`,
        `delete from budgets`,
        `truncate work_ledger`,
        `update foci set lease_expires_at = 'infinity'`,
        `update abilities set risk = 'safe'`,
        `insert into ledger_roles values ('owner', 'me')`,
        `alter table work_ledger disable trigger all`,
        `create table ledger.mine ()`,
        `drop function _fence(uuid, uuid)`,
        `select _enqueue('${id}')`,
        `select _focus_end(null, null, null, null, null)`,
        `select _roles_apply()`,
      ])
        await expect(as(person, write), `${person}: ${write}`).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|42883)$/) });
    }
    expect(await as('app', `select seq from ledger_append('${id}', 'note', 'the first')`)).toEqual([{ seq: 1 }]);
  });

  test('an agent writes and reads by its lease, its own work only', async () => {
    await as('root', `select faculty_save('{"name": "sweeper", "accepts": ["sweep"]}')`);
    const id = String(await one('app', `select id from work_submit('sweep', 'Sweep by hand')`));
    const lease = String(await one('host', `select focus_claim('${id}', 'w1') ->> 'lease'`));
    const mine = await submit('other');
    expect(await one('model', `select (ledger_append('${id}', 'finding', 'Dust', p_lease => '${lease}')).seq`)).toBe(1);
    expect(JSON.stringify(await as('model', `select ability_invoke('ledger_read', '{}', '${id}', '${lease}') as read`))).toContain('Dust');
    for (const write of [
      `ledger_append('${mine}', 'note', 'x')`,
      `ledger_append('${mine}', 'note', 'x', p_lease => '${lease}')`,
      `ledger_append('${id}', 'note', 'x')`,
      `ability_invoke('ledger_read', '{}', '${mine}')`,
      `ability_invoke('ledger_read', '{}', '${mine}', '${lease}')`,
      `ability_invoke('ledger_read', '{}', '${id}')`,
      `ability_invoke('ldg:task:get', '{"taskId": "x"}', '${id}', '${lease}')`,
      `spawn_child_work('${mine}', 'chore', 'x', p_lease => '${lease}')`,
      `work_complete('${mine}', 'x', p_lease => '${lease}')`,
      `work_submit('chore', 'x')`,
      `work_message('${id}', 'x')`,
      `awareness_digest()`,
      `ledger_read('${mine}')`,
    ])
      await expect(as('model', `select ${write}`), write).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|WL004|WL005)$/) });
    await expect(as('model', 'select * from work_items')).rejects.toMatchObject(refused);
    // The lease is in no row that somebody reads.
    for (const { name } of (await as(
      'eve',
      `select oid::regclass::text as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind in ('r', 'v') and relname <> 'people'`,
    )) as { name: string }[]) {
      expect(JSON.stringify(await as('eve', `select to_jsonb(t)::text as row from ${name} t`)), name).not.toContain(lease);
    }
    await as('root', `select work_cancel('${id}')`);
  });

  test("a user's SQL tool runs as the role of tools, and for nobody who could not run it themselves", async () => {
    const mine = `${prefix}mine`;
    await database.query(`
      create schema ${mine}; grant usage on schema ${mine} to ${prefix}root, ${prefix}app;
      create function ${mine}.pay(jsonb) returns text language sql as $$ select 'paid as ' || current_user $$; revoke execute on function ${mine}.pay from public;
      create function ${mine}.own(jsonb) returns text language sql as $$ select 'looked' $$; alter function ${mine}.own owner to ${prefix}root`);
    const register = (name: string): string =>
      `ability_register('${name}', 'What it does.', '{"type": "object"}', p_function => '${mine}.${name}(jsonb)')`;
    await expect(as('root', `select ${register('own')}`)).rejects.toMatchObject(refused);
    await expect(as('root', `select ${register('pay')}`)).rejects.toMatchObject(refused);
    await database.query(`select ${register('pay')}`);
    await expect(as('app', `select ability_invoke('pay')`)).rejects.toMatchObject(refused);
    await database.query(`grant execute on function ${mine}.pay to ${prefix}app`);
    await expect(as('app', `select ability_invoke('pay')`)).rejects.toMatchObject(refused);
    expect(await as('root', `select says, remedy from work_ledger_doctor() where says like '%pay%'`)).toEqual([
      {
        says: `ability "pay": role ${prefix}tools may not run ${mine}.pay(jsonb): calls to the tool fail`,
        remedy: `grant usage on schema ${mine} to ${prefix}tools; grant execute on function ${mine}.pay(jsonb) to ${prefix}tools;`,
      },
    ]);
    await database.query(`grant usage on schema ${mine} to ${prefix}tools; grant execute on function ${mine}.pay to ${prefix}tools`);
    expect(await one('app', `select ability_invoke('pay')`)).toBe(`paid as ${prefix}tools`);
    await expect(as('other', `select ability_invoke('pay')`)).rejects.toMatchObject(refused);
    // Whoever may register, but is not the owner, puts nothing of his own before what a function names.
    await database.query(`alter function ${mine}.pay owner to ${prefix}owner; create schema ${mine}_root authorization ${prefix}root`);
    expect(
      await as(
        'root',
        `select search_path from ability_register('pay', 'What it does.', '{"type": "object"}', p_function => '${mine}.pay(jsonb)', p_search_path => '{${mine},${mine}_root}')`,
      ),
    ).toEqual([{ search_path: `{${mine}}` }]);
    await database.query(`drop schema ${mine} cascade; drop schema ${mine}_root`);
    expect(await as('root', `select says from work_ledger_doctor() where says like '%pay%'`)).toEqual([
      { says: `ability "pay": its function ${mine}.pay no longer exists` },
    ]);
  });

  test('no session makes a tool run what the session brings: as every kind of role', async () => {
    const [shop, evil] = [`${prefix}shop`, `${prefix}evil`];
    await run(
      'postgres',
      `
      create schema ${shop}; set search_path = ledger, ${shop}; create table ${shop}.customers as select 1 as id, 'Ada' as name; grant usage on schema ${shop} to public; grant select on ${shop}.customers to ${prefix}tools;
      create function ${shop}.find_customer(input jsonb) returns text language sql as $$ select name::text from customers where id = (input ->> 'id')::integer and lower(name) <> '' $$;
      create function ${shop}.price(input jsonb) returns jsonb language sql stable set search_path = pg_catalog, pg_temp as $$ select '42'::jsonb $$;
      select ability_register('find_customer', 'Finds.', '{"type": "object"}', 'pure', 'safe', '${shop}.find_customer(jsonb)'), ability_register('price', 'Price.', '{"type": "object"}', 'pure', 'safe', '${shop}.price(jsonb)')`,
    );
    await as('root', `select faculty_save('{"name": "sweeper", "accepts": ["sweep"]}')`);
    const hook = (schema: string): string => `create function ${schema}.evil() returns text language plpgsql as $$ begin
      update ledger.work_items set description = 'OWNED'; return current_user; exception when insufficient_privilege then return 'tried as ' || current_user; end $$; grant execute on function ${schema}.evil() to public`;
    const called: Record<string, unknown> = {};
    for (const person of Object.keys(people) as Person[]) {
      const id = String(await one('app', `select id from work_submit('sweep', 'Sweep by hand')`));
      const lease = String(await one('host', `select focus_claim('${id}', 'w1') ->> 'lease'`));
      const invoke = `select ledger.ability_invoke('find_customer', '{"id": 1}', '${id}', '${lease}') || ledger.ability_invoke('price', '{}', '${id}', '${lease}') as said`;
      await database.query(`create schema ${evil} authorization ${prefix}${person}`);
      const said: unknown[] = [];
      const attack = async (sql: string, options?: string): Promise<void> => {
        said.push(
          await run(`${prefix}${person}`, `${sql}; ${invoke}`, options).then(
            ([row]) => row?.['said'],
            (error: { code: string }) => error.code,
          ),
        );
      };
      // Temporary objects, which come before all others where a path does not name them.
      await attack(
        `${hook('pg_temp')}; create temp view customers as select 1 as id, pg_temp.evil() as name; grant select on customers to public`,
      );
      await attack(
        `${hook('pg_temp')}; create temp table customers (id integer, name text default pg_temp.evil()); insert into customers (id) values (1); grant select on customers to public`,
      );
      await attack(
        `${hook('pg_temp')}; create function pg_temp.is_fine(bytea) returns boolean language sql as 'select pg_temp.evil() is not null'; create domain pg_temp.text as bytea check (pg_temp.is_fine(value)); create domain pg_temp.jsonb as bytea check (pg_temp.is_fine(value))`,
      );
      // A schema of one's own, as a connection's first or by a command: relations, functions, operators, casts.
      await run(
        `${prefix}${person}`,
        `${hook(evil)}; grant usage on schema ${evil} to public;
        create view ${evil}.customers as select 1 as id, ${evil}.evil() as name; grant select on ${evil}.customers to public;
        create function ${evil}.to_jsonb(jsonb) returns jsonb language sql as $$ select to_json(${evil}.evil())::jsonb $$; create function ${evil}.to_jsonb(text) returns jsonb language sql as $$ select to_json(${evil}.evil())::jsonb $$;
        create function ${evil}.lower(text) returns text language sql as $$ select ${evil}.evil() $$; create function ${evil}.set_config(text, text, boolean) returns text language sql as $$ select ${evil}.evil() $$;
        create function ${evil}.same(integer, integer) returns boolean language sql as $$ select ${evil}.evil() is not null $$; create operator ${evil}.= (leftarg = integer, rightarg = integer, function = ${evil}.same);
        create type ${evil}.word as (a text); create function ${evil}.says(${evil}.word) returns jsonb language sql as $$ select to_json(${evil}.evil())::jsonb $$; create cast (${evil}.word as jsonb) with function ${evil}.says(${evil}.word) as implicit`,
      );
      await attack('select 1', `-c search_path=${evil},pg_catalog`);
      await attack(
        'select 1',
        `-c search_path=${evil},pg_catalog,pg_temp -c row_security=off -c check_function_bodies=off -c standard_conforming_strings=off`,
      );
      await attack(`set search_path = ${evil}, pg_catalog`);
      called[person] = said;
      await database.query(`drop schema ${evil} cascade`);
      await as('root', `select work_cancel('${id}')`);
    }
    const [fine, no] = [['Ada', 42], '42501'].map((said) => Array.from({ length: 6 }, () => said));
    expect(called).toEqual({ app: fine, other: fine, model: fine, boss: no, eve: no, host: fine, root: fine });
    expect(await database.query(`select count(*)::integer as owned from ledger.work_items where description = 'OWNED'`)).toEqual([
      { owned: 0 },
    ]);
    await database.query(`drop schema ${shop} cascade`);
  });

  test("an agent's words are another agent's, whichever role it has", async () => {
    const mine = await submit('app');
    await as('root', `select faculty_save('{"name": "sweeper", "accepts": ["sweep"]}')`);
    await as('app', `select ability_invoke('ledger_append', '{"entry_type": "note", "content": "by name"}', '${mine}')`);
    await as('app', `select ledger_append('${mine}', 'note', 'by a program')`);
    const id = String(await one('app', `select id from work_submit('sweep', 'Sweep by hand')`));
    const lease = String(await one('host', `select focus_claim('${id}', 'w1') ->> 'lease'`));
    await as(
      'model',
      `select ability_invoke('ledger_append', '{"entry_type": "note", "content": "by name, with a lease"}', '${id}', '${lease}')`,
    );
    await as('model', `select ledger_append('${id}', 'note', 'with a lease', p_lease => '${lease}')`);
    expect(
      await as('eve', `select content, trust from work_ledger where work_item_id in ('${mine}', '${id}') order by created_at`),
    ).toEqual([
      { content: 'by name', trust: 'other_agent' },
      { content: 'by a program', trust: null },
      { content: 'by name, with a lease', trust: 'other_agent' },
      { content: 'with a lease', trust: 'other_agent' },
    ]);
    await as('root', `select work_cancel('${id}')`);
  });

  test('who approves is who is logged in, and nobody approves for themselves', async () => {
    await expect(as('app', `select tool_call_approve(gen_random_uuid())`)).rejects.toMatchObject(refused);
    await expect(as('host', `select tool_call_approve(gen_random_uuid())`)).rejects.toMatchObject(refused);
    await expect(as('boss', `select tool_call_approve(gen_random_uuid())`)).rejects.toMatchObject({ code: 'WL001' });
  });

  test('what callers bring along changes nothing: search path, temporary tables, functions, operators, casts, the clock', async () => {
    const id = await submit('app');
    const mine = `${prefix}mine`;
    await database.query(`create schema ${mine} authorization ${prefix}app`);
    const entry = await as(
      'app',
      `
      create temporary table work_items (id uuid, state text); create temporary table fences (work_item_id uuid, is_over boolean); create temporary table work_ledger (id uuid);
      create function ${mine}.upper(text) returns text language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
      create function ${mine}.octet_length(text) returns integer language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
      create function ${mine}.coalesce_(text, text) returns text language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
      create function ${mine}.same(uuid, uuid) returns boolean language plpgsql as $$ begin raise exception 'ran as %', current_user; end $$;
      create operator ${mine}.= (leftarg = uuid, rightarg = uuid, function = ${mine}.same);
      create function pg_temp._now() returns timestamptz language sql as $$ select '1999-01-01'::timestamptz $$;
      create function ${mine}._now() returns timestamptz language sql as $$ select '1999-01-01'::timestamptz $$;
      create type ${mine}.word as (a text);
      create function ${mine}.says(${mine}.word) returns text language plpgsql as $$ begin return 'note'; end $$;
      create cast (${mine}.word as text) with function ${mine}.says(${mine}.word) as implicit;
      set search_path = ${mine}, pg_temp, ledger, pg_catalog;
      set work_ledger.now = '1999-01-01';
      select seq, created_at > '2020-01-01' as is_now from ledger.ledger_append('${id}', row('note')::${mine}.word, 'with everything'::text)`,
    );
    expect(entry).toEqual([{ seq: 1, is_now: true }]);
    await database.query(`drop schema ${mine} cascade`);
  });

  test('nobody writes in the name of a turn or a call', async () => {
    const id = await submit('app');
    const [entry] = await as(
      'app',
      `
      set work_ledger.turn_id = '00000000-0000-0000-0000-000000000001'; set work_ledger.tool_call_id = '00000000-0000-0000-0000-000000000002'; set work_ledger.is_auto = 'true';
      select turn_id, tool_call_id, is_auto from ledger_append('${id}', 'note', 'in whose name?')`,
    );
    expect(entry).toEqual({ turn_id: null, tool_call_id: null, is_auto: false });
  });

  test('new versions of the functions keep what roles may do', async () => {
    const privileges = `select p.oid::regprocedure::text as name, p.prosecdef, p.proacl::text from pg_proc p where p.pronamespace = 'ledger'::regnamespace order by 1`;
    const before = await database.query(privileges);
    await run(
      form === 'script' ? installer : 'postgres',
      `
      alter function ledger_append(uuid, text, text, jsonb, uuid, text, text[], jsonb, integer[], integer) security invoker; grant execute on function work_sweep(interval, interval) to public;
      grant insert on work_ledger to ${prefix}app; select work_roles_create('${prefix}')`,
    );
    expect(await database.query(privileges)).toEqual(before);
    await expect(as('app', `insert into work_ledger default values`)).rejects.toMatchObject(refused);
  });
});

test('roles that were renamed are made anew under their names, with all that they had', async () => {
  const prefix = `renamed${process.pid}_`;
  const database = await createDatabase();
  await database.query(`select ledger.work_roles_create('${prefix}')`);
  await database.query(`alter role ${prefix}owner rename to ${prefix}former`);
  await database.query(`select ledger.work_roles_create('${prefix}')`);
  await database.query(
    `set role ${prefix}client; set search_path to ledger; select from work_submit('chore', 'Sweep the floor'); reset role; reset search_path`,
  );
  expect(await database.query('select state from ledger.work_items')).toEqual([{ state: 'queued' }]);
  await database.query(`select ledger.work_roles_drop(); drop owned by ${prefix}former; drop role ${prefix}former`);
  await database.drop();
});
