-- Files of other programs that are followed while they grow: how far they were read, and the state of the sessions in them.

create or replace function followed_file_read(p_file_key text, p_state text, p_work_item_id uuid default null, p_alive_seconds integer default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_file_key, '') !~ '^[0-9a-f]{64}$' then
    perform _raise_invalid('a file is named by the SHA-256 of its path, in hexadecimal');
  elsif coalesce(p_state, '') !~ '\S' or octet_length(p_state) > 200 then
    perform _raise_invalid('the state of a file is a text of at most 200 bytes');
  elsif p_alive_seconds not between 1 and 86400 then
    perform _raise_invalid(format('a session must be alive for 1 to 86400 seconds, not %s', p_alive_seconds));
  elsif p_work_item_id is not null then
    perform _item_locked(p_work_item_id), _check_submitter(p_work_item_id);
    perform _recorded_alive(p_work_item_id, p_alive_seconds) where p_alive_seconds is not null;
  end if;
  insert into followed_files as f (file_key, state, work_item_id)
  select p_file_key, p_state, (select w.id from work_items w where w.id = p_work_item_id and w.erased_at is null)
  on conflict (file_key, submitted_by) do update
    set state = excluded.state, work_item_id = excluded.work_item_id, read_at = excluded.read_at;
end
$$;

comment on function followed_file_read(text, text, uuid, integer) is
  'Says that a file of another program was read to its end: what was in it is stored, see session_import(). p_file_key: the SHA-256 of its path, in hexadecimal. p_state: what it is like, as the reader writes it (size, time of change): followed_files_list() gives it back. p_work_item_id: the work item of the session in it; null: none, or several. p_alive_seconds: the session''s program is at work, and counts as alive for so long (null: it is not), as with journal_heartbeat(). Raises WL001, WL002, 42501 (somebody else''s item).';

create or replace function followed_files_list()
  returns table (file_key text, state text, work_item_id uuid)
  language sql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.file_key, f.state, f.work_item_id from followed_files f where f.submitted_by = session_user;
$$;

comment on function followed_files_list() is 'The files that whoever is logged in has read, each in the state that followed_file_read() was given last.';

create or replace function followed_sessions_rest()
  returns setof uuid
  language plpgsql
  volatile
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid;
begin
  for v_id in
    select distinct w.id
      from followed_files f join work_items w on w.id = f.work_item_id
     where f.submitted_by = session_user and w.work_type = 'journal' and w.state = 'created' and w.heartbeat_ends_at <= _now()
     order by w.id
  loop
    return query select v_id where _recorded_rest(v_id);
  end loop;
end
$$;

comment on function followed_sessions_rest() is
  'Pauses the followed sessions that are at rest, and returns their work items: nothing was heard of their programs for as long as they count as alive, and their last turn has all its results. One whose program went away in the middle of a call has crashed, and stays so. What is appended to it later makes a session active again.';

create or replace function _recorded_alive(p_work_item_id uuid, p_seconds integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _item_locked(p_work_item_id);
begin
  if v_item.work_type = 'journal' and v_item.resolved_at is null then
    perform journal_session_status(v_item.id, 'active') where v_item.state = 'paused';
    perform _journal_alive(v_item.id, p_seconds);
  end if;
end
$$;

comment on function _recorded_alive(uuid, integer) is 'A recorded session is at work, and counts as alive for so long; nothing happens to one that is over. Raises WL001.';

create or replace function _recorded_rest(p_work_item_id uuid)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _item_locked(p_work_item_id);
begin
  if v_item.work_type <> 'journal' or v_item.state <> 'created' or v_item.heartbeat_ends_at > _now()
     or exists (select from sessions s join tool_calls k on k.turn_id = s.head_turn_id
                 where s.label = substr(v_item.external_id, 8) and k.completed_at is null) then
    return false;
  end if;
  v_item.state := 'paused';
  v_item.heartbeat_ends_at := null;
  perform _work_move(v_item, '_recorded_rest');
  return true;
end
$$;

comment on function _recorded_rest(uuid) is 'Pauses a recorded session of which nothing is heard any more, unless a call of its last turn has no result; returns whether it was paused now.';
