// What people and programs look at, held against the rows that it is made of and against what was said and done: the trace,
// cost, use and metrics, the timeline, the journal, the tree of turns, search, comparisons; and, at any moment, what goes on.

import { checkResumed } from './checkResumed.ts';
import type { Play } from './conversation.ts';
import type { Metric, Span } from './exports.ts';
import { expect } from './expect.ts';
import { chainOf } from './world.ts';
import type { Item } from './world.ts';

type Turn = {
  id: string;
  parent: string | null;
  item: string;
  focus: string | null;
  session: string | null;
  status: string;
  type: string;
  is_applied: boolean | null;
  depth: number;
  tokens: string;
  is_answered: boolean;
};

/** What is looked at, and by what it is held. */
type Sight = { play: Play; ids: string[]; turns: Map<string, Turn> };

/** When all is over. */
export async function checkLooking(play: Play): Promise<void> {
  const ids = play.world.items.map((item) => item.id);
  const turns = await play.ledger.rows<Turn>(
    `
    select t.id, t.parent_turn_id as parent, t.work_item_id as item, t.focus_id as focus, f.session_label as session, t.status, t.turn_type as type,
           c.is_applied, t.depth, t.total_tokens as tokens, t.total_tokens > 0 as is_answered
      from ledger.turns t left join ledger.foci f on f.id = t.focus_id left join ledger.compactions c on t.turn_type = 'compaction' and c.turn_id = t.id
     where t.work_item_id = any ($1::uuid[])`,
    ids,
  );
  const sight = { play, ids, turns: new Map(turns.map((turn) => [turn.id, turn])) };
  await play.exports.end();
  await checkTrace(sight);
  await checkCost(sight);
  await checkMetrics(sight);
  await checkSizes(sight);
  await checkTimelines(sight);
  await checkJournals(sight);
  await checkRuns(sight);
  await checkTrees(sight);
  await checkSearch(sight);
  await checkBranches(sight);
  for (const id of ids.filter((_, n) => n % 8 === 0)) await checkResumed(play.ledger, id);
}

/** At any moment. */
export async function checkNow({ world, ledger }: Play): Promise<void> {
  const open = world.items.filter((item) => item.end === null).map((item) => item.id);
  if (open.length % 9 === 1) await checkResumed(ledger, open.at(-1)!);
  const rows = await ledger.rows<{
    id: string;
    from: string;
    doing: string | null;
    waits_for: string | null;
    why: string | null;
    should: string | null;
    children: number;
  }>(`
    select l.*, case
        when w.state in ('claimed', 'running') and exists (
          select from ledger.foci f where f.id = w.focus_id and f.lease_owner is not null and f.lease_expires_at <= ledger._now()) then 'worker'
        when ledger._is_driven(w.id) then null
        when w.state = 'paused' then 'person'
        when w.state = 'waiting' and not w.is_stranded and (
            w.run_at <= ledger._now() or not coalesce(k.are_open, false) and not a.are_open and (k.waits or a.are_decided)) then 'worker'
        when w.state = 'waiting' and a.are_open then 'approval'
        when w.state = 'waiting' and k.ids is not null then 'children'
        when w.state = 'waiting' and k.others then 'work'
        when w.state = 'waiting' and k.claims then 'claim'
        when w.state = 'waiting' and k.waits then 'time'
        when w.state = 'waiting' then 'budget'
        when w.run_at > ledger._now() then 'time'
        else 'worker' end as should,
      (select count(*)::integer from ledger.work_items c where c.id = any (k.ids) and c.resolved_at is null) as children
      from (select work_item_id as id, 'v_now' as from, doing, waits_for, why from ledger.v_now
            union all select work_item_id, 'v_queue', null, waits_for, why from ledger.v_queue) l
      join ledger.work_items w on w.id = l.id
      cross join lateral (
        select coalesce(bool_or(a.decision is null), false) as are_open, coalesce(bool_or(a.decision is not null), false) as are_decided
          from ledger.approvals a join ledger.tool_calls k on k.id = a.tool_call_id where a.work_item_id = w.id and k.status = 'waiting') a
      left join lateral (
        select array_agg(i.id::uuid) filter (where k.tool_name = 'await_child_work') as ids, bool_or(i.id is not null) as others, bool_or(k.input ->> 'claim' is not null) as claims, true as waits,
               bool_or(i.id is null or exists (select from ledger.work_items c where c.id = i.id::uuid and c.resolved_at is null)) as are_open
          from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id
          left join jsonb_array_elements_text(k.input::jsonb -> 'work_item_ids') i(id) on true
         where t.focus_id = w.focus_id and k.tool_name in ('await_child_work', 'wait_for') and k.status = 'waiting' having count(*) > 0) k on true`);
  same(
    'what v_now and v_queue show',
    rows.map((row) => row.id),
    open,
  );
  for (const row of rows) {
    const item = world.items.find((one) => one.id === row.id) as Item;
    expect(
      ({ retry: 'time', cooldown: 'worker' }[row.waits_for ?? ''] ?? row.waits_for) === row.should,
      () => `${item.name} is said to wait for ${row.waits_for} (${row.why}), and waits for ${row.should}`,
    );
    expect((row.waits_for === null) === (row.why === null), () => `${item.name} waits for ${row.waits_for}, because: ${row.why}`);
    if (row.waits_for === 'children')
      expect(row.why === `waits for ${row.children} of its children`, () => `${item.name}: ${row.why}, and it awaits ${row.children}`);
    if (row.why?.startsWith('lost its worker')) expect(row.doing === 'waits', () => `${item.name} lost its worker and ${row.doing}`);
    if (row.from === 'v_now' && item.isInFlight && row.waits_for === null)
      expect(row.doing === 'model', () => `${item.name} asks the model, and v_now says "${row.doing}"`);
  }
  const slots = await ledger.rows<{ faculty: string; used: number; leased: number }>(
    `
    select s.faculty, s.used, case when s.project is not distinct from $2 then (
             select count(*)::integer from ledger.v_leases l join ledger.foci f on f.id = l.focus_id where f.faculty = s.faculty) else 0 end as leased
      from ledger.v_slots s where s.faculty = any ($1::text[])`,
    [...world.policies.keys()],
    world.project,
  );
  for (const slot of slots)
    expect(slot.used === slot.leased, () => `v_slots counts ${slot.used} of "${slot.faculty}", and ${slot.leased} are driven`);
}

