-- What a response records beside other calls stands in its own exchange, and in a stub only when that leaves: nothing twice, nothing lost.
begin;
select plan(14);

create function pg_temp.count_of(p_n integer, p_words text) returns integer language sql as $$ select regexp_count(r.body ->> 'messages', p_words) from request r where r.n = p_n $$;

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[
  [["look", "config is TOML"]],
  [["finding", "Zone on line 47"], ["step", "Found the config"], ["decision", "Go by line"], ["look", "line 47"]],
  [["step", "Read the zone"], ["look", "more"]],
  [["step", "Wrote the zone"]],
  [["look", "again"]]]');
select is(stub(3, 1), '[completed step 1: see below]', 'the stub says that its step follows');
select is(pg_temp.count_of(3, 'Found the config') || ' ' || pg_temp.count_of(3, 'Zone on line 47'), '1 1', 'which its exchange shows, and what was found with it');
select is(stub(4, 1), E'[completed step 1: see below]\n[completed step 1: Found the config]\n- finding: Zone on line 47', 'when the exchange leaves, the stubs have both');
select is(stub(4, 2), E'[completed step 2: see below]\n- decision: Go by line', 'and those of its own block');
select is(stub(5, 2) || E'\n' || stub(5, 3), E'[completed step 2: see below]\n- decision: Go by line\n[completed step 2: Read the zone]\n[completed step 3: Wrote the zone]', 'a step that came alone leaves with its exchange');
select is((select string_agg(pg_temp.count_of(n, w)::text, '' order by n) from generate_series(3, 5) n, unnest(array['Found the config', 'Zone on line 47', 'Go by line']) w), '111111111', 'each stands once in every request');
select is((select array_agg(position(s in b.t) order by n) = array(select position(s in b.t) from unnest(array['Found', 'Read the', 'Wrote']) s order by 1)
    from (select told(5) as t) b, unnest(array['Found', 'Read the', 'Wrote']) with ordinality u(s, n) group by b.t), true, 'in their order');

-- In a fork from there, which takes one of them back before it leaves.
select take(work_fork((select turn_id from request where n = 3)));
select ledger_retract(item(), 1, 'It is on line 48');
select play('[[["step", "Forked"]], [["look"]]]');
select is(stub(6, 1) || E'\n' || stub(6, 2), E'[completed step 1: see below]\n[completed step 1: Found the config]\n[completed step 2: see below]\n- decision: Go by line', 'a fork has the step of an exchange of another item, without what it took back');
select is(stub(7, 2), E'[completed step 2: see below]\n- decision: Go by line\n[completed step 2: Read the zone]', 'and goes on so');

-- What code or the engine recorded is said by no response.
select tool('execute_code', 'idempotent');
select agent('{"tools": ["look"], "code_execution": true, "elide_budget": 0, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look"]]]');
select drive();
select answer('[["finding", "Said before"], ["execute_code", {"code": "x"}]]');
select tool_call_execute(item(), lease(), call('t9_1'));
select tool_call_begin(item(), lease(), call('t9_2'));
select tool_call_nested(item(), lease(), call('t9_2'), 0, 'ledger_append', '{"entry_type": "step", "content": "Counted 7"}');
select tool_call_execute(item(), lease(), call('t9_2.1'));
select tool_call_settle(item(), lease(), call('t9_2'), 'done');
select iteration_finish(item(), lease());
select play('[[["look"]], [["step", "Said"], ["look"]], [["look"]]]');
select is(stub(10, 1), '[completed step 1: Counted 7]', 'a step of code is in the stub at once');
select is(stub(12, 1), E'[completed step 1: Counted 7]\n[completed step 1: also]\n- finding: Said before', 'and not again when its exchange leaves');

-- A compaction that keeps the exchange of a step says nothing of it: the stubs have it as soon as it leaves.
select agent('{"tools": ["look"], "elide_budget": 20000, "compact_strategy": "sliding_window", "compact_keep_recent": 2, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create function pg_temp.look() returns text language sql as $$ select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', repeat('long ', 8000))))) $$;
select pg_temp.look();
select play('[[["step", "Slid"], ["look"]]]');
select context_compact(item());
select pg_temp.look() from generate_series(1, 3);
select is((select compaction_type from compactions where work_item_id = item()), 'sliding_window', 'the exchange of the step is the first that stays');
select play('[[["step", "Then"], ["look"]], [["look"]]]');
select is(stub((select max(n)::integer from request), 1), '[completed step 1: Slid]', 'its step is in a stub');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
