// Five agents at work on one problem: a real worker whose model is scripted. They stop where a page of the console is worth
// looking at: one waits for approval, two are in the middle of a response, one has failed, one is paused, some are queued.

import pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ContentBlock } from '../../runtime/model/message.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { defineTool, failed, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { awaits, call, calls, done, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { until } from '../workerProcess.ts';

export type Crew = {
  db: Db;
  /** Work items by what they are. */
  ids: {
    root: string;
    measure: string;
    locks: string;
    operate: string;
    review: string;
    failed: string;
    paused: string;
    untaken: string;
    done: string;
    /** A note. */
    note: string;
  };
  /** Lets the two responses go on that are held in the middle. */
  goOn(): void;
  close(): Promise<void>;
};

const note = (entry_type: string, content: string): ContentBlock => call('ledger_append', { entry_type, content });
const say = (text: string, ...more: ContentBlock[]): ScriptedReply => ({ content: [{ type: 'text', text }, ...more] });
const read = (path: string): ContentBlock => call('read_file', { path });
const query = (sql: string): ContentBlock => call('query', { sql });
const spawn = (work_type: string, description: string): ContentBlock => call('spawn_child_work', { work_type, description });

const measured =
  'Sixteen writers take 41 minutes where four take 38: past four the row import_progress is the queue. I look at what each writer does with that row between two chunks, because a counter per writer would take the lock away altogether; the sum can be read by the one view that shows the progress.';
const reviewed =
  'The rounding of the tax line is the one left. It takes the net amount in cents, multiplies by 19 and divides by 100 with Math.floor, so that a line of 0.29 loses a third of a cent; over a whole invoice that is less than one cent.';

const told = 'The lock is held for the length of a chunk by whoever writes the progress of the import; all else is short.';

const listing = (name: string): string =>
  Array.from(
    { length: 105 },
    (_, i) => `// ${name} ${i}: for each chunk of five minutes the statement is sent again, with other bounds`,
  ).join('\n');

const tools = [
  defineTool({
    name: 'read_file',
    description: 'Reads a file.',
    input: z.strictObject({ path: z.string() }),
    effect: 'pure',
    risk: 'safe',
    execute: async ({ path }) => ok(`// ${path}\n${listing(path)}`),
  }),
  defineTool({
    name: 'query',
    description: 'Asks the copy of the database.',
    input: z.strictObject({ sql: z.string() }),
    effect: 'pure',
    risk: 'safe',
    execute: async ({ sql }) =>
      sql.includes('orders_day')
        ? failed('relation "orders_day" does not exist')
        : ok(`QUERY PLAN\n${listing('Seq Scan on orders')}\nTime: 10,512 ms`),
  }),
  defineTool({
    name: 'edit_file',
    description: 'Changes a file.',
    input: z.strictObject({ path: z.string(), find: z.string(), replace: z.string() }),
    effect: 'idempotent',
    risk: 'moderate',
    execute: async ({ path }) => ok(`Replaced once in ${path}.`),
  }),
  defineTool({
    name: 'operate',
    description: 'Runs a command on a server.',
    input: z.strictObject({ command: z.string(), target: z.string(), timeout_minutes: z.number() }),
    effect: 'unsafe',
    risk: 'dangerous',
    execute: async ({ command }) => ok(`Done: ${command}`),
  }),
];