/** Nothing was written past the functions, so nothing is wrong. */
export async function checkDoctor({ ledger }: Play): Promise<void> {
  const found = await ledger.rows<{ says: string }>(
    `select says from ledger.work_ledger_doctor() where severity = 'error' and code not in ('durability', 'workers', 'leases')`,
  );
  expect(found.length === 0, () => `work_ledger_doctor() finds in a healthy ledger: ${found.map((one) => one.says).join('; ')}`);
}

function same(what: string, is: readonly string[], should: readonly string[]): void {
  const [a, b] = [is.toSorted(), should.toSorted()];
  expect(JSON.stringify(a) === JSON.stringify(b), () => {
    const extra = a.filter((one, n) => !b.includes(one) || a.indexOf(one) !== n);
    return `${what}: missing are ${JSON.stringify(b.filter((one) => !a.includes(one))).slice(0, 400)}, too many are ${JSON.stringify(extra).slice(0, 400)}`;
  });
}

/** Each thing that happened is one span, below the one that it happened in; what was exported bit by bit is all of it. */
async function checkTrace({ play: { ledger, world, exports }, ids }: Sight): Promise<void> {
  const roots = world.items.filter((item) => item.parent === null && !item.isFork);
  const spans = new Map<string, Span>();
  for (const root of roots) {
    for (const span of await ledger.all<Span>('work_trace', root.id)) {
      expect(!spans.has(span.span_id), () => `two spans have one id: ${JSON.stringify(span)}`);
      spans.set(span.span_id, span);
    }
  }
  const kindOf = (span: Span | undefined): string => {
    const kind = span?.attributes['work.span'];
    return typeof kind === 'string' ? kind : '';
  };
  const at = (time: string): number => Date.parse(time);
  const inside: Record<string, string> = {
    'work.engage.iteration': 'work.engage',
    'gen_ai.chat': 'work.engage.iteration work.context.compaction',
    'work.context.compaction': 'work.engage.iteration',
    'work.tool.execute': 'work.engage.iteration',
    'sandbox.tool.call': 'work.tool.execute',
    'work.orient': 'work.execute',
    'work.recover': 'work.execute',
    'work.engage': 'work.execute',
    'work.consolidate': 'work.execute',
    'work.awareness.digest': 'work.orient work.engage.iteration',
  };
  for (const span of spans.values()) {
    const says = (): string => JSON.stringify(span).slice(0, 600);
    expect(at(span.ended_at) >= at(span.started_at), () => `a span ends before it begins: ${says()}`);
    const parent = span.parent_span_id === null ? undefined : spans.get(span.parent_span_id);
    expect(
      parent !== undefined || (span.parent_span_id === null && kindOf(span) === 'work.item'),
      () => `a span without its parent: ${says()}`,
    );
    if (kindOf(span) === 'work.item') {
      expect(parent === undefined, () => `an item below something: ${says()}`);
    } else if (kindOf(span) === 'work.execute') {
      expect(
        kindOf(parent) === 'work.item' || parent?.attributes['work.tool.name'] === 'spawn_child_work',
        () => `work under ${parent?.name}: ${says()}`,
      );
    } else {
      expect((inside[kindOf(span)] ?? '').split(' ').includes(kindOf(parent)), () => `a span under ${parent?.name}: ${says()}`);
      // What digests and compactions took is measured by the clock of the machine, which is not the one of the ledger here.
      const slack = ['work.awareness.digest', 'work.context.compaction', 'work.engage.iteration', 'work.engage'].includes(kindOf(span))
        ? 2000
        : 0;
      expect(
        at(span.started_at) + slack >= at(parent?.started_at ?? '') && at(span.ended_at) <= at(parent?.ended_at ?? ''),
        () => `a span that is not within its parent: ${says()} in ${JSON.stringify(parent).slice(0, 600)}`,
      );
      expect(span.trace_id === parent?.trace_id, () => `a span in another trace than its parent: ${says()}`);
    }
    for (const event of span.events)
      expect(
        at(event.at) >= at(span.started_at) && at(event.at) <= at(span.ended_at),
        () => `${event.name} is not within its span: ${says()}`,
      );
    // A child that never began has no span that could be linked to.
    for (const link of span.links.filter((one) => !['spawned', 'awaits'].includes(one.attributes['work.link'] ?? '')))
      expect(spans.has(link.span_id) && spans.get(link.span_id)?.trace_id === link.trace_id, () => `a link that leads nowhere: ${says()}`);
  }
  const rows = await ledger.rows<{ id: string }>(
    `
    with item as (select unnest($1::uuid[]) as id), f as (select f.id, f.work_item_id, f.attempt from ledger.foci f join item i on i.id = f.work_item_id)
    select concat_ws(' ', 'work.execute', work_item_id, attempt) as id from f
    union all select concat_ws(' ', 'work.item', f.work_item_id) from f join ledger.work_items w on w.id = f.work_item_id
      left join ledger.tool_calls k on k.id = w.spawn_tool_call_id left join ledger.turns t on t.id = k.turn_id where f.attempt = 1 and t.focus_id is null
    union all select concat_ws(' ', 'gen_ai.chat', t.id, n) from ledger.turns t join f on f.id = t.focus_id cross join generate_series(1, t.call_count) n
    union all select concat_ws(' ', case when k.parent_call_id is null then 'work.tool.execute' else 'sandbox.tool.call' end, k.id) from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id join f on f.id = t.focus_id
    union all select concat_ws(' ', 'work.context.compaction', c.turn_id) from ledger.compactions c join f on f.id = c.focus_id
    union all select concat_ws(' ', 'work.awareness.digest', d.turn_id) from ledger.awareness_digests d join f on f.id = d.focus_id
    -- One may have ended while its context was compacted, before it had a turn of its own.
    union all select concat_ws(' ', 'work.engage.iteration', f.id, i.iteration) from f join (
      select focus_id, iteration from ledger.turns where iteration is not null union select focus_id, iteration from ledger.compactions) i on i.focus_id = f.id`,
    [ids],
  );
  const keys: Record<string, string[]> = {
    'work.item': ['work.item.id'],
    'work.execute': ['work.item.id', 'work.attempt'],
    'gen_ai.chat': ['work.turn.id', 'work.model_call.attempt'],
    'work.tool.execute': ['work.tool.call.id'],
    'sandbox.tool.call': ['work.tool.call.id'],
    'work.context.compaction': ['work.turn.id'],
    'work.awareness.digest': ['work.turn.id'],
    'work.engage.iteration': ['work.focus.id', 'work.iteration'],
  };
  const shown = [...spans.values()].filter((span) => kindOf(span) in keys);
  same(
    'what was done and what the trace shows',
    shown.map((span) => [kindOf(span), ...(keys[kindOf(span)] ?? []).map((key) => String(span.attributes[key]))].join(' ')),
    rows.map((row) => row.id),
  );
  const answered = shown
    .filter((span) => kindOf(span) === 'gen_ai.chat' && !('error.type' in span.attributes))
    .map((span) => String(span.attributes['work.turn.id']));
  same('what was answered and the chats of the trace', answered, [...world.exchanges.map((one) => one.turnId), ...world.summaries]);
  const exported = [...exports.sent.values()].flatMap((one) => [...one.values()]);
  same(
    'the trace that was exported bit by bit',
    exported,
    [...spans.values()].map((span) => JSON.stringify(span)),
  );
}

