-- What the pgTAP files share: schema work_test, made once in the template database of a run (globalSetup.ts, installcheck.sh).
--
-- A test has one work item in hand (`submit`, `take`); every function acts on that one where it is not given another. What a worker
-- holds of it is remembered: its lease, the newest stage, the newest turn. Requests are kept as they were asked, numbered through.
-- Whatever is not about them is said in the test with the functions of the ledger.
--
-- What a model says is a list of: a text; an entry of the ledger [type, content]; a call [tool], [tool, result] or [tool, input,
-- result]; a content block as the API has it. Results are those that a worker brings ('seen' where none is given; one that begins
-- with "failed" is an error); SQL tools bring their own.

create schema work_test;

-- What a test holds of an item: its newest lease, valid or not; what iteration_begin said last; the turn that was asked last.
create table work_test.held (item uuid primary key, lease uuid, stage json, turn uuid);

-- Every request of the test, numbered from 1.
create table work_test.request (n integer, item uuid, turn_id uuid, body json);

-- The item in hand.
create function work_test.item() returns uuid stable language sql as $$ select nullif(current_setting('work_test.item', true), '')::uuid $$;

-- The item in hand, as its row and its fence are now.
create view work_test.item as
  select w.*, e.lease_hash, e.ledger_count, e.watch_ends_at from work_items w join fences e on e.work_item_id = w.id where w.id = work_test.item();

-- Takes an item in hand; its id.
create function work_test.take(p_item uuid) returns uuid language sql as $$ select set_config('work_test.item', p_item::text, true)::uuid $$;
create function work_test.take(p_item work_items) returns uuid language sql as $$ select work_test.take(p_item.id) $$;

-- A faculty "worker" for work of type "analyze"; tools of its list that nobody has registered yet are, as pure and safe.
create function work_test.agent(p_engage jsonb default '{}', p_more jsonb default '{}') returns void language plpgsql as $$
begin
  perform work_test.tool(t) from jsonb_array_elements_text(p_engage -> 'tools') t where not exists (select from abilities a where a.name = t);
  perform faculty_save('{"name": "worker", "accepts": ["analyze"]}' || jsonb_build_object('engage', p_engage) || p_more);
end
$$;

-- A tool that workers run and that takes any object.
create function work_test.tool(p_name text, p_effect text default 'pure', p_risk text default 'safe') returns void language sql as $$
  select from ability_register(p_name, initcap(p_name) || 's.', '{"type": "object"}', p_effect, p_risk)
$$;

-- Submits work and takes it in hand; its id.
create function work_test.submit(p_description text default 'Find why the nightly import is slow', p_work_type text default 'analyze') returns uuid language sql as $$
  select work_test.take(work_submit(p_work_type, p_description))
$$;

-- What the test holds of an item.
create function work_test.lease(p_item uuid default work_test.item()) returns uuid language sql as $$ select h.lease from work_test.held h where h.item = p_item $$;
create function work_test.stage(p_item uuid default work_test.item()) returns json language sql as $$ select h.stage from work_test.held h where h.item = p_item $$;
create function work_test.turn(p_item uuid default work_test.item()) returns uuid language sql as $$ select h.turn from work_test.held h where h.item = p_item $$;

-- The focus that drives an item, or drove it last.
create function work_test.focus(p_item uuid default work_test.item()) returns uuid language sql as $$
  select f.id from foci f where f.work_item_id = p_item order by f.attempt desc limit 1
$$;

-- The id of a call, by the id that the provider gave it.
create function work_test.call(p_provider_id text, p_item uuid default work_test.item()) returns uuid language sql as $$
  select k.id from tool_calls k where k.provider_id = p_provider_id and k.work_item_id = p_item
$$;

-- Claims an item for a worker; what focus_claim says.
create function work_test.claim(p_item uuid default work_test.item(), p_worker text default 'w') returns jsonb language plpgsql as $$
declare
  v_claim jsonb := focus_claim(p_item, p_worker);
begin
  insert into work_test.held (item, lease) values (p_item, (v_claim ->> 'lease')::uuid)
  on conflict (item) do update set lease = coalesce(excluded.lease, held.lease);
  return v_claim;
end
$$;

-- Begins the iteration; what iteration_begin says.
create function work_test.begin_iteration(p_item uuid default work_test.item()) returns json language plpgsql as $$
declare
  v_stage json := iteration_begin(p_item, work_test.lease(p_item));
begin
  update work_test.held set stage = v_stage, turn = coalesce((v_stage ->> 'turn_id')::uuid, turn) where item = p_item;
  if v_stage -> 'request' is not null then
    insert into work_test.request select count(*) + 1, p_item, (v_stage ->> 'turn_id')::uuid, v_stage -> 'request' from work_test.request;
  end if;
  return v_stage;