function roles(held: Promise<void>, isToPause: (description: string) => Promise<void>): Record<string, (seen: Seen) => ScriptedReply> {
  const inTheMiddle = (text: string): ScriptedReply => ({
    content: [{ type: 'text', text }],
    afterEvent: (count) => (count >= 6 ? held : undefined),
  });
  const plan =
    '1. Read the import and its queries\n2. Explain the slowest\n3. Measure with more writers\n4. Change one thing\n5. Prove it on the copy';
  const lead = ({ exchange, children, results }: Seen): ScriptedReply =>
    [
      say('I begin with the import itself.', note('plan', plan), read('src/import.js')),
      calls(query('explain analyze select * from orders where created_at::date = $1')),
      calls(
        note(
          'finding',
          'The index on orders(created_at) is never used: the import compares created_at::date, and the cast hides the index. 2.1 million rows are read for each of 288 chunks.',
        ),
      ),
      calls(note('step', 'Found the slow statement: one sequential scan of orders per chunk, 288 times a night.'), read('src/chunks.js')),
      calls(
        note(
          'decision',
          'Compare with a half-open range instead of a cast. An index on the expression would do too, but it would be a second one to keep up on the hottest table.',
        ),
        call('edit_file', { path: 'src/import.js', find: 'created_at::date = $1', replace: 'created_at >= $1 and created_at < $2' }),
      ),
      calls(
        query('explain select * from orders_day'),
        note('error', 'The test "a night has 288 chunks" fails: on the last Sunday of March a night has 276.'),
      ),
      say(
        'Nights with a clock change are a fault of their own; I note it and go on.',
        note('note', 'Nights with a clock change have 276 or 300 chunks. Not ours to fix; told the owner of the test.'),
        call('edit_file', { path: 'notes/clock.md', find: '', replace: '# Nights with a clock change\n276 or 300 chunks' }),
      ),
      calls(
        note('step', 'The statement uses the index: 10.5 s became 0.04 s per chunk on the copy.'),
        spawn('measure', 'Measure the import of 14 March with 1, 4 and 16 writers. Where does it stop getting faster?'),
        spawn('measure', 'Which locks does the import hold while it loads, and who waits for them?'),
        spawn('operate', 'Clear the dead rows of orders on the staging copy and say what that changes.'),
      ),
      say(
        'Three parts go to colleagues; I wait for what they find.',
        note(
          'plan',
          '1. [x] Read the import\n2. [x] Explain the slowest\n3. Measure with more writers (delegated)\n4. [x] Change one thing\n5. Prove it on the copy',
        ),
      ),
      calls(awaits(children, 3000)),
    ][exchange] ?? done(`It finishes before six. ${results.length} answers came.`);
  const forked = ({ exchange }: Seen): ScriptedReply =>
    [
      calls(note('decision', 'Index the expression: create index orders_day on orders ((created_at::date)). No statement changes.')),
      calls(
        note(
          'finding',
          'With the index on the expression a chunk takes 0.06 s, but each insert into orders is 9 % slower and the index has 1.1 GB.',
        ),
      ),
      calls(note('step', 'Measured the index on the expression against the range.')),
    ][exchange] ?? done('Works without touching a statement; costs 9 % on every insert and 1.1 GB. The range is better.');
  return {
    'Find why': (seen) => (isForked.value && seen.exchange >= 4 ? forked({ ...seen, exchange: seen.exchange - 4 }) : lead(seen)),
    Measure: ({ exchange }) =>
      [
        say('One writer first.', note('plan', '1. One writer 2. Four 3. Sixteen 4. Say where it bends'), query('select measure_import(1)')),
        calls(query('select measure_import(4)'), note('finding', 'Four writers load 3.6 times as fast as one; the disk is at 70 %.')),
        calls(note('step', 'Measured one and four writers.')),
        calls(query('select measure_import(16)')),
        calls(note('finding', 'Sixteen writers are slower than four: they wait for the lock on import_progress, one row for all.')),
        inTheMiddle(measured),
      ][exchange] ?? done(measured),
    Which: ({ exchange }) =>
      [
        calls(query('select * from pg_locks')),
        calls(
          note(
            'finding',
            'The import holds a row lock on import_progress for the length of a chunk: everyone else waits up to 11 s for it.',
          ),
          note('step', 'Listed the locks of one chunk and who waits for them.'),
        ),
      ][exchange] ?? done('One row, import_progress, is locked for the length of a chunk. All else is short.'),
    Clear: ({ exchange, results }) =>
      [
        calls(note('plan', '1. Count dead rows 2. Vacuum the copy 3. Compare'), query('select n_dead_tup from pg_stat_user_tables')),
        calls(
          note('finding', 'orders on the copy has 61 % dead rows: autovacuum has been cancelled by the import every night since 2 March.'),
        ),
        say(
          'A full vacuum locks the table on the copy for about four minutes. I ask first.',
          call('operate', { command: 'vacuum (full, analyze) orders', target: 'staging-copy', timeout_minutes: 15 }),
        ),
      ][exchange] ?? done(`The table has 39 % of its size. ${results.join()}`),
    Review: ({ exchange }) =>
      [
        calls(note('plan', '1. Read the module 2. Try amounts that are known to hurt'), read('src/money.js')),
        calls(note('finding', 'toCents() in src/money.js truncates instead of rounding: 19.99 becomes 1998 cents.')),
        calls(note('decision', 'Report it, do not fix it: the release is frozen and the fix changes stored totals.')),
        inTheMiddle(reviewed),
      ][exchange] ?? done(reviewed),
    Tell: () => inTheMiddle(told),
    Move: ({ exchange }) =>
      [
        calls(note('decision', 'Copy in batches of 5,000 by id; a trigger keeps both in step meanwhile.')),
        calls(note('step', 'Both tables agree; the views read the new one.')),
      ][exchange] ?? done('Moved without a pause: 1.9 million rows in 14 minutes.'),
    List: ({ exchange }) =>
      [calls(note('finding', 'Two places: the import writes the whole row on a conflict; the mailer logs the envelope.'))][exchange] ??
      done('Two places write addresses to a log.'),
    'The test': ({ exchange }) =>
      exchange === 0
        ? calls(note('plan', 'Run it until it fails'))
        : { error: { status: 400, type: 'invalid_request_error', message: 'messages.4: the image is larger than 5 MB' } },
    // Goes on until somebody pauses it, however long that takes.
    Why: ({ exchange, description }) =>
      exchange === 0
        ? calls(note('plan', '1. Compare the two reports 2. Find the stores'), read('src/report.js'))
        : { ...calls(read(`src/report${exchange}.js`)), afterEvent: (count) => (count === 1 ? isToPause(description) : undefined) },
  };
}