type Cost = {
  key: string;
  requests: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  cost: number;
  summary_cost: number | null;
  step_cost: number;
  missed_tokens: number;
  missed_cost: number;
};
const sums = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost',
  'summary_cost',
  'step_cost',
  'missed_tokens',
  'missed_cost',
] as const;

/** Every sum says the same of the same requests. */
async function checkCost({ play: { ledger, world }, ids, turns }: Sight): Promise<void> {
  const requests = await ledger.rows<{
    turn_id: string;
    cache: string | null;
    seconds_since: string | null;
    purpose: string;
    missed_tokens: number;
    input: number;
    cached: number;
    parent_cached: number;
  }>(
    `
    select c.turn_id, c.cache, c.seconds_since, c.purpose, c.missed_tokens, c.input_tokens + c.cached_input_tokens + c.cache_write_tokens as input, c.cached_input_tokens as cached
      from ledger.v_cost_turns c where c.work_item_id = any ($1::uuid[])`,
    [ids],
  );
  same(
    'the answered requests and those of v_cost_turns',
    requests.map((row) => row.turn_id),
    [...world.exchanges.map((one) => one.turnId), ...world.summaries],
  );
  const exchanges = new Map(world.exchanges.map((one) => [one.turnId, one]));
  for (const row of requests) {
    const exchange = exchanges.get(row.turn_id);
    const why = (): string =>
      `request ${row.turn_id} (${row.purpose}) is said to be "${row.cache}", ${row.seconds_since} s after the one before, ${row.cached} of ${row.input} cached`;
    expect(row.cache !== null, why);
    if (row.purpose === 'summary' || exchange?.parent === null) expect(row.cache === 'first', why);
    else if (exchange?.parent) {
      const seconds = (exchange.at - exchange.parent.at) / 1000;
      const lives = exchange.sent.body.includes('"cache_control":{"type":"ephemeral","ttl":"1h"}') ? 3600 : 300;
      expect(row.cache !== 'first', why);
      if (row.cache === 'expired') expect(seconds > lives - 1, why);
      if (row.cache === 'cut' || row.cache === 'compaction') expect(exchange.sent.elisionId !== exchange.parent.sent.elisionId, why);
      if (row.cache === 'other') expect(exchange.sent.elisionId === exchange.parent.sent.elisionId && seconds < lives + 1, why);
      expect(row.missed_tokens >= 0 && row.missed_tokens <= row.input, why);
    }
  }
  const used = await ledger.rows<{ id: string; calls: number; tokens: number }>(
    'select work_item_id as id, sum(model_calls)::integer as calls, sum(input_tokens + output_tokens + cached_input_tokens + cache_write_tokens)::integer as tokens from ledger.work_usage where work_item_id = any ($1::uuid[]) group by 1',
    [ids],
  );
  for (const item of world.items) {
    const mine = [...turns.values()].filter((turn) => turn.item === item.id && turn.is_answered);
    const tokens = mine.reduce((sum, turn) => sum + Number(turn.tokens), 0);
    const row = used.find((one) => one.id === item.id);
    expect(
      (row?.calls ?? 0) === mine.length && (row?.tokens ?? 0) === tokens,
      () => `work_usage of ${item.name} says ${row?.calls} requests and ${row?.tokens} tokens, its turns ${mine.length} and ${tokens}`,
    );
  }
  const by = (what: string, id: string): Promise<Cost[]> => ledger.all<Cost>('cost_by', what, id);
  const ofItem = new Map<string, Cost>();
  for (const root of world.items.filter((item) => item.parent === null)) {
    const [total] = await by('total', root.id);
    for (const what of root === world.items[0] ? ['item', 'child', 'tree', 'faculty', 'model', 'day', 'cache'] : ['item']) {
      const rows = await by(what, root.id);
      if (what === 'item') for (const row of rows) ofItem.set(row.key, row);
      for (const sum of sums) {
        const all = rows.reduce((value, row) => value + (row[sum] ?? 0), 0);
        expect(
          Math.abs(all - (total?.[sum] ?? 0)) < 1e-9,
          () => `cost of ${root.name} by ${what}: ${sum} adds up to ${all}, in total it is ${total?.[sum]}`,
        );
      }
    }
  }
  for (const row of used) {
    const cost = ofItem.get(row.id);
    const tokens = cost ? cost.input_tokens + cost.cached_input_tokens + cost.cache_write_tokens + cost.output_tokens : 0;
    expect(
      (cost?.requests ?? 0) === row.calls && tokens === row.tokens,
      () => `cost_by says ${JSON.stringify(cost)}, work_usage ${JSON.stringify(row)}`,
    );
  }
}

