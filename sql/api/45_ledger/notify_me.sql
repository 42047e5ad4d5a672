-- Subscriptions: what an agent wants to be told about, and which of it is news. Readers look for changes; writers do nothing.

create or replace function notify_me(p_work_item_id uuid, p_kind text, p_target text, p_always boolean default false, p_lease uuid default null)
  returns subscriptions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid));
  v_target text := btrim(case p_kind when 'path' then regexp_replace(btrim(p_target), '^(\./)+', '') when 'end' then lower(p_target) else p_target end);
  v_news jsonb := _config_of(v_item) -> 'awareness';
  v_row subscriptions;
begin
  perform _check_word('a kind of subscription', p_kind, '{end,path,text}');
  if coalesce(v_target, '') = '' or octet_length(v_target) > 1000 then
    perform _raise_invalid('what to look for is missing, or has more than 1,000 bytes');
  elsif v_news ->> 'enabled' = 'false' or v_news ->> 'refresh_every' = '0' then
    raise exception using
      errcode = 'WL008',
      message = 'the faculty of this work does not report news to its agents',
      hint = 'Its [awareness] has enabled = false, or refresh_every = 0.';
  elsif p_kind = 'end' then
    perform _visible(v_item, _uuids('work_item_id', jsonb_build_array(v_target)));
  end if;
  if (select count(*) from subscriptions where work_item_id = v_item.id and (kind, target) <> (p_kind, v_target)) >= 20 then
    raise exception using errcode = 'WL009', message = 'this work item already has 20 subscriptions', hint = 'Wait for work with wait_for, or search.';
  end if;
  insert into subscriptions (work_item_id, kind, target, is_always)
  values (v_item.id, p_kind, v_target, coalesce(p_always, false))
  on conflict (work_item_id, kind, target) do update
     set is_always = excluded.is_always, created_at = excluded.created_at, told_at = null
  returning * into v_row;
  return v_row;
end
$$;

comment on function notify_me(uuid, text, text, boolean, uuid) is
  'Subscribes the agent of a work item to something: it is told with the news of its next iterations, until its item is over. Returns the subscription: select notify_me(''ITEM'', ''path'', ''src/a.ts'', true). p_kind: end (p_target: a work item of its project, of none or of its tree), path (p_target: a file that others change) or text (p_target: words in a plan, decision, finding or error of others, ignoring case). p_always: every time, not only once. Subscribing again starts over. At most 20 per item. p_lease: required while a worker drives the item. Raises WL001 (also for work of another project), WL002, WL003, WL004, WL005, WL008 (its faculty tells no news), WL009, 42501.';

create or replace function _visible(p_item work_items, p_work_item_ids uuid[])
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_stranger uuid;
begin
  select i into v_stranger
    from unnest(p_work_item_ids) i
   where not exists (select from work_items w where w.id = i
                        and (w.root_id = p_item.root_id or w.project is null or _project_now(w.project) = _project_now(p_item.project)))
   limit 1;
  if found then
    perform _raise_not_found('work item', v_stranger);
  end if;
end
$$;

comment on function _visible(work_items, uuid[]) is 'Rejects a work item that is not in the agent''s project, in none, or in its tree. Raises WL001.';

create or replace function _changes_of(p_work_item_id uuid, p_subscription subscriptions, p_projects text[])
  returns table (work_item_id uuid, at timestamptz, event text)
  language sql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c.work_item_id, max(c.began_at), extract(epoch from max(c.began_at))::text -- the same text in every session
    from work_items i
   cross join lateral unnest(_names_of_file(coalesce(i.workspace_dir, _session_directory(i)), p_subscription.target)) f(path)
   cross join lateral (
     select c.*
       from _file_changes(f.path) c
      where c.began_at > coalesce(p_subscription.told_at, p_subscription.created_at) - interval '1 minute'
     offset 0) c -- as in _stale_file()
    join lateral (select w.* from work_items w where w.id = c.work_item_id offset 0) w on w.root_id = i.root_id or coalesce(w.project, '') = any (p_projects)
   where i.id = p_work_item_id and w.id <> i.id
     -- What the hooks of a recorded session log are the calls in its record.
     and (c.tool_call_id is null and _is_recorded(w)) is not true
   group by 1;
$$;

comment on function _changes_of(uuid, subscriptions, text[]) is 'Who else changed the file of a subscription since its item was told of it, and when last, by calls or as the hooks of a session say: by the path as these name it, from the directory of the work or whole.';
