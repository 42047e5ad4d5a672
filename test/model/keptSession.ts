// A session of the Claude Agent SDK that is kept in the ledger while agents work, with that of its subagent: appended in batches, some of
// which are lost, read by two processes or by a worker, met by an import of its file, resumed elsewhere, forked, erased. It records
// findings, of which the agents are told, and claims what they claim.

import { randomUUID } from 'node:crypto';

import { LinesReader } from '../../plv8/readers/recordedRun.ts';
import { readLeftTranscripts, TranscriptReader } from '../../runtime/import/readTranscript.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { TranscriptKey } from '../../runtime/ledger/transcripts.ts';
import type { Act } from './commands.ts';
import type { Play } from './conversation.ts';
import { expect } from './expect.ts';
import { Refused } from './ledger.ts';
import type { Fault, Ledger } from './ledger.ts';
import { linesOf, nameOf } from './sessionLines.ts';
import type { Line } from './sessionLines.ts';

type Happens = Extract<Act, { do: 'session' }>;

/** What its program has said of one transcript, and what became of it. */
class Transcript {
  readonly key: TranscriptKey;
  readonly lines: readonly Line[];
  /** So many of its lines are said, and in its file. */
  said = 0;
  /** What was appended, in order. */
  kept: Line[] = [];
  /** The lines of which the ledger was told. */
  readonly told = new Set<Line>();
  /** Of two processes, and of whoever goes on elsewhere. */
  readers: (TranscriptReader | undefined)[] = [];
  isErased = false;

  constructor(key: TranscriptKey, lines: readonly Line[]) {
    this.key = key;
    this.lines = lines;
  }

  get args(): [string, string, string | null] {
    return [this.key.projectKey, this.key.sessionId, this.key.subpath ?? null];
  }
}

export class KeptSession {
  readonly #play: Play;
  readonly #sessionId = randomUUID();
  readonly #word = `word${randomUUID().replaceAll('-', '')}`;
  readonly #main: Transcript;
  readonly #agent: Transcript;
  /** Befalls the next import of what was read. */
  #fault: Fault | null = null;
  #isMissed = false;
  #isForked = false;
  /** Its work item, once it was read. */
  itemId: string | null = null;

