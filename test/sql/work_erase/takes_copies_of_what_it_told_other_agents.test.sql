-- What an erased agent told others also goes from the stubs of their cuts, from what later attempts begin with, and from forks and continuations.
begin;
select plan(11);

create function pg_temp.has(p_table text) returns bigint language plpgsql as $$
declare
  v_count bigint;
begin
  execute format('select count(*) from %I t where t::text ~ ''canary''', p_table) into v_count;
  return v_count;
end
$$;
-- Two of the rows in which it stands: the message itself, and another.
create function pg_temp.told(p_work uuid) returns text language sql as $$
  select string_agg(concat_ws(' ', m.metadata ->> 'kind', m.content::text ~ 'canary', m.content::text ~ 'another agent said stood here', m.erased_hash is not null), ', ' order by m.id)
    from messages m join turns t on t.id = m.turn_id where t.work_item_id = p_work and m.metadata ->> 'kind' in ('task', 'agent_message')
$$;

select agent('{"tools": ["look"], "elide_budget": 100, "keep_auto": 0, "compact_keep_recent": 2}', '{"awareness": {"enabled": false}, "recover": {"max_attempts": 3}}');
create temporary table teller as select id from work_submit('analyze', 'Erased');
select submit('Reader');
create temporary table reader as select item() as id;
select play('[[["look"]]]');
select from tell_agent((select id from teller), item()::text, E'A canary\n"quoted"');
select play(format('[[["look", "%s"], ["step", "Row %s"]]]', repeat('row ', 800), n)::jsonb) from generate_series(1, 5) n;
select ok(pg_temp.has('elisions') > 0, 'the stubs of its block say what it was told');
select drive();
select context_compact(item());
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select play('[[["look"]]]');
select is((select count(*) from elisions where previous_id is null and ordinal = 0 and stubs::text ~ 'canary'), 1::bigint, 'so does a compaction');
select drive();
select give_up();
select later('1 hour');
select play('[[["look"]]]');
select is(pg_temp.told(item()), 'task f f f, agent_message t f f, task t f f', 'and the first message of the next attempt');
select play('[["Done"]]');
select take(work_continue(item(), 'Go on'));
select play('[[["look"]], ["Done again"]]');
select from work_complete((select id from teller), 'Done');

create temporary table before as select id, regexp_replace(stubs::text, '<(data-[0-9a-f]{12})>.*?</\1>', '', 'g') as stubs, 'x' from elisions;
select from work_erase((select id from teller));
select is(pg_temp.told((select id from reader)), 'task f f f, agent_message f t t, task f t t', 'in every message a line takes its place');
select is(pg_temp.has('elisions'), 0::bigint, 'in every stub as well');
select is_empty($$ select from elisions e join before b on b.id = e.id
                    where replace(e.stubs::text, '[engine] What another agent said stood here; it is erased.', '') <> b.stubs $$, 'and nothing else of the stubs changes');
select is(array[pg_temp.has('messages'), pg_temp.has('inbox'), pg_temp.has('search_entries'), pg_temp.has('work_items'), pg_temp.has('artifacts')], '{0,0,0,0,0}', 'no word is left');
select is_empty($$ select context_at(t.id) from turns t where t.status = 'completed' and t.turn_type = 'normal' and context_at(t.id)::text ~ 'canary' $$, 'nor in a request');
select ok((select count(*) from turns t where t.status = 'completed' and t.turn_type = 'normal' and context_at(t.id)::text ~ 'another agent said stood here') > 5, 'which say what stood there');
select is_empty('select * from ledger_verify()', 'the chains stay valid');
select is((select quote_count from erasures), 1, 'it was one message');

select * from finish();
rollback;
