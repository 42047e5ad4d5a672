-- Erases a whole tree of work: its words disappear for good, and a tombstone stays.

create or replace function work_erase(
    p_work_item_id uuid,
    p_reason text default 'erased by hand',
    p_is_dry_run boolean default false,
    p_with_forks boolean default false)
  returns table (kind text, name text, row_count bigint, bytes bigint)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[] := _erase_tree(p_work_item_id, p_with_forks);
  v_forks uuid[];
  v_left uuid[];
  v_id uuid;
  v_count bigint;
begin
  if coalesce(p_reason, '') !~ '\S' or octet_length(p_reason) > 1000 then
    perform _raise_invalid('erasing needs a reason of at most 1,000 bytes, which is kept');
  elsif p_is_dry_run is null then
    perform _raise_invalid('p_is_dry_run must be true or false');
  end if;
  if not p_is_dry_run then
    v_ids := _erase_lock(p_work_item_id, p_with_forks);
  end if;
  v_forks := _erase_forks(v_ids);
  v_left := array(select w.id from work_items w where w.id = any (v_ids) and w.resolved_at is null order by 1);
  if not p_is_dry_run then
    perform _erase_check(v_left, v_forks);
  end if;
  return query
    select 'item', w.id::text, null::bigint, null::bigint from work_items w where w.id = any (v_ids) order by w.depth, w.id;
  return query select 'not over', i::text, null::bigint, null::bigint from unnest(v_left) i;
  return query select 'fork', i::text, null::bigint, null::bigint from unnest(v_forks) i;
  return query select 'quoted in', q.work_item_id::text, count(*), null::bigint from _quotes(v_ids) q group by q.work_item_id order by 2;
  return query
    select 'note', coalesce(nullif(f.project, '') || ' ', '') || f.path, null::bigint, octet_length(v.content)::bigint
      from memory_versions v join memory_files f on f.id = v.file_id and f.version = v.version and not f.is_deleted
     where v.work_item_id = any (v_ids)
     order by 2;
  return query select 'table', c.relation, c.row_count, c.bytes from _erase_count(v_ids, 'nothing') c where c.row_count > 0;
  if p_is_dry_run then
    return;
  end if;
  insert into erasing values (pg_current_xact_id());
  perform _erase_begin(v_ids, 'nothing', p_reason);
  for v_id, v_count in
    select i.id, coalesce(sum(r.row_count), 0)
      from unnest(v_ids) as i(id)
      left join _erase_rows(v_ids, 'nothing') r on r.work_item_id = i.id
     group by i.id
  loop
    perform _erase_end(v_id, v_count), _quotes_erase(v_id);
  end loop;
  delete from erasing where xid = pg_current_xact_id();
end
$$;

comment on function work_erase(uuid, text, boolean, boolean) is
  'Erases a finished work item and everything below it for good: select * from work_erase(''…'', p_is_dry_run => true) shows what goes, without p_is_dry_run it goes. Tasks, outcomes, ledger, messages, calls, summaries, journal, search entries and artifacts that no other work uses are replaced by [erased] or removed, and the transcripts of a session with those of its subagents (what these were read into is work of its own); what stays is that it was: ids and keys of callers, times, counts, states, and p_reason in erasures. Digests of other work that quote it are replaced, too; of work that is not over when it is (work_retention_run()). What other agents wrote of it in their own words stays. A tree is erased as a whole: parents and children quote each other. Forks share turns: they are refused, or erased, too, with p_with_forks. Returns rows of a kind: item (goes), not over, fork, quoted in (another work item, with its number of digests), table (with rows and bytes of words). Erasing again finds nothing, and does no harm. Raises WL001, WL002 (part of a larger tree; p_is_dry_run is null), WL008 (not over, or forked).';

create or replace function session_work(p_session text)
  returns uuid
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions := _session_named(p_session);
begin
  return (
    select w.root_id
      from work_items w
     where w.id = coalesce(
       (select f.work_item_id from foci f where f.session_label = v_session.label order by f.created_at desc, f.id desc limit 1),
       (select t.work_item_id from turns t where t.id = v_session.head_turn_id)));
end
$$;

comment on function session_work(text) is 'The root of the work to which a session belongs: select work_erase(session_work(''claude-code:…'')). Null: the session has no turns. Raises WL001.';

create or replace function _erase_tree(p_work_item_id uuid, p_with_forks boolean)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := (select w from work_items w where w.id = p_work_item_id);
  v_ids uuid[];
  v_more uuid[] := array[p_work_item_id];
