-- Workers that keep a tree for themselves, and workers that stop.

create or replace function work_keep(
    p_work_item_id uuid,
    p_worker_id text,
    p_host text default '',
    p_pid integer default 0)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root_id uuid := (select root_id from work_items where id = p_work_item_id);
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform lease_renew(p_worker_id, '{}', '{}', p_host, p_pid, v_root_id);
  perform _tree_enqueue(v_root_id);
end
$$;

comment on function work_keep(uuid, text, text, integer) is
  'Reserves the tree of a work item, including future children, for one worker: while that worker lives (see lease_renew()), no other takes jobs of the tree. When it stops or dies, the other workers take over. Raises WL001, WL002.';

create or replace function worker_stop(p_worker_id text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tree_id uuid;
begin
  delete from workers where id = p_worker_id returning tree_id into v_tree_id;
  perform _unlock_jobs(array[p_worker_id]);
  perform _tree_enqueue(v_tree_id) where v_tree_id is not null;
end
$$;

comment on function worker_stop(text) is 'Removes a stopped worker from workers, unlocks the jobs that it still holds, and releases the tree that it kept to the other workers.';

create or replace function _tree_enqueue(p_tree_id uuid)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _enqueue(i.id)
    from (select w.id from work_items w
            join fences e on e.work_item_id = w.id
           where w.root_id = p_tree_id and w.state in ('queued', 'claimed', 'running') and e.lease_hash is null
           order by w.id) i;
$$;

comment on function _tree_enqueue(uuid) is 'Enqueues the runnable items of a tree again, under the task identifier that its workers now look for. Waiting items are found by the sweep.';
