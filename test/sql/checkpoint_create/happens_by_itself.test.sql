-- Work gets a checkpoint by itself: when a block closes, after fifty entries of its journal, a hundred thousand new tokens, a quarter of an hour.
begin;
select plan(9);

select tool('write_file', 'idempotent');
select agent('{"tools": ["look", "write_file"], "ledger_nudge_interval": 0, "stall_limit": 0, "max_turns": 500}', '{"awareness": {"enabled": false}}');
select submit('Find why');
create function pg_temp.last() returns text language sql as $$ select (checkpoint_latest(item())).trigger $$;
create function pg_temp.look(p_tokens integer default 10) returns void language sql as $$
  select play('[[["look"]]]', p_more => jsonb_build_object('usage', jsonb_build_object('input_tokens', p_tokens, 'output_tokens', 10))) $$;

select is(pg_temp.last(), null, 'work begins without a checkpoint');
select play('[[["plan", "1. look\n2. fix"]], [["decision", "Add an index"]]]');
select is(pg_temp.last(), null, 'two entries are nothing to note yet');
select play('[[["step", "Looked"]]]');
select is(pg_temp.last(), 'block', 'a closed block is a reason');
select from generate_series(1, 16) n, lateral pg_temp.look(n);
select is((select count(*) from work_checkpoints), 1::bigint, '48 more entries of the journal are no reason');
select pg_temp.look();
select is(pg_temp.last(), 'entries', 'fifty entries of the journal are a reason');
select pg_temp.look(100100);
select is(pg_temp.last(), 'tokens', 'a hundred thousand new tokens are a reason');
select pg_temp.look(100200);
select is((select count(*) from work_checkpoints where trigger = 'tokens'), 1::bigint, 'tokens that are sent again are no reason');
alter table work_checkpoints disable trigger all; -- time passes
update work_checkpoints set created_at = created_at - interval '16 minutes';
alter table work_checkpoints enable trigger all;
select pg_temp.look();
select is(pg_temp.last(), 'time', 'a quarter of an hour is a reason');
select is((select count(*) from work_checkpoints), 4::bigint, 'each reason made one checkpoint');

select * from finish();
rollback;