begin
  if v_item.id is null then
    perform _raise_not_found('work item', p_work_item_id);
  elsif v_item.parent_id is not null then
    perform _raise_invalid(
      format('work item %s is part of the tree of %s, in which its words are quoted', v_item.id, v_item.root_id),
      format('Erase the whole tree: work_erase(''%s'').', v_item.root_id));
  end if;
  while v_more <> '{}' loop
    v_ids := coalesce(v_ids, '{}') || array(select w.id from work_items w where w.root_id = any (v_more) order by w.id);
    v_more := array(select distinct w.root_id from work_items w where p_with_forks and w.id = any (_erase_forks(v_ids)));
  end loop;
  return v_ids;
end
$$;

comment on function _erase_tree(uuid, boolean) is 'The items of a tree; p_with_forks: also those of its forks, and of theirs. Raises WL001, WL002.';

create or replace function _erase_forks(p_ids uuid[])
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(f.id order by f.id), '{}')
    from (select w.id
            from turns t
            join work_items w on w.fork_turn_id = t.id
           where t.work_item_id = any (p_ids)
          union
          select c.work_item_id
            from turns t
            join turns c on c.parent_turn_id = t.id
           where t.work_item_id = any (p_ids) and c.work_item_id <> t.work_item_id
          union
          select w.id from work_items w where w.continues_id = any (p_ids)) f
   where f.id <> all (p_ids) and exists (select from work_items w where w.id = f.id and w.erased_at is null);
$$;

comment on function _erase_forks(uuid[]) is 'Other work that shares turns or the ledger of these items, and is not erased.';

create or replace function _erase_lock(p_work_item_id uuid, p_with_forks boolean)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[];
  v_locked uuid[] := '{}';
begin
  -- Repeat until no fork or child has been added in between. A later fork waits for the lock, and finds the tombstone.
  loop
    v_ids := _erase_tree(p_work_item_id, p_with_forks);
    exit when v_ids <@ v_locked;
    perform from fences where work_item_id = any (v_ids) order by work_item_id for no key update;
    perform _lock_all('trees', array(select distinct root_id::text from work_items where id = any (v_ids)));
    v_locked := v_ids;
  end loop;
  perform from foci where work_item_id = any (v_ids) order by id for no key update;
  -- Locks the transcripts, so that nothing is appended to them meanwhile.
  perform from transcripts t where t.id in (select _transcripts_of(i) from unnest(v_ids) i) order by t.id for no key update;
  return v_ids;
end
$$;

comment on function _erase_lock(uuid, boolean) is 'Locks the items that _erase_tree() names, and keeps forks from being made of them; returns their ids.';

create or replace function _erase_check(p_left uuid[], p_forks uuid[])
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_left <> '{}' then
    raise exception using
      errcode = 'WL008',
      message = format('these have not ended: %s', array_to_string(p_left[:20], ', ')),
      hint = 'Wait for its end, or end it: work_cancel().';
  elsif p_forks <> '{}' then
    raise exception using
      errcode = 'WL008',
      message = format('its turns are shared by forks: %s', array_to_string(p_forks[:20], ', ')),
      hint = 'Erase those first, or with it: p_with_forks => true.';
  end if;
end
$$;

comment on function _erase_check(uuid[], uuid[]) is 'Raises WL008 where an item is not over, or forked.';

create or replace function _erase_begin(p_ids uuid[], p_keep text, p_reason text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  insert into erasures (work_item_id, root_id, keep, reason)
  select w.id, w.root_id, p_keep, p_reason from work_items w where w.id = any (p_ids) order by w.id
  on conflict (work_item_id) do update
     set keep = excluded.keep, reason = excluded.reason, erased_by = excluded.erased_by, erased_at = null, is_quoted = true
   where erasures.keep <> excluded.keep;
  update work_items set erased_at = coalesce(erased_at, _now()) where id = any (p_ids);
end
$$;

comment on function _erase_begin(uuid[], text, text) is 'Writes the tombstones: from here on readers see them, and nothing continues from the turns of these items.';

create or replace function _erase_end(p_work_item_id uuid, p_row_count bigint)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update fences set salt = null where work_item_id = p_work_item_id and (select keep from erasures where work_item_id = p_work_item_id) = 'nothing';
  update erasures set erased_at = coalesce(erased_at, _now()), row_count = row_count + p_row_count where work_item_id = p_work_item_id;
$$;

comment on function _erase_end(uuid, bigint) is 'The last word of an item has gone; with it goes the salt of its hashes, so that none can be guessed.';