/** A response that is held in the middle is silent for as long as a test takes: nothing may break it off. */
const PATIENT_MS = 24 * 3600_000;

/** Requests leave out what was said long ago: how far a conversation has come is counted here, and whom it delegated to is remembered. */
function counted(all: Record<string, (seen: Seen) => ScriptedReply>): typeof all {
  const far = new Map<string, { exchange: number; children: string[] }>();
  return Object.fromEntries(
    Object.entries(all).map(([name, role]) => [
      name,
      (seen: Seen) => {
        const key = `${seen.description}/${isForked.value}`;
        const before = far.get(key) ?? { exchange: isForked.value ? 4 : 0, children: [] };
        const children = seen.children.length > before.children.length ? seen.children : before.children;
        far.set(key, { exchange: before.exchange + 1, children });
        return role({ ...seen, exchange: before.exchange, children });
      },
    ]),
  );
}

/** The lead's conversation is another one once it was forked. */
const isForked = { value: false };

export async function startCrew(url: string, schema = 'ledger'): Promise<Crew> {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  isForked.value = false;
  const db = await openDb(url, schema);
  await withPrices(url, schema);
  let isClosed = false;
  /** Until it is to pause, or over. */
  const isToPause = async (description: string): Promise<void> => {
    await until(async () => isClosed || !(await isDriven(url, schema, description)), Infinity);
  };
  const model = await startTeam(counted(roles(held, isToPause)));
  const worker = await startWorker({
    url,
    schema,
    tools,
    log: pino({ level: 'silent' }),
    concurrency: 6,
    model: createModelClient({ apiKey: 'test-key', baseURL: model.url, idleTimeoutMs: PATIENT_MS, totalTimeoutMs: PATIENT_MS }),
    docker: null,
  });
  const some = tools.map((tool) => tool.name);
  const engage = { tools: some, model: 'claude-sonnet-5-5', max_turns: 40, elide_budget: 1000 };
  await db.facultySave({ name: 'engineer', accepts: ['analyze', 'test'], max_concurrent: 4, engage });
  await db.facultySave({ name: 'analyst', accepts: ['measure'], max_concurrent: 3, engage });
  await db.facultySave({ name: 'operator', accepts: ['operate'], engage: { ...engage, require_approval: 'dangerous' } });
  await db.facultySave({ name: 'reviewer', accepts: ['review'], max_concurrent: 1, engage });
  const submit = async (workType: string, description: string, more: object = {}): Promise<string> =>
    (await db.workSubmit({ workType, description, ...more })).id;
  const stateOf = async (id: string): Promise<string | undefined> => (await db.workItem(id))?.state;

  const moved = await submit('analyze', 'Move the session table to the new key without a pause.');
  const listed = await submit('analyze', 'List every place where a customer address is written to a log.');
  const broken = await submit('test', 'The test "retries are spread" fails once in forty runs. Find out why.');
  const paused = await submit('analyze', 'Why do two stores send their counts twice?');
  await until(async () => (await db.workProgress(paused)).turns >= 2);
  await db.workPause(paused, 'until the freeze is over');
  for (const id of [moved, listed, broken]) await until(async () => ['completed', 'failed'].includes((await stateOf(id)) ?? ''));
  const root = await submit('analyze', 'Find why the nightly import takes five hours, and make it finish before six in the morning.', {
    budget: { tokens: 2_500_000, money: 2, calls: 60, seconds: 900, children: 6 },
  });
  const review = await submit('review', 'Review how amounts are rounded in the invoice module before the release.');
  await until(async () => (await stateOf(root)) === 'waiting');
  const children = await db.workTrees([root]);
  const child = (begin: string): string => children.find((one) => one.description.startsWith(begin))?.id ?? '';
  const operate = child('Clear');
  await until(async () => (await db.approvals()).length === 1);
  await until(async () => (await stateOf(child('Which'))) === 'completed');
  await until(async () => (await db.workProgress(review)).turns >= 4 && (await db.workProgress(child('Measure'))).turns >= 6);
  await db.workMessage(root, 'Only the statement of the nightly run, please; the weekly one is retired next month.', false);
  await submit('review', 'Check the new discount codes against the price list of April.');
  const untaken = await submit('translate', 'Translate the runbook for the night shift.');
  await submit('analyze', 'Why does the report of 3 March miss two stores?', {
    priority: 2,
    runAt: new Date(Date.now() + 3 * 3600_000).toISOString(),
  });
  await until(async () => (await stateOf(paused)) === 'paused');
  const written = await writeNotes(db);
  return {
    db,
    ids: {
      root,
      measure: child('Measure'),
      locks: child('Which'),
      operate,
      review,
      failed: broken,
      paused,
      untaken,
      done: moved,
      note: written,
    },
    goOn,
    async close() {
      isClosed = true;
      goOn();
      await worker.stop();
      await model.close();
      await db.close();
    },
  };
}