const instant = (ms: number): string => new Date(ms).toISOString();
const addUp = (rows: readonly Metric[]): string[] => {
  const all = new Map<string, number>();
  for (const { metric, labels, value, times } of rows) {
    const key = JSON.stringify([metric, Object.entries(labels).map(String).toSorted(), value]);
    all.set(key, (all.get(key) ?? 0) + times);
  }
  return [...all].map(([key, times]) => `${key} × ${times}`);
};

/** However time is split, and whoever takes it bit by bit. */
async function checkMetrics({ play: { ledger, world, exports } }: Sight): Promise<void> {
  const until = ledger.now;
  const whole = await ledger.all<Metric>('work_metrics', instant(exports.since), instant(until));
  const at = world.exchanges.map((one) => one.at);
  const marks = [exports.since, ...new Set(at.filter((_, n) => n % 5 === 2)), until].toSorted((a, b) => a - b);
  const parts: Metric[] = [];
  for (const [n, mark] of marks.entries())
    if (n > 0) parts.push(...(await ledger.all<Metric>('work_metrics', instant(marks[n - 1] ?? 0), instant(mark))));
  same('metrics of parts of the time and of all of it', addUp(parts), addUp(whole));
  // What was taken before its project was renamed has the name of then.
  const names = [...new Set(exports.metrics.flatMap((row) => row.labels['faculty_project'] ?? []))];
  const today = await ledger.rows<{ name: string; now: string }>(
    'select n as name, ledger.project_name(n) as now from unnest($1::text[]) n',
    names,
  );
  const nameNow = new Map(today.map((row) => [row.name, { faculty_project: row.now }]));
  const taken = exports.metrics.map((row) => ({ ...row, labels: { ...row.labels, ...nameNow.get(row.labels['faculty_project'] ?? '') } }));
  same('metrics taken bit by bit and metrics of all the time', addUp(taken), addUp(whole));
  const times = (metric: string, label?: [string, string]): number =>
    whole
      .filter((row) => row.metric === metric && (!label || row.labels[label[0]] === label[1]))
      .reduce((sum, row) => sum + row.value * row.times, 0);
  for (const type of ['step', 'finding', 'decision', 'error', 'plan', 'note']) {
    const own = world.items
      .flatMap((item) => item.entries)
      .filter((entry) => entry.type === type && !entry.isInherited && !(entry.isAuto && type !== 'step')).length;
    const should = own + (type === 'finding' ? world.newsOfSession.size : 0);
    const is = times('work.ledger.entries', ['entry_type', type]);
    expect(type === 'step' ? is >= should : is === should, `work.ledger.entries counts ${is} of type ${type}, and there are ${should}`);
  }
  const children = world.items.filter((item) => item.parent !== null).length;
  expect(times('work.child.spawned') === children, `work.child.spawned counts ${times('work.child.spawned')}, and there are ${children}`);
  const calls = world.exchanges.reduce((sum, one) => sum + one.calls.length, 0);
  expect(
    times('work.engage.parallel_tools') === calls,
    `work.engage.parallel_tools adds up to ${times('work.engage.parallel_tools')}, and there were ${calls} calls`,
  );
}

