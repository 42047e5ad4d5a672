-- Whatever is changed in a version of a note, taken out of its history or added to it is found.
begin;
select plan(11);

select memory_write('/memories/a.md', 'one', 'shop', p_why => 'because'), memory_write('/memories/a.md', 'two', 'shop', 1), memory_write('/memories/a.md', 'three', 'shop', 2);
create function pg_temp.after(p_change text) returns text language plpgsql as $$
declare
  v_found text;
begin
  alter table memory_versions disable trigger all;
  execute p_change;
  select string_agg(place || ': ' || problem, '; ' order by problem) into v_found from ledger_verify() where work_item_id is null and place ~ '^note';
  raise exception using errcode = 'P0001', message = coalesce(v_found, 'nothing');
exception when raise_exception then
  return sqlerrm;
end
$$;
select is(pg_temp.after('select'), 'nothing', 'nothing was changed');
select is(pg_temp.after($$ update memory_versions set content = 'x' where version = 2 $$), 'note /memories/a.md of shop: version 2 is not as it was written', 'words');
select is(pg_temp.after($$ update memory_versions set why = null where version = 1 $$), 'note /memories/a.md of shop: version 1 is not as it was written', 'a reason');
select is(pg_temp.after($$ update memory_versions set written_by = 'x' where version = 3 $$), 'note /memories/a.md of shop: version 3 is not as it was written', 'who');
select is(pg_temp.after($$ update memory_versions set created_at = created_at - interval '1 hour' where version = 3 $$), 'note /memories/a.md of shop: version 3 is not as it was written', 'when');
select is(pg_temp.after($$ delete from memory_versions where version = 2 $$), 'note /memories/a.md of shop: version 2 is missing', 'one that is gone');
select is(pg_temp.after($$ delete from memory_versions where version = 3 $$), 'note /memories/a.md of shop: has 2 versions, and should have 3', 'the newest');
select is(pg_temp.after($$ update memory_versions set erased_hash = _memory_words(memory_versions), salt = null where version = 3 $$),
  'note /memories/a.md of shop: version 3 says that it was erased, but has words', 'words that claim to be erased');
select is(pg_temp.after($$ update memory_versions set salt = null where version = 3 $$), 'note /memories/a.md of shop: version 3 is not as it was written', 'a salt that is gone');
select is(pg_temp.after($$ update memory_versions set erased_hash = _memory_words(memory_versions), content = '[erased]', why = null where version = 2 $$),
  'note /memories/a.md of shop: version 2 was erased, but the salt that its words can be guessed with was not', 'a salt that is there');
select is(pg_temp.after($$ update memory_files set is_deleted = true $$), 'note /memories/a.md of shop: is deleted while its newest version is not, or the reverse', 'a file that is hidden');

select * from finish();
rollback;