/** What lasts: two notes, of which the one that is returned has a history and a reader. */
async function writeNotes(db: Db): Promise<string> {
  const path = '/memories/import.md';
  const first = '# The nightly import\n\nIt runs at one and must be over at six.\nMeasure on the copy, never on the live tables.\n';
  await db.notes.write(path, first, null, null, 'agreed on Monday');
  await db.notes.command({ command: 'view', path }, { project: null, workItemId: null, lease: null, reader: 'night shift' }, null);
  await db.notes.write(path, `${first}Nights with a clock change have 276 or 300 chunks.\n`, null, 1, 'asked twice in March');
  await db.notes.write('/memories/style.md', 'Tabs, no blanks.\nAmounts are in cents, and rounded once.\n', null, null, null);
  await db.notes.pin('/memories/style.md', true, null);
  return (await db.notes.read(path, null))?.file_id ?? '';
}

async function isDriven(url: string, schema: string, description: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select from ${client.escapeIdentifier(schema)}.work_items where description = $1 and state in ('claimed', 'running') and not is_pausing`,
    [description],
  );
  await client.end();
  return rows.length > 0;
}

async function withPrices(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`select ${client.escapeIdentifier(schema)}.model_price_save('claude-sonnet-5-5', 3, 15, 0.3, 3.75)`);
  await client.end();
}

/** From now on the lead's script is that of a fork. */
export function leadIsForked(): void {
  isForked.value = true;
}