/** The sizes that grew turn by turn are those of a walk over the request, and the request is as large as they say. */
async function checkSizes({ play: { ledger, world }, turns }: Sight): Promise<void> {
  // A mistake stays in the sums of all that follow: every third turn, and where none does.
  const parents = new Set([...turns.values()].map((turn) => turn.parent));
  const looked = [...turns.values()]
    .filter((turn, n) => turn.type === 'normal' && (n % 3 === 0 || !parents.has(turn.id)))
    .map((turn) => turn.id);
  const rows = await ledger.rows<{
    turn_id: string;
    is: string;
    should: string;
    sum: number;
    said: number;
    said_sum: number;
    call_number: number;
    n: number;
    leap: boolean;
  }>(
    `
    with recursive up as (
      select t.id as of, t.id, t.parent_turn_id, t.turn_type, true as is_self from ledger.turns t where t.id = any ($1::uuid[])
      union all
      select u.of, t.id, t.parent_turn_id, t.turn_type, false from up u join ledger.turns t on t.id = u.parent_turn_id
    ),
    said as (
      select u.of, count(*) filter (where u.turn_type = 'normal')::integer as n,
             sum(x.task + x.digest + x.people + x.engine + case when u.is_self then 0 else e.word_chars + e.result_chars end) filter (where u.turn_type = 'normal') as chars
        from up u join ledger.turns t on t.id = u.id cross join lateral ledger._told_sizes(t) x cross join lateral ledger._exchange(t.id) e
       group by u.of
    )
    select t.id as turn_id, (s.task, s.digest, s.stubs, s.kept, s.closed, s.words, s.results, s.people, s.engine)::text as is,
           (r.task + x.task, r.digest + x.digest, r.stubs, r.kept, r.closed, r.words, r.results, r.people + x.people, r.engine + x.engine)::text as should,
           s.task + s.digest + s.stubs + s.kept + s.closed + s.words + s.results + s.people + s.engine as sum, s.said::integer, d.chars::integer as said_sum, s.call_number, d.n,
           s.leap_turn_id = t.id or s.leap_turn_id in (select u.id from up u where u.of = t.id) as leap
      from ledger.turns t
      left join ledger.turn_sizes s on s.turn_id = t.id
      cross join lateral ledger._request_sizes(t) r
      cross join lateral ledger._told_sizes(t) x
      join said d on d.of = t.id
     where t.id = any ($1::uuid[])`,
    looked,
  );
  for (const row of rows) {
    expect(row.is === row.should, () => `turn_sizes of ${row.turn_id} says ${row.is}, a walk over its request ${row.should}`);
    expect(
      row.said === row.said_sum && row.call_number === row.n && row.leap,
      () =>
        `turn_sizes of ${row.turn_id} says call ${row.call_number} and ${row.said} characters, and it is call ${row.n} with ${row.said_sum}; leap: ${row.leap}`,
    );
    const sent = world.sent.get(row.turn_id);
    if (!sent || turns.get(row.turn_id)?.type !== 'normal') continue;
    const { messages } = JSON.parse(sent.body) as { messages: { content: object[] }[] };
    // Images are of a fixed size there, whatever they have; each message has its frame.
    const chars = JSON.stringify(messages, (key, value: { type?: string } | null) =>
      key === 'cache_control' ? undefined : value?.type === 'base64' ? 'x'.repeat(4700) : value,
    ).length;
    const blocks = messages.reduce((count, message) => count + message.content.length, 0);
    expect(
      Math.abs(chars - row.sum) <= 75 * (blocks + messages.length),
      () => `turn_sizes of ${row.turn_id} adds up to ${row.sum}, and its messages have ${chars} characters in ${blocks} blocks`,
    );
  }
}

type Call = {
  turn_id: string;
  n: number;
  cut: number;
  said: number;
  sent: number;
  stubs: number;
  kept: number;
  system: number;
  tools: number;
  task: number;
  digest: number;
  closed: number;
  words: number;
  results: number;
  people: number;
  engine: number;
  marks: object[];
};

