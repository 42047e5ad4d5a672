-- Erases notes: their words disappear for good, from all versions or from all but the newest.

create or replace function memory_erase(p_path text, p_reason text, p_project text default null, p_keep_newest boolean default false)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := _memory_path(p_path);
  v_hand memory_hand := _memory_hand(p_project, null, null, null);
  v_file memory_files;
  v_ids uuid[];
  v_count bigint;
begin
  if coalesce(p_reason, '') !~ '\S' or octet_length(p_reason) > 1000 then
    perform _raise_invalid('erasing needs a reason of at most 1,000 bytes, which is kept');
  end if;
  v_hand.why := p_reason;
  v_hand.project := _memory_locked(v_hand.project);
  v_file := _memory_file(v_hand.project, v_path);
  -- Includes files that were deleted at this path.
  v_ids := array(select f.id from memory_files f where f.project = v_hand.project and f.path = v_path);
  if v_ids = '{}' then
    select f.* into v_file from memory_files f
     where f.project = v_hand.project and not f.is_deleted and exists (select from memory_versions v where v.file_id = f.id and v.path = v_path)
     order by f.path limit 1;
    if found then
      raise exception using errcode = 'WL008', message = format('%s is now %s', v_path, v_file.path), hint = 'Erase that one.';
    end if;
    perform _raise_no_memory(v_path);
  end if;
  if v_file.id is not null and not coalesce(p_keep_newest, false) then
    perform _memory_unpinned(v_file);
    v_file := _memory_store(v_hand, v_file, 'erase', v_path, null);
  end if;
  insert into erasing values (pg_current_xact_id());
  update memory_versions v
     set erased_hash = _memory_words(v), content = '[erased]', why = null, salt = null
   where v.file_id = any (v_ids) and v.content <> '[erased]' and _memory_is_past(v);
  get diagnostics v_count = row_count;
  delete from erasing where xid = pg_current_xact_id();
  return v_count;
end
$$;

comment on function memory_erase(text, text, text, boolean) is
  'Erases the words of a note for good, of all its versions, and deletes it; of files that were deleted there, too: select memory_erase(''/memories/clients.md'', ''asked for by Anna'', ''github.com/acme/shop''). Returns how many versions lost their words; who wrote them and when stays, and so does their place in the chain. p_keep_newest: what it says now stays, and only earlier versions are erased. Erasing work (work_erase()) erases what that work wrote into notes, but not what a note says today: this does. What agents were shown of it is in their conversations, and goes with those. The path stays. Raises WL001, WL002, WL008 (it is pinned, or has another path today).';