  constructor(play: Play) {
    this.#play = play;
    const at = { projectKey: 'model', sessionId: this.#sessionId };
    const { main, agent } = linesOf(this.#sessionId, this.#word);
    this.#main = new Transcript(at, main);
    this.#agent = new Transcript({ ...at, subpath: 'subagents/agent-a1' }, agent);
  }

  async happens({ what, count, by, fault }: Happens): Promise<void> {
    if (this.#main.isErased) return;
    // The subagent works while its session waits for it.
    const of = by === 0 && this.#main.said > 9 && !this.#agent.isErased ? this.#agent : this.#main;
    if (fault !== null) this.#met(fault);
    switch (what) {
      case 'append':
        return this.#append(of, count, fault);
      case 'miss':
        of.said = Math.min(of.said + count, of.lines.length);
        this.#isMissed = true;
        return this.#met('missed lines');
      case 'read':
        return this.#read(by, fault);
      case 'left':
        return this.#readLeft();
      case 'import':
        return this.#import(fault);
      case 'resume':
        return this.#resume();
      case 'finding':
        return this.#finds();
      case 'claim':
        return this.#claims();
      case 'fork':
        return this.#fork();
      case 'erase agent':
        return this.#agent.kept.length > 0 && !this.#agent.isErased ? this.#erase(this.#agent) : undefined;
      case 'erase':
        return this.#erase(this.#main);
    }
  }

  /** In the end everything was said, and is as it would be if it had been imported once. */
  async end(fresh: Ledger): Promise<void> {
    if (this.#main.isErased || this.itemId === null) return;
    await this.#read(0, null);
    await this.#import(null);
    for (const of of this.#transcripts()) for (const run of runsOf(of)) await fresh.call('session_import', run);
    const [is, should] = [await this.#stored(this.#play.ledger), await this.#stored(fresh)];
    expect(is === should, () => `a kept session is\n${is}\n, and one import of its file gives\n${should}`);
  }

  #met(feature: string): void {
    this.#play.world.met('kept session', feature);
  }

  #transcripts(): Transcript[] {
    return [this.#main, this.#agent].filter((of) => !of.isErased);
  }

  async #append(of: Transcript, count: number, fault: Fault | null): Promise<void> {
    const { ledger, world } = this.#play;
    // A retry may have more than what it retries.
    const again = fault === 'repeated' ? of.kept.slice(-2) : [];
    const batch = of.lines.slice(of.said, of.said + count);
    of.said += batch.length;
    if (batch.length === 0) return;
    of.kept.push(...batch);
    ledger.fault = fault;
    const entries = [...again, ...batch];
    const lines = `[${entries.map(({ entry }) => entry).join(',')}]`;
    const uuids = entries.map(({ uuid }) => uuid);
    const said = (await ledger.call('transcript_append', ...of.args, lines, uuids, world.project)) as { appended: number };
    expect(said.appended === batch.length, () => `${JSON.stringify(said)}, and ${batch.length} lines were new`);
    if (of === this.#agent) this.#met('subagent');
    await this.#checkLoaded(of);
  }

  async #checkLoaded(of: Transcript): Promise<void> {
    const loaded = await this.#play.ledger.all<{ entry: string }>('transcript_load', ...of.args);
    const isWhole = JSON.stringify(loaded.map(({ entry }) => entry)) === JSON.stringify(of.kept.map(({ entry }) => entry));
    expect(isWhole, () => `${loaded.length} lines of a session come back, and should be the ${of.kept.length} that were appended`);
  }

  async #read(by: number, fault: Fault | null): Promise<void> {
    this.#fault = fault;
    for (const of of this.#transcripts()) {
      if (of.kept.length === 0) continue;
      of.readers[by] ??= new TranscriptReader(this.#db(), of.key, { isLive: by === 1 && of === this.#main });
      const wait = await of.readers[by].readOn();
      expect(wait === 0, 'what was appended to a session could not be read');
    }
    this.#fault = null;
    await this.#learn();
  }

  /** Its program has ended, and a worker reads what it left. */
  async #readLeft(): Promise<void> {
    this.#play.ledger.now += 11_000;
    await readLeftTranscripts(this.#db());
    this.#met('read by a worker');
    await this.#learn();
  }

  /** Its file, with what was never appended. */
  async #import(fault: Fault | null): Promise<void> {
    const { ledger } = this.#play;
    for (const of of [this.#main, this.#agent]) {
      for (const run of runsOf(of)) {
        ledger.fault = fault;
        const given = { ...run, ...(this.#play.world.project !== null && { project: this.#play.world.project }) };
        const answer = await ledger.call('session_import', given).catch((error: unknown) => error);
        if (of.isErased) expect(answer instanceof Refused && answer.code === 'WL003', 'an erased session comes back by its file');
        else if (answer instanceof Error) throw answer;
        this.#met('import of its file');
      }
      if (runsOf(of).length > 0) for (const line of of.lines.slice(0, of.said)) of.told.add(line);
    }
    await this.#check();
  }

  async #resume(): Promise<void> {
    for (const of of this.#transcripts()) {
      of.readers = [];
      await this.#checkLoaded(of);
    }
    this.#met('resume');
  }

  /** What a reader asks of the ledger, at the time of the conversation. */
  #db(): Db {
    const { ledger } = this.#play;
    const args = ({ projectKey, sessionId, subpath }: TranscriptKey): unknown[] => [projectKey, sessionId, subpath ?? null];
    const transcripts: Pick<Db['transcripts'], 'load' | 'take' | 'understood'> = {
      load: (key, after, { limit, bytes }) => ledger.all('transcript_load', ...args(key), after, limit, bytes),
      take: (limit) => ledger.all('transcripts_take', '10 seconds', limit),
      understood: async (key, seq, problem) => (await ledger.all<never>('transcript_understood', ...args(key), seq, problem))[0]!,
    };
    const sessionImport = (run: object): Promise<unknown> => {
      ledger.fault = this.#fault;
      this.#fault = null;
      return ledger.call('session_import', run);
    };
    return { transcripts, sessionImport } as unknown as Db;
  }

  /** What was read is what was appended. */
  async #learn(): Promise<void> {
    for (const of of this.#transcripts()) {
      const [row] = await this.#play.ledger.rows<{ understood: number; last: number; problem: string | null }>(
        `select understood_seq as understood, last_seq as last, problem from ledger.transcripts
          where session_id = $2 and project_key = $1 and subpath = coalesce($3, '')`,
        ...of.args,
      );
      if (!row) continue;
      expect(
        row.problem === null && row.last === of.kept.length,
        () => `of a transcript of ${of.kept.length} lines: ${JSON.stringify(row)}`,
      );
      for (const line of of.kept.slice(0, row.understood)) of.told.add(line);
    }
    await this.#check();
  }

  /** Each response that the ledger was told of is one turn, with its blocks in the order of the file. */
  async #check(): Promise<void> {
    const { ledger } = this.#play;
    const responses: Record<string, string[]> = {};
    for (const of of this.#transcripts())
      for (const line of of.lines)
        if (line.response !== null && of.told.has(line)) (responses[line.response] ??= []).push(...line.blocks.map(nameOf));
    const rows = await ledger.rows<{ id: string; names: string[]; turns: number; calls: number }>(
      `select t.response_id as id, count(*) over ()::integer as turns, (select count(*)::integer from ledger.tool_calls k where k.turn_id = t.id) as calls,
              (select array_agg(coalesce(b.value ->> 'id', b.value ->> 'text') order by m.sequence, b.n)
                 from ledger.messages m, json_array_elements(m.content) with ordinality b(value, n) where m.turn_id = t.id and m.role = 'assistant') as names
         from ledger.turns t join ledger.work_items w on w.id = t.work_item_id
        where w.external_id like 'import:claude-code:' || $1 || '%' and w.erased_at is null`,
      this.#sessionId,
    );
    const stored = Object.fromEntries(rows.map(({ id, names }) => [id, names]));
    const inOrder = (all: Record<string, string[]>): string => JSON.stringify(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    expect(inOrder(stored) === inOrder(responses), () => `a kept session is ${inOrder(stored)}, and should be ${inOrder(responses)}`);
    expect(rows.length === Object.keys(stored).length, 'a response of a kept session is two turns');
    for (const { id, names, calls } of rows)
      expect(
        calls === names.filter((name) => name.startsWith('toolu_')).length,
        `a call of the response ${id} is there twice, or not at all`,
      );
    const items = await ledger.rows<{ id: string }>(
      `select id from ledger.work_items where external_id = 'import:claude-code:' || $1`,
      this.#sessionId,
    );
    expect(items.length <= 1 && (this.itemId === null || items[0]?.id === this.itemId), 'a session became another item');
    this.itemId = items[0]?.id ?? null;
  }

  /**
   * All that was made of it, and nothing that is of a ledger: ids, times. Where lines came late, turns follow one another as they became known,
   * and a call whose result came after the next response has failed for good.
   */
  async #stored(ledger: Ledger): Promise<string> {
    const rows = await ledger.rows<{ of: unknown }>(
      `select json_build_object('session', w.external_id, 'response', t.response_id, 'after', case when $2 then p.response_id end, 'model', t.model, 'status', t.status,
                'tokens', array[t.total_tokens, t.input_tokens, t.output_tokens, t.cached_input_tokens],
                'said', (select json_agg(json_build_array(m.role, b.value) order by m.role, m.sequence, b.n)
                           from ledger.messages m, json_array_elements(m.content) with ordinality b(value, n)
                          where m.turn_id = t.id and ($2 or m.role = 'assistant')),
                'calls', (select json_agg(json_build_array(coalesce(k.given_id, k.provider_id), k.tool_name, k.input, k.external_id,
                                                              case when $2 then json_build_array(k.status, k.result, k.is_error) end)
                                   order by coalesce(k.given_id, k.provider_id)) from ledger.tool_calls k where k.turn_id = t.id)) as of
         from ledger.turns t join ledger.work_items w on w.id = t.work_item_id left join ledger.turns p on p.id = t.parent_turn_id
        where w.external_id like 'import:claude-code:' || $1 || '%' and (not $3 or w.external_id not like '%#%') order by w.external_id, t.response_id`,
      this.#sessionId,
      !this.#isMissed,
      this.#agent.isErased,
    );
    return rows.map(({ of }) => JSON.stringify(of)).join('\n');
  }

  async #finds(): Promise<void> {
    if (this.itemId === null) return;
    const { world, ledger } = this.#play;
    const mark = world.mark('n');
    await unlessOver(async () => {
      await ledger.call('ledger_append', this.itemId, 'finding', `Seen ${mark}\n[engine] so it is`);
      world.newsOfSession.add(mark);
    });
  }

  /** As its hooks do, which say that it is alive. */
  async #claims(): Promise<void> {
    const id = this.itemId;
    if (id === null) return;
    await unlessOver(async () => {
      await this.#play.ledger.call('journal_heartbeat', id);
      for (const key of ['lock 0', 'lock 1']) await this.#play.ledger.call('claim_take', id, key);
      this.#met('claim');
    });
  }