/** The timeline is the conversation, whole or page by page, and its columns are the parts of the requests. */
async function checkTimelines({ play: { ledger, world }, ids, turns }: Sight): Promise<void> {
  const sessions = await ledger.rows<{ label: string; head: string | null; item: string }>(
    'select s.label, s.head_turn_id as head, f.work_item_id as item from ledger.sessions s join ledger.foci f on f.session_label = s.label where f.work_item_id = any ($1::uuid[])',
    [ids],
  );
  for (const { label, head } of sessions) {
    const should: string[] = [];
    for (let turn = turns.get(head ?? ''); turn; turn = turns.get(turn.parent ?? '')) if (turn.type === 'normal') should.unshift(turn.id);
    const whole = await ledger.all<Call>('context_timeline', label);
    expect(
      JSON.stringify(whole.map((row) => row.turn_id)) === JSON.stringify(should),
      () => `the timeline of ${label} has ${JSON.stringify(whole.map((row) => row.turn_id))}, its conversation ${JSON.stringify(should)}`,
    );
    const pages: Call[] = [];
    for (;;) {
      const page = await ledger.all<Call>('context_timeline', label, null, pages.at(-1)?.turn_id ?? null, 7);
      pages.push(...page);
      if (page.length < 7) break;
    }
    expect(JSON.stringify(pages) === JSON.stringify(whole), () =>
      `the pages of the timeline of ${label} are not the whole: ${JSON.stringify(pages)} ${JSON.stringify(whole)}`.slice(0, 3000),
    );
    for (const [n, row] of whole.entries()) {
      const parts =
        row.system +
        row.tools +
        row.task +
        row.digest +
        row.stubs +
        row.kept +
        row.closed +
        row.words +
        row.results +
        row.people +
        row.engine;
      expect(row.n === n + 1 && row.sent === parts, () => `call ${n + 1} of ${label}: ${JSON.stringify(row)}`);
      expect(
        Math.abs(row.said - row.cut - (row.sent - row.stubs - row.kept)) <= 12,
        () => `what was said less what was cut is not what was sent: ${JSON.stringify(row)}`,
      );
      const isCut = world.sent.get(row.turn_id)?.elisionId !== null && world.sent.has(row.turn_id);
      if (world.sent.has(row.turn_id))
        expect(isCut || row.cut === 0, () => `nothing was left out of call ${n + 1}: ${JSON.stringify(row)}`);
      const before = n > 0 ? world.sent.get(whole[n - 1]?.turn_id ?? '') : undefined;
      const now = world.sent.get(row.turn_id);
      if (now && (before || n === 0))
        expect(
          row.marks.length > 0 === (now.elisionId !== (before?.elisionId ?? null)),
          () => `marks of call ${n + 1}: ${JSON.stringify(row.marks)}, its cut is ${now.elisionId}, before ${before?.elisionId}`,
        );
    }
    for (const row of whole.slice(-1)) {
      const kinds = await ledger.rows<{ kind: string; tokens: number; parts: number }>(
        `
        select case when p.part in ('response', 'result', 'image') then case when p.block < t.block then 'closed' when p.part = 'response' then 'words' else 'results' end
                    when p.part in ('message', 'human') then 'people' when p.part in ('system', 'tools', 'task', 'digest', 'stubs', 'kept') then p.part else 'engine' end as kind,
               sum(p.tokens)::integer as tokens, count(*)::integer as parts
          from ledger.context_parts($1) p, ledger.turns t where t.id = $1 group by 1`,
        row.turn_id,
      );
      const of = (kind: string): { tokens: number; parts: number } => kinds.find((one) => one.kind === kind) ?? { tokens: 0, parts: 0 };
      for (const kind of ['stubs', 'kept', 'closed', 'words', 'results'] as const) {
        expect(
          Math.abs(of(kind).tokens - row[kind]) <= of(kind).parts + 1,
          () =>
            `${kind} of call ${row.n} in the timeline of ${label}: ${row[kind]}, by its parts ${JSON.stringify(of(kind))}: ${JSON.stringify(kinds)} ${JSON.stringify(row)}`,
        );
      }
      // What the first turn says is the task there, whoever said it.
      const told = ['task', 'digest', 'people', 'engine'].map(of);
      expect(
        Math.abs(told.reduce((sum, one) => sum + one.tokens, 0) - row.task - row.digest - row.people - row.engine) <=
          told.reduce((sum, one) => sum + one.parts, 4),
        () => `what call ${row.n} is told, in the timeline of ${label}: ${JSON.stringify(kinds)} ${JSON.stringify(row)}`,
      );
    }
  }
}

type Entry = { position: string; id: string | null; entry_type: string; content: object };

