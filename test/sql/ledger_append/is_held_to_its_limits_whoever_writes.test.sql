-- Whoever inserts past ledger_append() meets the limits of an entry, also as a replica, with the errors of CHECKs.
begin;
select plan(10);

select submit();
create function pg_temp.insert(p_content text, p_data jsonb default null, p_keep text[] default null, p_type text default 'note') returns text language plpgsql as $$
declare
  v_constraint text;
begin
  update fences set ledger_count = 1 where work_item_id = item();
  insert into work_ledger (work_item_id, seq, entry_type, content, data, keep) values (item(), 1, p_type, p_content, p_data, p_keep);
  raise exception using errcode = 'ZZ999', message = 'inserted';
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  return v_constraint || ': ' || sqlerrm;
when sqlstate 'ZZ999' then
  return sqlerrm;
end
$$;

select is(pg_temp.insert('x'), 'inserted', 'an entry within its limits');
select is(pg_temp.insert(E' \n '), 'content_is_not_blank: new row for relation "work_ledger" violates check constraint "content_is_not_blank"', 'a blank one');
select matches(pg_temp.insert(repeat('x', 16385)), '^content_is_at_most_16_kib: ', 'one that is too long');
select is(pg_temp.insert(repeat('x', 16384)), 'inserted', 'one that is not');
select matches(pg_temp.insert('x', to_jsonb(repeat('x', 65535))), '^data_is_at_most_64_kib: ', 'too much data');
select matches(pg_temp.insert('x', null, '{a.ts}'), '^only_steps_keep: ', 'a note that keeps something');
select matches(pg_temp.insert('x', null, array_fill('a.ts'::text, array[21]), 'step'), '^keep_names_at_most_20: ', 'a step that keeps too much');
select is(pg_temp.insert('x', '{}', '{a.ts}', 'step'), 'inserted', 'a step that keeps something');
update fences set ledger_count = 1 where work_item_id = item();
select throws_ok($$ insert into work_ledger (work_item_id, seq, entry_type, content) values (item(), 1, 'note', null) $$, '23502', null, 'no content at all');
set local session_replication_role = replica;
select matches(pg_temp.insert(''), '^content_is_not_blank: ', 'a replica is held to them, too');

select * from finish();
rollback;