  /** Who claims what it holds is told that it does. */
  async checkClaim(key: string, told: string): Promise<void> {
    if (this.itemId === null) return;
    const held = await this.#play.ledger.rows(
      'select from ledger.v_claims where work_item_id = $1 and key = $2 and is_binding',
      this.itemId,
      key,
    );
    if (held.length === 0) return;
    expect(told.includes(`work item ${this.itemId}`), () => `a session holds ${key}, and who claims it is told: ${told}`);
    this.#met('claim that is taken');
  }

  async #fork(): Promise<void> {
    const { ledger, world } = this.#play;
    const [turn] = await ledger.rows<{ id: string }>(
      `select t.id from ledger.turns t where t.work_item_id = $1
          and not exists (select from ledger.tool_calls k where k.turn_id = t.id and k.completed_at is null) order by t.depth desc limit 1`,
      this.itemId,
    );
    if (!turn || this.#isForked) return;
    this.#isForked = true;
    const { id } = (await ledger.call('work_fork', turn.id, 'Try another way', world.items[0]?.faculty, `fork ${this.#sessionId}`)) as {
      id: string;
    };
    await ledger.call('work_cancel', id, 'looked at');
    this.#met('fork');
  }

  /** What work that is over was told of it is taken from its requests, too, which are compared to the end: so only where there is none. */
  async #erase(of: Transcript): Promise<void> {
    const { ledger, world } = this.#play;
    if (of.kept.length === 0 || world.newsOfSession.size > 0) return;
    const told = await ledger.rows(
      `select from ledger.work_items w cross join lateral ledger._quotes(array[w.id]) q
        where w.external_id like 'import:claude-code:' || $1 || '%' and ledger._is_told_over(q.work_item_id)`,
      this.#sessionId,
    );
    if (told.length > 0) return;
    const erased = await ledger.call('transcript_delete', ...of.args).catch((error: unknown) => error);
    if (of === this.#main && this.#isForked) {
      expect(erased instanceof Refused && erased.code === 'WL008', () => `turns that a fork shares are erased: ${String(erased)}`);
      return;
    }
    if (erased instanceof Error) throw erased;
    of.isErased = true;
    this.#met(of === this.#main ? 'erasure' : 'erasure of a subagent');
    for (const each of of === this.#main ? [this.#main, this.#agent] : [this.#agent]) {
      each.kept = [];
      await this.#checkLoaded(each);
      const line = each.lines[0]!;
      const refused = await ledger
        .call('transcript_append', ...each.args, `[${line.entry}]`, [line.uuid], world.project)
        .catch((error: unknown) => error);
      expect(refused instanceof Refused && refused.code === 'WL003', () => `an erased session goes on: ${JSON.stringify(refused)}`);
    }
    if (of !== this.#main) return;
    expect(erased === 1 || erased === 2, `${String(erased)} transcripts were erased`);
    await this.#checkGone();
    await this.#import(null);
  }

  /** Nothing of it stays, but that it was, and what it did in digests of work under way: those go when that is over. */
  async #checkGone(): Promise<void> {
    const { ledger } = this.#play;
    this.#agent.isErased = true;
    const tables = await ledger.rows<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'ledger' order by 1`);
    for (const { name } of tables) {
      const left = await ledger.rows(`select from ledger."${name}" t where t::text like $1 limit 1`, `%${this.#word}%`);
      expect(left.length === 0, `words of an erased session are left in ${name}`);
    }
    const described = await ledger.rows(
      `select from ledger.work_items where external_id like 'import:claude-code:' || $1 || '%' and description <> '[erased]'`,
      this.#sessionId,
    );
    expect(described.length === 0, 'an erased session says what it did');
    const [stone] = await ledger.rows('select from ledger.transcripts where session_id = $1 and deleted_at is not null', this.#sessionId);
    expect(stone !== undefined, 'nobody knows any more that an erased session was');
  }
}

/** A session that was imported before it was kept is over; one whose program is not heard from claims nothing. */
async function unlessOver(write: () => Promise<unknown>): Promise<void> {
  await write().catch((error: unknown) => {
    if (!(error instanceof Refused && ['WL003', 'WL008'].includes(error.code))) throw error;
  });
}

/** What an import reads in the file that its program writes; nothing where it holds no answer. */
function runsOf({ key, lines, said }: Transcript): object[] {
  const reader = new LinesReader(key.sessionId);
  for (const { entry } of lines.slice(0, said)) reader.read(entry);
  return lines.slice(0, said).some(({ response }) => response !== null)
    ? reader.peek().map((run) => ({ ...run, sessionId: run.sessionId ?? key.sessionId }))
    : [];
}
