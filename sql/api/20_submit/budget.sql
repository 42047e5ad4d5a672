-- Budgets: what an item and everything below it may use together. A model call reserves in every budget above it before it
-- is made and is settled by what the provider counted, so that no number of children can use more than there is.

create or replace function budget_set(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root_id uuid := (select root_id from work_items where id = p_work_item_id);
  v_parked uuid[];
  v_budget budgets;
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform _budget_amount(p_resource, to_jsonb(p_amount));
  perform from work_items where id = p_work_item_id for no key update;
  -- Those that are parked wait for nobody, so that nobody waits here for one while another is held; who is locked is rung for all the same.
  v_parked := array(select id from work_items where root_id = v_root_id and state = 'waiting' and run_at = 'infinity' for no key update skip locked);
  v_budget := _budget_store(p_work_item_id, p_resource, p_amount);
  update work_items set run_at = _now() where id = any (v_parked);
  -- In a new statement, and so with those that parked just before the new amount was theirs to see.
  perform _enqueue_all(array(select id from work_items where root_id = v_root_id and state = 'waiting' and (run_at = 'infinity' or id = any (v_parked))));
  return v_budget;
end
$$;

comment on function budget_set(uuid, text, numeric) is
  'Sets how much a work item and everything below it may use together: select budget_set(''…'', ''tokens'', 200000). Resources: tokens, money (in the currency of model_price_save()), seconds (of workers driving it), calls (of models), children. What was used already counts. Work that would exceed it is parked (state waiting) and goes on by itself when the budget is raised. Returns the budgets row. Raises WL001, WL002.';

create or replace function _budget_store(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into budgets (work_item_id, resource, amount)
  values (p_work_item_id, p_resource, p_amount)
  on conflict (work_item_id, resource) do update set amount = p_amount
  returning *;
$$;

comment on function _budget_store(uuid, text, numeric) is 'Writes the amount of a budget.';

create or replace function _budgets_above(p_work_item_ids uuid[])
  returns setof budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive line as (
    select id, parent_id from work_items where id = any (p_work_item_ids) and exists (select from budgets)
    union
    select w.id, w.parent_id from line l join work_items w on w.id = l.parent_id
  )
  select b.* from budgets b
   where b.work_item_id in (select id from line)
   order by b.work_item_id, b.resource
     for no key update;
$$;

comment on function _budgets_above(uuid[]) is 'Locks the budgets that items draw on: their own and those of their ancestors, the oldest first.';

create or replace function _budget_spend(p_work_item_id uuid, p_deltas jsonb, p_released jsonb default '{}')
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update budgets b
     set spent = b.spent + coalesce((p_deltas ->> b.resource)::numeric, 0),
         reserved = greatest(b.reserved - coalesce((p_released ->> b.resource)::numeric, 0), 0)
    from _budgets_above(array[p_work_item_id]) a
   where (b.work_item_id, b.resource) = (a.work_item_id, a.resource) and (p_deltas ? b.resource or p_released ? b.resource);
$$;

comment on function _budget_spend(uuid, jsonb, jsonb) is 'Counts what was used, and lets go of what was reserved, in every budget that an item draws on.';

create or replace function _budget_charge(p_due jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_due = '{}' then
    return;
  end if;
  -- Of several items the budgets of all before the first is written.
  perform from _budgets_above(array(select k::uuid from jsonb_object_keys(p_due) k));
  perform _budget_spend(d.key::uuid, d.value -> 'spent', d.value -> 'released') from jsonb_each(p_due) d;
end
$$;

comment on function _budget_charge(jsonb) is 'Charges what _lease_due() said of one item or of several, their objects joined by ||.';