/** Page by page, from either end, it is the same run, and each block is in it once. */
async function checkRuns({ play: { ledger, world } }: Sight): Promise<void> {
  type Block = { position: string; block_id: string };
  for (const item of world.items.filter((_, n) => n % 3 === 1)) {
    const whole = await ledger.rows<Block>(
      'select block_id from v_work_run where work_item_id = $1 order by happened_at, place, rank, ordinal, block_id',
      item.id,
    );
    const should = whole.map((block) => block.block_id);
    expect(new Set(should).size === should.length, () => `blocks of ${item.name} that are there twice`);
    for (const isBack of [false, true]) {
      const pages: Block[] = [];
      for (;;) {
        const at = pages.at(-1)?.position ?? (isBack ? 'end' : null);
        const page = await ledger.all<Block>('work_run', item.id, isBack ? null : at, isBack ? at : null, 17);
        pages.push(...page);
        if (page.length < 17) break;
      }
      const told = pages.map((block) => block.block_id);
      if (isBack) told.reverse();
      expect(JSON.stringify(told) === JSON.stringify(should), () => `the run of ${item.name} in pages: ${difference(told, should)}`);
    }
  }
}

/** Page by page it is the same journal. */
async function checkJournals({ play: { ledger, world } }: Sight): Promise<void> {
  for (const item of world.items.filter((_, n) => n % 3 === 0)) {
    const whole = await ledger.all<Entry>('journal_read', item.id);
    const types = [...new Set(whole.map((entry) => entry.entry_type))].filter((_, n) => n % 2 === 0);
    for (const [limit, only] of [
      [23, null],
      [11, types],
    ] as const) {
      const pages: Entry[] = [];
      for (;;) {
        const page = await ledger.all<Entry>(
          'journal_page',
          item.id,
          pages.at(-1)?.position ?? null,
          limit,
          only === null ? null : [...only],
        );
        pages.push(...page);
        if (page.length < limit) break;
      }
      const should = whole
        .filter((entry) => only === null || only.includes(entry.entry_type))
        .map((entry) => entry.id)
        .toReversed();
      expect(
        JSON.stringify(pages.map((entry) => entry.id)) === JSON.stringify(should),
        () =>
          `the journal of ${item.name} in pages of ${limit}: ${difference(
            pages.map((entry) => entry.id),
            should,
          )}`,
      );
    }
  }
}

const difference = (is: readonly unknown[], should: readonly unknown[]): string => {
  const at = should.findIndex((one, n) => one !== is[n]);
  return `${is.length} and not ${should.length}; at ${at} ${JSON.stringify(is.slice(Math.max(0, at - 1), at + 3))} and not ${JSON.stringify(should.slice(Math.max(0, at - 1), at + 3))}`;
};

type Node = {
  node_id: string;
  parent_node_id: string | null;
  kind: string;
  turns: number;
  last_turn_id: string;
  lane: number;
  depth: number;
  last_depth: number;
  tokens: number;
  steps: number;
  work_item_id: string | null;
  marks: string[];
};

/** Each turn stands in one node, whatever is looked at. */
async function checkTrees({ play: { ledger, world }, turns }: Sight): Promise<void> {
  for (const item of world.items) {
    const mine = [...turns.values()].filter((turn) => turn.item === item.id && turn.status !== 'failed' && turn.is_applied !== false);
    const some = mine.filter((_, n) => n === Math.floor(mine.length / 3));
    for (const around of [null, ...some]) {
      for (const limit of around === null ? [1000] : [12]) {
        const nodes = await ledger.all<Node>('turn_tree', item.id, around?.id ?? null, limit);
        const what = `the tree of ${item.name} around ${around?.id ?? 'the newest'} in ${limit} rows`;
        const known = new Set<string>();
        const seen: string[] = [];
        for (const node of nodes) {
          const says = (): string => `${what}: ${JSON.stringify(node)}`;
          if (node.parent_node_id !== null) expect(known.has(node.parent_node_id), () => `a node before its parent in ${says()}`);
          if (node.kind === 'item') {
            expect(
              world.items.some((one) => one.isFork && one.id === node.work_item_id),
              () => `not a fork: ${says()}`,
            );
            continue;
          }
          known.add(node.node_id);
          const inside: Turn[] = [];
          for (let turn = turns.get(node.last_turn_id); turn; turn = turn.id === node.node_id ? undefined : turns.get(turn.parent ?? ''))
            inside.push(turn);
          seen.push(...inside.map((turn) => turn.id));
          expect(
            inside.length === node.turns && inside.at(-1)?.id === node.node_id,
            () => `a node of ${inside.length} turns says ${node.turns}: ${says()}`,
          );
          expect(inside.reduce((sum, turn) => sum + Number(turn.tokens), 0) === node.tokens, () => `tokens do not add up: ${says()}`);
          const parent = inside.at(-1)?.parent ?? null;
          if (parent !== null && turns.get(parent)?.item === item.id)
            expect(seen.includes(parent) && node.parent_node_id !== null, () => `a node not below its turn: ${says()}`);
          else expect(node.parent_node_id === null, () => `a root with a parent: ${says()}`);
        }
        expect(nodes.length <= limit && new Set(seen).size === seen.length, () => `${what}: ${JSON.stringify(nodes)}`);
        if (limit === 1000 || nodes.length < limit)
          same(
            what,
            seen,
            mine.map((turn) => turn.id),
          );
        const forks = world.items.filter((one) => one.isFork && one !== item);
        const forked = await ledger.rows<{ id: string }>(
          'select w.id from ledger.work_items w join ledger.turns t on t.id = w.fork_turn_id where t.work_item_id = $1 and w.id = any ($2::uuid[])',
          item.id,
          forks.map((one) => one.id),
        );
        if (limit === 1000)
          same(
            `forks in ${what}`,
            nodes.flatMap((node) => node.work_item_id ?? []),
            forked.map((row) => row.id),
          );
      }
    }
  }
}

