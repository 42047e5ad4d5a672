-- Budgets: what an item and everything below it may use together. A model call is reserved in the budgets of its item and
-- all ancestors before it is made, and settled by what the provider counted, so that no number of children can overspend.

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
  perform _check_submitter(p_work_item_id);
  perform from fences where work_item_id = p_work_item_id for no key update;
  -- Parked items are locked with skip locked, so that this statement never waits while it holds a lock. An item that is
  -- locked elsewhere just now gets its job below, too.
  v_parked := array(
    select e.work_item_id from work_items w join fences e on e.work_item_id = w.id
     where w.root_id = v_root_id and w.state = 'waiting' and w.run_at = 'infinity'
       for no key update of e skip locked);
  v_budget := _budget_store(p_work_item_id, p_resource, p_amount);
  update work_items set run_at = _now() where id = any (v_parked) and state = 'waiting' and run_at = 'infinity';
  -- A new statement, which also sees the items that parked just before they could see the new amount.
  perform _enqueue_all(array(select id from work_items where root_id = v_root_id and state = 'waiting' and (run_at = 'infinity' or id = any (v_parked))));
  return v_budget;
end
$$;

comment on function budget_set(uuid, text, numeric) is
  'Sets how much a work item and everything below it may use together: select budget_set(''…'', ''tokens'', 200000). Resources: tokens, money (in the currency of model_price_save()), seconds (during which workers drive the items), calls (of models), children. What was already used counts. Work that would exceed the budget is parked (state waiting) and continues automatically when the budget is raised. Returns the budgets row. Raises WL001, WL002.';

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

comment on function _budget_store(uuid, text, numeric) is 'Stores the amount of a budget and returns its row.';

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

comment on function _budgets_above(uuid[]) is 'Locks and returns the budgets that items draw on: their own and those of their ancestors, the oldest items first.';

create or replace function _budget_spend(p_work_item_id uuid, p_deltas jsonb, p_released jsonb default '{}')
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update budgets b
     set spent = b.spent + coalesce((p_deltas ->> b.resource)::numeric, 0),
         reserved = greatest(b.reserved - coalesce((p_released ->> b.resource)::numeric, 0), 0)
   where b.work_item_id = any (array(select work_item_id from _budgets_above(array[p_work_item_id])))
     and (p_deltas ? b.resource or p_released ? b.resource);
$$;

comment on function _budget_spend(uuid, jsonb, jsonb) is 'Adds p_deltas, {resource: amount}, to what is spent and releases the reservation p_released in every budget that an item draws on.';

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
  -- The budgets of all items are locked before the first is written.
  perform from _budgets_above(array(select k::uuid from jsonb_object_keys(p_due) k));
  perform _budget_spend(d.key::uuid, d.value -> 'spent', d.value -> 'released') from jsonb_each(p_due) d;
end
$$;

comment on function _budget_charge(jsonb) is 'Charges the budgets with results of _lease_due(), of one item or of several joined by ||.';
