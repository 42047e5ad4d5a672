// What must be true of the rows at any time, held against what was said and done.

import type { Play } from './conversation.ts';
import { expect } from './expect.ts';
import { blocksOf } from './world.ts';
import type { Item } from './world.ts';

export async function checkStanding(play: Play): Promise<void> {
  await checkItems(play);
  await checkLedgers(play);
  await checkInboxes(play);
  await checkNewsShown(play);
  await checkSessions(play);
}

/** Every invariant of the ledger holds, of all that was played. Reads all of it: once in a conversation. */
export async function checkInvariants(play: Play): Promise<void> {
  const broken = await play.ledger.rows('select * from ledger.work_ledger_check($1::uuid[])', idsOf(play));
  expect(broken.length === 0, () => `work_ledger_check() finds ${JSON.stringify(broken)}`);
}

const idsOf = ({ world }: Play): string[] => world.items.map((item) => item.id);

/** Final states stay as they are. */
async function checkItems(play: Play): Promise<void> {
  const { ledger, world } = play;
  const rows = await ledger.rows<{ id: string; state: string; outcome: string }>(
    'select id, state, (resolved_at, outcome_data, state_reason)::text as outcome from ledger.work_items where id = any ($1::uuid[])',
    idsOf(play),
  );
  for (const row of rows) {
    const item = world.items.find((one) => one.id === row.id) as Item;
    const isOver = ['completed', 'failed', 'dead', 'cancelled'].includes(row.state);
    expect(isOver === (item.end !== null), `${item.name} is ${row.state}, and it was ${item.end ?? 'not over'}`);
    if (!isOver) continue;
    expect(item.end === row.state, `${item.name} is ${row.state}, and it was ${item.end}`);
    item.outcome ??= row.outcome;
    expect(item.outcome === row.outcome, `what came of ${item.name} changed: ${row.outcome} was ${item.outcome}`);
  }
}

/** What the engine did to them is what was meant to be done. */
export async function checkChains(play: Play): Promise<void> {
  // The ledger's own code is compared with each call of ledger_verify(), and is the same for all items.
  const found = await play.ledger.rows(
    `select * from ledger.ledger_verify($1::uuid)
     union all select i, p.place, p.problem from unnest($2::uuid[]) i, lateral ledger._item_problems(i) p`,
    idsOf(play)[0],
    idsOf(play).slice(1),
  );
  expect(found.length === 0, () => `the chains do not hold: ${JSON.stringify(found)}`);
}

/** The entries that were acknowledged, in their order. */
async function checkLedgers(play: Play): Promise<void> {
  const rows = await play.ledger.rows<{ id: string; entries: { type: string; content: string; isAuto: boolean }[] }>(
    `
    select work_item_id as id, json_agg(json_build_object('type', entry_type, 'content', content, 'isAuto', is_auto) order by seq) as entries
      from ledger.work_ledger where work_item_id = any ($1::uuid[]) group by 1`,
    idsOf(play),
  );
  for (const item of play.world.items) {
    const row = rows.find((one) => one.id === item.id);
    const entries = (row?.entries ?? []).filter((entry, n) => !entry.isAuto || n < item.entries.length);
    const is = entries.map((entry) => `${entry.type}: ${entry.content}`);
    const was = item.entries.map((entry) => `${entry.type}: ${entry.content}`);
    expect(
      JSON.stringify(is) === JSON.stringify(was),
      () => `the ledger of ${item.name} holds\n${is.join('\n')}\nand acknowledged was\n${was.join('\n')}`,
    );
  }
}

/** The result of a wait that is over told of its children: nothing more waits of them. */
export async function learnAwaited({ ledger, world }: Play): Promise<void> {
  const rows = await ledger.rows<{ id: string; source: string }>(
    'select work_item_id as id, source_work_item_id as source from ledger.inbox where tool_call_id is not null and work_item_id = any ($1::uuid[])',
    world.items.map((item) => item.id),
  );
  for (const item of world.items)
    item.inbox = item.inbox.filter((told) => !rows.some((row) => row.id === item.id && row.source === told.mark));
}

/** What waits in the inbox is what was not told. */
async function checkInboxes(play: Play): Promise<void> {
  await learnAwaited(play);
  const rows = await play.ledger.rows<{ id: string; waits: string }>(
    `select work_item_id as id, case kind when 'child_result' then source_work_item_id::text else content end as waits from ledger.inbox where consumed_at is null and work_item_id = any ($1::uuid[])`,
    idsOf(play),
  );
  for (const item of play.world.open) {
    const waits = rows
      .filter((row) => row.id === item.id)
      .map((row) => row.waits)
      .toSorted();
    const should = item.inbox.map((told) => told.text).toSorted();
    expect(
      JSON.stringify(waits) === JSON.stringify(should),
      () => `in the inbox of ${item.name} waits ${JSON.stringify(waits).slice(0, 300)}, and should ${JSON.stringify(should).slice(0, 300)}`,
    );
  }
}