end
$$;

-- Claims and begins: what iteration_begin says, or focus_claim where it gives no lease.
create function work_test.drive(p_item uuid default work_test.item(), p_worker text default 'w') returns json language plpgsql as $$
declare
  v_claim jsonb := work_test.claim(p_item, p_worker);
begin
  return case v_claim ->> 'kind' when 'claimed' then work_test.begin_iteration(p_item) else v_claim::json end;
end
$$;

-- What the model says, as the API has it; ids of calls are t<n>_<its place>. p_more: stop_reason, usage or model, where they matter.
create function work_test.response(p_says jsonb, p_n integer, p_more jsonb default '{}') returns json language sql as $$
  select json_build_object(
           'model', p_more -> 'model',
           'stop_reason', coalesce(p_more ->> 'stop_reason', case when bool_or(b.value ->> 'type' = 'tool_use') then 'tool_use' else 'end_turn' end),
           'usage', coalesce(p_more -> 'usage', jsonb_build_object('input_tokens', 100 * p_n)),
           'content', coalesce(json_agg(b.value order by s.n), '[]'))
    from jsonb_array_elements(p_says) with ordinality as s(value, n)
    cross join lateral (
      select case
               when jsonb_typeof(s.value) = 'object' then s.value::json
               when jsonb_typeof(s.value) = 'string' then json_build_object('type', 'text', 'text', s.value #>> '{}')
               when s.value ->> 0 in ('plan', 'finding', 'decision', 'step', 'error', 'note') then json_build_object(
                 'type', 'tool_use', 'id', format('t%s_%s', p_n, s.n), 'name', 'ledger_append', 'input', json_build_object('entry_type', s.value ->> 0, 'content', s.value ->> 1))
               else json_build_object(
                 'type', 'tool_use', 'id', format('t%s_%s', p_n, s.n), 'name', s.value ->> 0,
                 'input', case jsonb_typeof(s.value -> 1) when 'object' then s.value -> 1 else '{}' end)
             end) b(value)
$$;

-- Answers the newest request with what the model says; what turn_record says.
create function work_test.answer(p_says jsonb, p_item uuid default work_test.item(), p_more jsonb default '{}') returns json language sql as $$
  select turn_record(p_item, work_test.lease(p_item), work_test.turn(p_item), work_test.response(p_says, (select max(n) from work_test.request where item = p_item), p_more))
$$;

-- Runs the open calls of the newest turn, in the model's order, with the results that stand beside them in what it said.
create function work_test.run(p_says jsonb default '[]', p_item uuid default work_test.item()) returns void language plpgsql as $$
declare
  v_calls jsonb := (select jsonb_agg(value order by n) from jsonb_array_elements(p_says) with ordinality as s(value, n) where value ->> 'type' = 'tool_use' or jsonb_typeof(value) = 'array');
  v_turn uuid := work_test.turn(p_item);
  v_call record;
begin
  for v_call in
    select k.id, a.implementation, coalesce(v_calls -> k.ordinal ->> 2, case when jsonb_typeof(v_calls -> k.ordinal -> 1) = 'string' then v_calls -> k.ordinal ->> 1 end, 'seen') as result
      from tool_calls k
      left join abilities a on a.tool_name = k.tool_name
     where k.turn_id = v_turn and k.status = 'pending' and not exists (select from approvals p where p.tool_call_id = k.id)
     order by k.ordinal
  loop
    if v_call.implementation = 'runtime' then
      perform tool_call_settle(p_item, work_test.lease(p_item), v_call.id, v_call.result, v_call.result like 'failed%');
    else
      perform tool_call_execute(p_item, work_test.lease(p_item), v_call.id);
    end if;
  end loop;
end
$$;

-- Plays whole iterations, one for each list of what the model says; how the last one ended.
create function work_test.play(p_responses jsonb, p_item uuid default work_test.item(), p_more jsonb default '{}') returns text language plpgsql as $$
declare
  v_says jsonb;
  v_kind text;
begin
  for v_says in select value from jsonb_array_elements(p_responses) with ordinality as r(value, n) order by n loop
    perform work_test.drive(p_item);
    perform work_test.answer(v_says, p_item, p_more);
    perform work_test.run(v_says, p_item);
    v_kind := iteration_finish(p_item, work_test.lease(p_item)) ->> 'kind';
  end loop;
  return v_kind;
end
$$;

-- Ends the attempt under way, so that another one follows.
create function work_test.give_up(p_item uuid default work_test.item()) returns work_items language sql as $$
  select _focus_end((select w from work_items w where w.id = p_item), 'failed', 'retry', 'given up', null)
$$;

-- Lets time pass on the clock that the test has frozen.
create function work_test.later(p_by interval) returns void language sql as $$ select set_config('work_ledger.now', (_now() + p_by)::text, true) $$;

-- The blocks of a request, in its order.
create function work_test.blocks(p_n integer) returns table (i bigint, role text, message bigint, block json) language sql as $$
  select row_number() over (order by m.n, b.n), m.value ->> 'role', m.n - 1, b.value
    from work_test.request r, json_array_elements(r.body -> 'messages') with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n)
   where r.n = p_n
