begin;
select plan(17);

select tool('write_file', 'idempotent');
select agent('{"tools": ["look", "write_file"], "ledger_nudge_interval": 0, "stall_limit": 0, "max_turns": 500}', '{"awareness": {"enabled": false}}');
select submit('Find why');
create function pg_temp.turn(p_content text, p_tokens integer default 10) returns void language plpgsql as $$
declare
  v_item uuid := item();
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(v_item, v_lease, v_turn, format('{"stop_reason": "tool_use", "content": [%s], "usage": {"input_tokens": %s, "output_tokens": 10}}', p_content, p_tokens)::json);
  perform tool_call_settle(v_item, v_lease, k.id, 'saw') from tool_calls k where k.turn_id = v_turn and tool_name <> 'ledger_append';
  perform tool_call_execute(v_item, v_lease, k.id) from (select id from tool_calls where turn_id = v_turn and tool_name = 'ledger_append' order by ordinal) k;
  perform iteration_finish(v_item, v_lease);
end
$$;
create function pg_temp.look() returns text language sql as $$ select '{"type": "tool_use", "id": "a", "name": "look", "input": {}}' $$;
create function pg_temp.entry(p_type text, p_content text) returns text language sql as $$
  select format('{"type": "tool_use", "id": "l", "name": "ledger_append", "input": {"entry_type": "%s", "content": "%s"}}', p_type, p_content) $$;
create function pg_temp.last() returns text language sql as $$ select (checkpoint_latest(item())).trigger $$;

select is(pg_temp.last(), null, 'none at first');
select from pg_temp.turn(pg_temp.entry('plan', '1. look\n2. mend'));
select from pg_temp.turn(pg_temp.entry('decision', 'Add an index'));
select is(pg_temp.last(), null, 'nothing to note yet');
select from pg_temp.turn(pg_temp.entry('step', 'Looked'));
select is(pg_temp.last(), 'block', 'a closed block');
select results_eq($$ select summary, key_decisions, files_modified, pending_actions, ledger_seq from work_checkpoints $$,
  $$ values ('1 steps done. Looked', '["Add an index"]'::jsonb, '[]'::jsonb, '["look", "mend"]'::jsonb, 3) $$, 'what it says');
select alike((select current_state from work_checkpoints), '%attempt 1, iteration 3; last step: Looked', 'and where');
select from generate_series(1, 16) n, lateral pg_temp.turn(pg_temp.look(), n);
select is((select count(*) from work_checkpoints), 1::bigint, '48 entries are no reason');
select from pg_temp.turn(pg_temp.look());
select is(pg_temp.last(), 'entries', 'fifty are');
select from pg_temp.turn(pg_temp.look(), 100100);
select is(pg_temp.last(), 'tokens', 'so are a hundred thousand tokens');
select from pg_temp.turn(pg_temp.look(), 100200);
select is((select count(*) from work_checkpoints where trigger = 'tokens'), 1::bigint, 'that are new, not sent again');
alter table work_checkpoints disable trigger all; -- time passes
update work_checkpoints set created_at = created_at - interval '16 minutes';
alter table work_checkpoints enable trigger all;
select from pg_temp.turn(pg_temp.look());
select is(pg_temp.last(), 'time', 'and a quarter of an hour');
select is((select count(*) from work_checkpoints), 4::bigint, 'each once');
select is((checkpoint_create(item())).trigger, 'manual', 'or by hand');
create function pg_temp.write(p_path text) returns text language sql as $$ select format('{"type": "tool_use", "id": "w", "name": "write_file", "input": {"path": "%s"}}', p_path) $$;
select from pg_temp.turn(pg_temp.write('a.ts'));
select from pg_temp.turn(pg_temp.write('b.ts'));
select is((checkpoint_create(item())).files_modified, '["b.ts", "a.ts"]', 'files, the newest first');
select from pg_temp.turn(pg_temp.write('a.ts'));
select is((checkpoint_create(item())).files_modified, '["a.ts", "b.ts"]', 'with those of the last checkpoint');
select throws_ok($$ select checkpoint_create(gen_random_uuid()) $$, 'WL001', null, 'of an item that is there');
select throws_ok($$ select checkpoint_create(item(), 'mood') $$, 'WL002', null, 'for a reason that is known');
select throws_ok($$ update work_checkpoints set summary = 'other' $$, 'WL007', null, 'and never changed');

select * from finish();
rollback;