/** Each thing that was said is found once, by its mark, and what was deleted not at all. */
async function checkSearch({ play: { ledger, world } }: Sight): Promise<void> {
  const [first] = world.items;
  const mark = world.mark('j');
  const kept = (await ledger.call('journal_log', first?.id, 'user_feedback', { message: `Kept ${mark}` })) as { id: string };
  const gone = (await ledger.call('journal_log', first?.id, 'user_feedback', { message: `Gone ${mark}` })) as { id: string };
  await ledger.call('journal_entry_delete', gone.id);
  const found = async (query: string, item: Item, sources: string[] | null = null): Promise<string[]> =>
    (
      await ledger.all<{ entry_id: string; source: string; snippet: string; seq: number | null }>(
        'ledger_search',
        query,
        null,
        20,
        item.id,
        sources,
      )
    ).map((hit) => {
      expect(hit.snippet.includes(`\u0002${query}\u0003`), () => `a hit of ${query} does not show it: ${JSON.stringify(hit)}`);
      return `${hit.source} ${hit.seq ?? hit.entry_id}`;
    });
  same('what is found of a deleted entry', await found(mark, first as Item), [`journal ${kept.id}`]);
  for (const item of world.items) {
    const entries = item.entries.filter((_, n) => n % 3 === 0 || n === item.entries.length - 1);
    for (const entry of entries) {
      const its = /[en]\d+z/.exec(entry.content)?.[0];
      if (its === undefined || entry.isAuto) continue;
      same(
        `what is found of ${its} in ${item.name}`,
        await found(its, item, ['ledger']),
        entry.isInherited ? [] : [`ledger ${item.entries.indexOf(entry) + 1}`],
      );
    }
    for (const told of toldTo(item).slice(0, 3))
      expect((await found(told, item, ['message'])).length === 1, `what was said to it is not found once: ${told} in ${item.name}`);
  }
}

const toldTo = (item: Item): string[] =>
  chainOf(item.head)
    .filter((one) => one.item === item)
    .flatMap((one) => one.told)
    .filter((one) => one.source !== 'child')
    .map((one) => one.mark);

/** Where two conversations part is what both have. */
async function checkBranches({ play: { ledger }, ids, turns }: Sight): Promise<void> {
  const sessions = await ledger.rows<{ label: string; head: string | null }>(
    'select s.label, s.head_turn_id as head from ledger.sessions s join ledger.foci f on f.session_label = s.label where f.work_item_id = any ($1::uuid[]) order by s.label',
    [ids],
  );
  const chain = (head: string | null): Turn[] => {
    const all: Turn[] = [];
    for (let turn = turns.get(head ?? ''); turn; turn = turns.get(turn.parent ?? '')) all.push(turn);
    return all;
  };
  for (const [n, a] of sessions.entries()) {
    for (const b of sessions.slice(n + 1).filter((_, m) => (n + m) % 2 === 0)) {
      const rows = await ledger.all<{ branch: string; common_turn_id: string | null; turns: number; tokens: number; model_calls: number }>(
        'session_compare',
        a.label,
        b.label,
      );
      const [left, right] = [chain(a.head), chain(b.head)];
      const common = left.find((turn) => right.includes(turn));
      for (const [row, all] of [
        [rows[0], left],
        [rows[1], right],
      ] as const) {
        const since = all.slice(0, common ? all.indexOf(common) : all.length);
        const tokens = since.reduce((sum, turn) => sum + Number(turn.tokens), 0);
        const answered = since.filter((turn) => turn.is_answered).length;
        expect(
          row?.common_turn_id === (common?.id ?? null) &&
            row.turns === since.length &&
            row.tokens === tokens &&
            row.model_calls === answered,
          () =>
            `${a.label} and ${b.label}: ${JSON.stringify(row)}, and both have ${common?.id}, since then ${since.length} turns, ${answered} requests, ${tokens} tokens`,
        );
      }
      const byTurn = await ledger.all<{ a_turn_id: string | null; b_turn_id: string | null }>('session_compare_turns', a.label, b.label);
      const said = (all: Turn[]): string[] =>
        all
          .slice(0, common ? all.indexOf(common) : all.length)
          .filter((turn) => turn.type === 'normal' && turn.status === 'completed')
          .map((turn) => turn.id)
          .toReversed();
      const shown = [byTurn.map((row) => row.a_turn_id), byTurn.map((row) => row.b_turn_id)].map((all) => all.filter((id) => id !== null));
      expect(
        JSON.stringify(shown) === JSON.stringify([said(left).slice(0, 200), said(right).slice(0, 200)]),
        () => `${a.label} and ${b.label}, turn by turn: ${JSON.stringify(byTurn)}`,
      );
    }
  }
}
