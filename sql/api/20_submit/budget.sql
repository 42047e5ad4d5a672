-- Budgets: what an item and everything below it may use together. Before a model call is made, its cost is reserved in the budgets of its item and of
-- all ancestors. Afterwards they are charged with what the provider counted. So no number of children can overspend. This file sets and shows
-- budgets; budget_reserve.sql and budget_charge.sql do the rest.

create or replace function budget_set(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root_id uuid := (select root_id from work_items where id = p_work_item_id);
  v_open uuid[];
  v_parked uuid[];
  v_budget budgets;
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform _budget_amount(p_resource, to_jsonb(p_amount));
  perform _check_submitter(p_work_item_id);
  -- Lock the item, and those that have a reservation, so that none can meanwhile give it back to a budget that it does not see yet.
  v_open := array(select id from _items_below(p_work_item_id) b(id) where exists (
    select from turns t where t.work_item_id = b.id and t.status in ('pending', 'streaming') and t.reserved_tokens is not null));
  perform from fences where work_item_id = any (v_open || p_work_item_id) order by work_item_id for no key update;
  -- Locks parked items with skip locked, so that this statement never waits while it holds a lock. An item that is locked elsewhere gets its job below
  -- as well.
  v_parked := array(
    select e.work_item_id from work_items w join fences e on e.work_item_id = w.id
     where w.root_id = v_root_id and w.state = 'waiting' and w.run_at = 'infinity'
       for no key update of e skip locked);
  v_budget := _budget_store(p_work_item_id, p_resource, p_amount, v_open);
  update work_items set run_at = _now() where id = any (v_parked) and state = 'waiting' and run_at = 'infinity';
  -- A new statement, which also sees items that parked just before the new amount became visible to them.
  perform _enqueue_all(array(select id from work_items where root_id = v_root_id and state = 'waiting' and (run_at = 'infinity' or id = any (v_parked))));
  return v_budget;
end
$$;

comment on function budget_set(uuid, text, numeric) is
  'Sets how much a work item and everything below it may use together: select budget_set(''…'', ''tokens'', 200000). Resources: tokens, money (in the currency of model_price_save()), seconds (while workers drive the items), calls (of models), children. Earlier use counts, also for a new budget: tokens, money (at today''s prices), answered calls and children. Seconds count from when it is set. Work that would exceed the budget is parked (state waiting) and continues automatically when the budget is raised. Returns the budgets row. Raises WL001, WL002.';

create or replace function _budget_store(p_work_item_id uuid, p_resource text, p_amount numeric, p_open uuid[] default '{}')
  returns budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into budgets (work_item_id, resource, amount, spent, reserved)
  select p_work_item_id, p_resource, p_amount, u.spent, u.reserved from _budget_used(p_work_item_id, p_resource, p_open) u
  on conflict (work_item_id, resource) do update set amount = p_amount
  returning *;
$$;

comment on function _budget_store(uuid, text, numeric, uuid[]) is
  'Stores the amount of a budget and returns its row. A new one begins with what was used before, and with what p_open, items that the caller has locked, have reserved in other budgets.';

create or replace function _budget_used(p_work_item_id uuid, p_resource text, p_open uuid[], out spent numeric, out reserved numeric)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := array(select _items_below(p_work_item_id));
begin
  spent := coalesce(case p_resource
    when 'tokens' then (select tokens from _usage_of(v_ids))
    when 'money' then (select cost from _usage_of(v_ids))
    when 'calls' then (select model_calls from _usage_of(v_ids))
    when 'children' then cardinality(v_ids) - 1
  end, 0);
  reserved := coalesce((
    select sum(case p_resource when 'tokens' then t.reserved_tokens when 'money' then t.reserved_money when 'calls' then 1 else 0 end)
      from turns t
     where t.work_item_id = any (p_open) and t.status in ('pending', 'streaming') and t.reserved_tokens is not null), 0);
end
$$;

comment on function _budget_used(uuid, text, uuid[]) is
  'What an item and everything below it used of a resource before there was a budget for it (0 for seconds, which are not known), and what its running model calls in p_open have reserved. A call that ends at this very moment may be missed.';

create or replace function _items_below(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive tree as (
    select id from work_items where id = p_work_item_id
    union all
    select c.id from tree t join work_items c on c.parent_id = t.id
  )
  select id from tree;
$$;

comment on function _items_below(uuid) is 'The item and everything below it; empty if there is no such item.';

create or replace function _budgets_by_default(p_work_item_id uuid, p_config jsonb)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _budget_store(p_work_item_id, b.key, b.value::numeric)
    from jsonb_each_text(p_config -> 'budget') b
   where b.value is not null and not exists (select from budgets where (work_item_id, resource) = (p_work_item_id, b.key::budget_resource));
$$;

comment on function _budgets_by_default(uuid, jsonb) is 'Gives an item the budgets of its faculty''s configuration, where it has none of its own.';

create or replace function _budget_child(p_parent_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_budget budget_draw;
begin
  select * into v_budget from _budgets_above(array[p_parent_id]) where resource = 'children' and spent >= amount limit 1;
  if found then
    raise exception using
      errcode = 'WL009',
      message = format('the budget of %s children of work item %s is used up', trim_scale(v_budget.amount), v_budget.work_item_id),
      hint = 'Do the rest without children; a person can raise it with budget_set().';
  end if;
  perform _budget_spend(p_parent_id, '{"spent": {"children": 1}}');
end
$$;

comment on function _budget_child(uuid) is 'Counts a new child in the budgets of its ancestors. Raises WL009 if one of them has no children left.';

create or replace view v_budgets with (security_invoker = true) as
  select work_item_id, resource, amount, spent, reserved, greatest(amount - spent - reserved, 0) as remaining
    from budgets;
comment on view v_budgets is 'What each work item and everything below it may use, has used, and has reserved for running model calls.';
comment on column v_budgets.remaining is 'amount minus what is spent and reserved.';
