-- Who has not read a message is told to who said it: in a digest at once, as news when it waits for two minutes or will never be read; and nothing is woken.
begin;
select plan(15);

select set_config('work_ledger.now', '2030-01-01T12:00:00Z', true);
select tool('look', 'unsafe');
select agent('{"tools": ["look", "tell_agent"], "ledger_nudge_interval": 0}', '{"awareness": {"include_child_work": true}}');
create temporary table work as select n, (work_submit('analyze', 'Part ' || n)).id from generate_series(1, 3) n;
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
create function pg_temp.short(p_n integer) returns text language sql as $$ select right(pg_temp.id(p_n)::text, 6) $$;
create function pg_temp.news(p_n integer) returns text language sql as $$
  select coalesce((select m.content::text from messages m where m.turn_id = turn(pg_temp.id(p_n)) and m.metadata ->> 'kind' = 'digest'), '') $$;

create function pg_temp.tell(p_to integer, p_text text) returns text language sql as $$
  select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('tell_agent', jsonb_build_object('to', pg_temp.short(p_to), 'text', p_text)))), pg_temp.id(1));
  select result #>> '{}' from tool_calls where work_item_id = pg_temp.id(1) and tool_name = 'tell_agent' order by created_at desc, id desc limit 1
$$;

select take(pg_temp.id(1));
select play('[[["look"]]]'), play('[[["look"]]]', pg_temp.id(2));
select pg_temp.tell(2, 'One'), pg_temp.tell(2, 'Two'), later('1 second'), pg_temp.tell(3, 'Three');
select alike(awareness_digest(item()), format(E'%%\n\nYour messages that nobody has read yet:\n- 1 to analyze %s (queued: ready for the next free worker, just now)\n- 2 to Worker/analyze %s (running, just now)%%', pg_temp.short(3), pg_temp.short(2)), 'a digest says who has not read what');
select unalike(awareness_digest(pg_temp.id(2)), '%nobody has read%', 'to nobody else');
select from ledger_append(pg_temp.id(3), 'finding', 'Something is new');
select later('90 seconds');
select play('[[["look"]]]');
select unalike(pg_temp.news(1), '%nobody has read%', 'what was just said is no news');
select later('1 minute');
select from ledger_append(pg_temp.id(3), 'finding', 'Something else is new');
select play('[[["look"]]]');
select matches(pg_temp.news(1), format('nobody has read yet:\\n- 1 to analyze %s .*\\n- 2 to Worker/analyze %s', pg_temp.short(3), pg_temp.short(2)), 'what waits for two minutes is');
select from ledger_append(pg_temp.id(3), 'finding', 'One more is new');
select play('[[["look"]]]');
select unalike(pg_temp.news(1), '%nobody has read%', 'and is told once');
select ok((select bool_and(kind = 'unread') from v_awareness_shown where reader_id = item() and content ~ '^[0-9a-f-]{36}$') is true, 'which is noted');
select play('[[["look"]]]', pg_temp.id(2));
select unalike(awareness_digest(item()), '%2 to Worker%', 'what was read is not told of');

select from work_cancel(pg_temp.id(3));
select play('[[["look"]]]');
select is((select consumed_at is null from inbox where content = 'Three'), true, 'what came too late is not lost');
select alike(awareness_digest(item()), format('%%- 1 to analyze %s (cancelled, 2m ago)%%', pg_temp.short(3)), 'and who said it can see so');

-- An item that waits for its child.
select take(pg_temp.id(2));
select drive();
create temporary table child as select (spawn_child_work(item(), 'analyze', 'A child', p_lease => lease())).id;
select answer(format('[["await_child_work", {"work_item_ids": ["%s"]}]]', (select id from child))::jsonb);
select run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'it waits');
select is(pg_temp.tell(2, 'Five'), format('To Worker/analyze %s: waits for 1 of its children; it reads this when it continues (messages do not wake agents).', pg_temp.short(2)), 'who tells it hears so');
delete from graphile_worker._private_jobs;
select work_sweep();
select is_empty($$ select from graphile_worker.jobs where key like '%' || item() || '%' $$, 'no sweep wakes it for that');
select is((select state from work_items where id = item()), 'waiting', 'it goes on waiting');
select is(claim() ->> 'kind', 'not_due', 'also when somebody looks');
select from work_complete((select id from child), 'The child is done');
select drive(), iteration_finish(item(), lease()), drive();
select alike(told((select max(n)::integer from request where item = item())), '%Five%', 'and reads it when it goes on');

select * from finish();
rollback;
