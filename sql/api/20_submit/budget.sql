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
  v_parked uuid[];
  v_budget budgets;
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform _budget_amount(p_resource, to_jsonb(p_amount));
  perform _check_submitter(p_work_item_id);
  perform from fences where work_item_id = p_work_item_id for no key update;
  -- Locks parked items with skip locked, so that this statement never waits while it holds a lock. An item that is locked elsewhere gets its job below
  -- as well.
  v_parked := array(
    select e.work_item_id from work_items w join fences e on e.work_item_id = w.id
     where w.root_id = v_root_id and w.state = 'waiting' and w.run_at = 'infinity'
       for no key update of e skip locked);
  v_budget := _budget_store(p_work_item_id, p_resource, p_amount);
  update work_items set run_at = _now() where id = any (v_parked) and state = 'waiting' and run_at = 'infinity';
  -- A new statement, which also sees items that parked just before the new amount became visible to them.
  perform _enqueue_all(array(select id from work_items where root_id = v_root_id and state = 'waiting' and (run_at = 'infinity' or id = any (v_parked))));
  return v_budget;
end
$$;

comment on function budget_set(uuid, text, numeric) is
  'Sets how much a work item and everything below it may use together: select budget_set(''…'', ''tokens'', 200000). Resources: tokens, money (in the currency of model_price_save()), seconds (while workers drive the items), calls (of models), children. Earlier use counts, also for a new budget: tokens, money (at today''s prices), answered calls and children. Seconds count from when it is set. Work that would exceed the budget is parked (state waiting) and continues automatically when the budget is raised. Returns the budgets row. Raises WL001, WL002.';

create or replace function _budget_store(p_work_item_id uuid, p_resource text, p_amount numeric)
  returns budgets
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into budgets (work_item_id, resource, amount, spent)
  values (p_work_item_id, p_resource, p_amount, _budget_used(p_work_item_id, p_resource))
  on conflict (work_item_id, resource) do update set amount = p_amount
  returning *;
$$;

comment on function _budget_store(uuid, text, numeric) is 'Stores the amount of a budget and returns its row.';

create or replace function _budget_used(p_work_item_id uuid, p_resource text)
  returns numeric
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := array(
    with recursive tree as (
      select p_work_item_id as id
      union all
      select c.id from tree t join work_items c on c.parent_id = t.id
    )
    select id from tree);
begin
  return coalesce(case p_resource
    when 'tokens' then (select tokens from _usage_of(v_ids))
    when 'money' then (select cost from _usage_of(v_ids))
    when 'calls' then (select model_calls from _usage_of(v_ids))
    when 'children' then cardinality(v_ids) - 1
  end, 0);
end
$$;

comment on function _budget_used(uuid, text) is 'What an item and everything below it used of a resource before there was a budget for it; 0 for seconds, which are not known. A call that ends at this very moment may be missed.';

create or replace function _budgets_by_default(p_work_item_id uuid, p_config jsonb)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into budgets (work_item_id, resource, amount)
  select p_work_item_id, b.key, b.value::numeric from jsonb_each_text(p_config -> 'budget') b where b.value is not null
  on conflict do nothing;
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