/** Noted as shown is what was in requests that were answered. */
async function checkNewsShown(play: Play): Promise<void> {
  const rows = await play.ledger.rows<{ focus_id: string; mark: string }>(
    `
    select distinct a.focus_id, substring(l.content from 'n[0-9]+z') as mark
      from ledger.awareness_shown a join ledger.work_ledger l on l.work_item_id = a.work_item_id and l.seq = a.seq
      join ledger.foci f on f.id = a.focus_id
     where f.work_item_id = any ($1::uuid[]) and l.content ~ 'n[0-9]+z'`,
    idsOf(play),
  );
  for (const item of play.world.items) {
    if (item.focusId === null || item.end !== null) continue;
    const noted = rows.filter((row) => row.focus_id === item.focusId).map((row) => row.mark);
    const told = [...(item.news.get(item.focusId) ?? [])];
    expect(
      JSON.stringify(noted.toSorted()) === JSON.stringify(told.toSorted()),
      () => `${item.name} is noted to have been told ${noted.join(', ')}, and was told ${told.join(', ')}`,
    );
  }
}

/** Heads are where the newest answer is, each move is logged, and no move is taken back. */
async function checkSessions(play: Play): Promise<void> {
  const rows = await play.ledger.rows<{
    id: string;
    head: string | null;
    logged: string | null;
    moves: number;
    turn: string | null;
    focus_id: string;
  }>(
    `
    select f.work_item_id as id, f.id as focus_id, s.head_turn_id as head, count(h.id)::integer as moves, (array_agg(h.turn_id order by h.id desc))[1] as logged,
           (with recursive up as (select t.* from ledger.turns t where t.id = s.head_turn_id union all
              select p.* from up u join ledger.turns p on p.id = u.parent_turn_id where u.turn_type = 'compaction')
            select u.id from up u where u.turn_type = 'normal' limit 1) as turn
      from ledger.foci f join ledger.sessions s on s.label = f.session_label left join ledger.session_history h on h.session_label = s.label
     where f.work_item_id = any ($1::uuid[]) group by f.id, s.label order by f.attempt`,
    idsOf(play),
  );
  for (const row of rows) {
    const item = play.world.items.find((one) => one.id === row.id) as Item;
    expect(row.head === row.logged, `the head of ${item.name}'s session is ${row.head}, and its log says ${row.logged}`);
    expect(row.moves >= (item.moves.get(row.focus_id) ?? 0), `the log of ${item.name}'s session is shorter than it was`);
    item.moves.set(row.focus_id, row.moves);
    if (row.focus_id === item.focusId && item.end === null)
      expect(
        row.turn === (item.head?.turnId ?? null),
        `the head of ${item.name}'s session is ${row.turn}, and answered was ${item.head?.turnId}`,
      );
  }
}

/** Every call of a closed block comes back, with its result. */
export async function checkRecall({ ledger, world }: Play, item: Item, which?: number): Promise<void> {
  const { placed, open } = blocksOf(item.head);
  const first = placed[0]?.exchange.firstBlock ?? open;
  if (open === first) return;
  const blocks = which === undefined ? Array.from({ length: open - first }, (_, n) => first + n) : [first + (which % (open - first))];
  for (const block of blocks) {
    const exchanges = placed.filter((one) => one.block === block).map((one) => one.exchange);
    if (exchanges.length === 0) continue; // a step in the very first response closes an empty block
    const text = String(await ledger.call('recall_block', item.id, block, null));
    const isLong = Buffer.byteLength(text) > 60_000;
    for (const call of exchanges.flatMap((one) => one.calls)) {
      const mark = /[a-z]\d+z/.exec(JSON.stringify(call.input))?.[0] ?? call.name;
      const said = call.result === null || call.result === 'stopped' ? null : /r\d+z/.exec(call.result.text)?.[0];
      if (!isLong)
        expect(
          text.includes(mark) && (said === null || said === undefined || text.includes(said)),
          () => `block ${block} of ${item.name} does not bring back ${call.name} ${JSON.stringify(call.input)}: ${text.slice(0, 300)}`,
        );
    }
    for (const feature of ['fork', 'retry', 'compaction', 'continued'])
      if (item.features.has(feature)) world.met(feature, 'recall of a block');
  }
}