$$;

-- All that a request says as text.
create function work_test.told(p_n integer) returns text language sql as $$ select string_agg(b.block ->> 'text', E'\n\n' order by b.i) from work_test.blocks(p_n) b $$;

-- The messages of a request: the role of each with the types of its blocks.
create function work_test.shape(p_n integer) returns text language sql as $$
  select string_agg(m.role || ':' || m.types, ' ' order by m.message)
    from (select message, role, string_agg(block ->> 'type', ',' order by i) as types from work_test.blocks(p_n) group by message, role) m
$$;

-- A text of a request, by its message and its block, from 0.
create function work_test.text_of(p_n integer, p_message integer, p_block integer) returns text language sql as $$
  select r.body -> 'messages' -> p_message -> 'content' -> p_block ->> 'text' from work_test.request r where r.n = p_n
$$;

-- What a request keeps of closed blocks, word for word.
create function work_test.kept(p_n integer) returns text language sql as $$
  select string_agg(b.block ->> 'text', E'\n') from work_test.blocks(p_n) b where b.message = 0 and b.block ->> 'text' like '[engine] %ept from closed%'
$$;

-- The stub of a closed block in a request; what it left to a step's own call comes last.
create function work_test.stub(p_n integer, p_block integer) returns text language sql as $$
  select string_agg(b.block ->> 'text', E'\n' order by b.i) from work_test.blocks(p_n) b where b.message = 0 and b.block ->> 'text' like format('[completed step %s:%%', p_block)
$$;

-- How many requests of the test context_at() rebuilds to the byte.
create function work_test.rebuilt() returns bigint language sql as $$ select count(*) from work_test.request r where r.body::text = context_at(r.turn_id)::text $$;

-- A turn that stands in the tree by itself, answered, with 10 tokens.
create function work_test.bare_turn(p_parent uuid default null) returns uuid language sql as $$
  insert into turns (parent_turn_id, depth, status, completed_at, input_tokens, chain_tokens)
  select p_parent, coalesce((select depth + 1 from turns where id = p_parent), 0), 'completed', now(), 10, 10 + coalesce((select chain_tokens from turns where id = p_parent), 0)
  returning id
$$;

-- Saves a task, a message or a call as a client of Agent OS does.
create function work_test.os_task(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:task:save', jsonb_build_object('task', jsonb_build_object('id', p_id, 'systemPrompt', 'Test prompt', 'createdAt', 1700000000123, 'updatedAt', 1700000000123) || p_more))
$$;
create function work_test.os_message(p_id text, p_task text, p_role text, p_content text, p_at bigint) returns jsonb language sql as $$
  select ability_invoke('ldg:msg:save', jsonb_build_object('message', jsonb_build_object('id', p_id, 'taskId', p_task, 'role', p_role, 'content', p_content, 'timestamp', p_at)))
$$;
create function work_test.os_call(p_id text, p_task text, p_more jsonb default '{}') returns jsonb language sql as $$
  select ability_invoke('ldg:call:save', jsonb_build_object('call', jsonb_build_object('id', p_id, 'taskId', p_task, 'abilityName', 'mem:retrieve', 'parameters', '{"query": "x"}',
    'status', 'pending', 'details', '{}', 'createdAt', 1700000000200, 'updatedAt', 1700000000200, 'startMessageId', 'm1') || p_more))
$$;

-- What ledger_verify() finds after a change that the owner makes to a table by hand, past its triggers; then it is undone.
create function work_test.found(p_table regclass, p_change text, p_heads jsonb default null) returns text language plpgsql as $$
declare
  v_trigger record;
  v_found text;
begin
  set constraints all immediate;
  begin
    create temporary table was on commit drop as select tgname, tgenabled from pg_trigger where tgrelid = p_table and not tgisinternal;
    execute format('alter table %s disable trigger user', p_table);
    execute p_change;
    for v_trigger in select * from was loop
      execute format('alter table %s enable %s trigger %I', p_table, case v_trigger.tgenabled when 'A' then 'always' else '' end, v_trigger.tgname);
    end loop;
    select string_agg(format('%s %s', v.place, v.problem), '; ') into v_found from ledger_verify(work_test.item(), p_heads) v;
    raise exception sqlstate 'XX001';
  exception when sqlstate 'XX001' then
    return coalesce(v_found, 'nothing');
  end;
end
$$;
