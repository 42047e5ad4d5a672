-- Daily budgets: what all work of a project or a faculty may use in a day. This file sets and shows them. They are reserved and charged along with
-- the budgets of work items, in budget_reserve.sql and budget_charge.sql.

create or replace function daily_budget_set(p_resource text, p_amount numeric, p_project text default null, p_faculty text default null)
  returns daily_budgets
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_scope text := case when p_faculty is null then 'project' else 'faculty' end;
  v_name text := _daily_name(p_project, p_faculty);
  v_today date := _today();
  v_open uuid[];
  v_parked uuid[];
  v_budget daily_budgets;
begin
  perform _check_word('a resource of a daily budget', p_resource, array_remove(_budget_resources(), 'children'));
  if p_amount is not null then
    perform _budget_amount(p_resource, to_jsonb(p_amount));
  end if;
  -- Lock the items that have a reservation, so that none can meanwhile give it back to a budget that it does not see yet.
  v_open := array(select o from _daily_open(v_scope, v_name) o);
  perform from fences where work_item_id = any (v_open) order by work_item_id for no key update;
  -- As in budget_set(): lock the parked items before the budget, without waiting.
  v_parked := array(
    select e.work_item_id from _daily_parked(v_scope, v_name) p(id) join fences e on e.work_item_id = p.id
       for no key update of e skip locked);
  perform _lock('projects');
  v_name := _daily_name(p_project, p_faculty);
  if p_amount is null then
    perform from daily_spending s where (s.scope, s.name, s.resource) = (v_scope, v_name, p_resource) and (s.day = v_today or s.reserved > 0)
      order by s.day for no key update;
    delete from daily_budgets b where (b.scope, b.name, b.resource) = (v_scope, v_name, p_resource) returning * into v_budget;
    -- Past days are kept as a record. Today is counted again if a budget is set again.
    delete from daily_spending s where (s.scope, s.name, s.resource, s.day) = (v_scope, v_name, p_resource, v_today);
    update daily_spending s set reserved = 0 where (s.scope, s.name, s.resource) = (v_scope, v_name, p_resource) and s.reserved > 0;
  else
    v_budget := _daily_store(v_scope, v_name, p_resource, p_amount, v_today, v_open);
  end if;
  update work_items set run_at = _now() where id = any (v_parked) and state = 'waiting';
  -- A new statement, which also sees items that parked just before the new amount became visible to them. The sweep finds the others.
  perform _enqueue_all(array(
    select p.id from (select unnest(v_parked) as id union select d from _daily_parked(v_scope, v_name) d) p limit 1000));
  return v_budget;
end
$$;

comment on function daily_budget_set(text, numeric, text, text) is
  'Sets how much all work of a project, or of a faculty, may use together per day: select daily_budget_set(''money'', 20, p_project => ''github.com/acme/shop''), or select daily_budget_set(''tokens'', 2000000, p_faculty => ''engineer''). Days are UTC days. p_resource: tokens, money (in the currency of model_price_save()), seconds (while workers drive the items) or calls (of models). p_amount: 0 or more; null: removes the budget. p_project: any of its names; it need not have work yet. Work without a project does not draw on any project''s budget. p_faculty: the name of an existing faculty, or name@project for a project''s own faculty; the budget applies to that one only, whoever submits work to it. An item is limited by the budgets of its tree, of its project and of its faculty. Tokens, money and calls already used today count from the start of the day, as in v_work_hours; seconds count from when the budget is set. Work that would exceed a budget is parked (state waiting). It continues automatically at the end of the day, or when the budget is raised or removed. A model call counts on the day it was reserved. Returns the row of daily_budgets; null: there was none to remove. See v_daily_budgets. Raises WL001 (no such faculty), WL002.';

create or replace function _daily_name(p_project text, p_faculty text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_faculty faculties;
begin
  if num_nonnulls(p_project, p_faculty) <> 1 then
    perform _raise_invalid('a daily budget belongs to either a project or a faculty', 'Pass one of them.');
  elsif p_project is not null then
    return _project_check(p_project);
  end if;
  v_faculty := _faculty_by_ref(p_faculty);
  if v_faculty.name is null then
    raise exception using
      errcode = 'WL001',
      message = format('there is no faculty "%s"', _one_line(p_faculty, 200)),
      hint = coalesce('There is ' || (select string_agg(_faculty_ref(f), ', ' order by f.project) from faculties f
                                       where f.is_current and f.name = split_part(p_faculty, '@', 1)) || '.', 'Create it with faculty_save().');
  end if;
  return _faculty_ref(v_faculty);
end
$$;

comment on function _daily_name(text, text) is 'The name under which daily_budgets stores a project or a faculty. Raises WL001, WL002.';

create or replace function _daily_store(p_scope text, p_name text, p_resource text, p_amount numeric, p_today date, p_open uuid[])
  returns daily_budgets
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_is_new boolean := not exists (select from daily_budgets b where (b.scope, b.name, b.resource) = (p_scope, p_name, p_resource));
  v_budget daily_budgets;
begin
  -- Transactions that draw on the budget read the amount with the day's row locked.
  insert into daily_spending (scope, name, resource, day) values (p_scope, p_name, p_resource, p_today) on conflict do nothing;
  perform from daily_spending s where (s.scope, s.name, s.resource, s.day) = (p_scope, p_name, p_resource, p_today) for no key update;
  insert into daily_budgets (scope, name, resource, amount)
  values (p_scope, p_name, p_resource, p_amount)
  on conflict (scope, name, resource) do update set amount = excluded.amount, updated_at = _now()
  returning * into v_budget;
  if v_is_new then
    perform _daily_count(p_scope, p_name, p_resource, p_today, p_open);
  end if;
  return v_budget;
end
$$;

comment on function _daily_store(text, text, text, numeric, date, uuid[]) is 'Stores the amount of a daily budget. For a new one, counts what was used today and what the items p_open have reserved.';

create or replace function _daily_count(p_scope text, p_name text, p_resource text, p_today date, p_open uuid[] default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update daily_spending s
     set spent = greatest(s.spent, (
           select coalesce(case p_resource when 'tokens' then sum(h.input_tokens + h.cached_input_tokens + h.cache_write_tokens + h.output_tokens)
                                           when 'money' then sum(h.cost) when 'calls' then sum(h.times) end, 0)
             from v_work_hours h
            where h.kind = 'model' and h.began_at >= _day_ends_at(p_today - 1) and h.began_at < _day_ends_at(p_today)
              and case p_scope when 'project' then h.stored_project = any (_project_names(p_name)) else h.faculty = any (_faculty_refs(p_name)) end)),
         reserved = _daily_reserved(p_scope, p_name, p_resource, p_today, p_open)
   where (s.scope, s.name, s.resource, s.day) = (p_scope, p_name, p_resource, p_today);
end
$$;

comment on function _daily_count(text, text, text, date, uuid[]) is
  'Updates today''s row of a budget with what was used, at least the sum of the hours, and what running model calls (of the items p_open) have reserved. A call that ends at this very moment may be missed.';

create or replace function _daily_reserved(p_scope text, p_name text, p_resource text, p_day date, p_work_item_ids uuid[] default null)
  returns numeric
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(case p_resource when 'tokens' then t.reserved_tokens when 'money' then t.reserved_money when 'calls' then 1 else 0 end), 0)
    from turns t
   where t.status in ('pending', 'streaming') and t.reserved_on = p_day and (p_work_item_ids is null or t.work_item_id = any (p_work_item_ids))
     and exists (select from _daily_budgets_of(array[t.work_item_id]) d where (d.scope, d.name, d.resource) = (p_scope, p_name, p_resource));
$$;

comment on function _daily_reserved(text, text, text, date, uuid[]) is 'What running model calls that were reserved on this day (of these items, if any are given) take from a budget.';

create or replace function _daily_open(p_scope text, p_name text)
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select distinct t.work_item_id
    from turns t
   where t.status in ('pending', 'streaming') and t.reserved_on is not null
     and exists (select from _daily_owners(array[t.work_item_id]) o where (o.scope, o.name) = (p_scope, p_name));
$$;

comment on function _daily_open(text, text) is 'The items of a project or a faculty that have something reserved.';

create or replace function _daily_parked(p_scope text, p_name text)
  returns setof uuid
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now(); -- a constant to the planner, so that the index is used
begin
  return query
    select w.id
      from work_items w
     where w.state = 'waiting' and w.run_at > v_now and w.run_at < 'infinity' and _is_parked(w)
       and exists (select from _daily_owners(array[w.id]) o where (o.scope, o.name) = (p_scope, p_name))
     order by w.id;
end
$$;

comment on function _daily_parked(text, text) is 'The items of a project or a faculty that wait for the end of the day.';

create or replace function _is_parked(p_item work_items)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_item.state = 'waiting' and not p_item.is_stranded
     and not exists (select from tool_calls k where k.work_item_id = p_item.id and k.completed_at is null and k.status = 'waiting');
$$;

comment on function _is_parked(work_items) is 'Whether an item waits for a budget: not for a worker elsewhere, and none of its calls is waiting.';

create or replace view v_daily_budgets with (security_invoker = true) as
  select b.scope, b.name, b.resource, b.amount, coalesce(s.spent, 0) as spent, coalesce(s.reserved, 0) as reserved,
         greatest(b.amount - coalesce(s.spent, 0) - coalesce(s.reserved, 0), 0) as remaining
    from daily_budgets b
    left join daily_spending s on (s.scope, s.name, s.resource, s.day) = (b.scope, b.name, b.resource, _today());

comment on view v_daily_budgets is 'What each project and faculty with a daily budget may use, and has used today (UTC). Earlier days are in daily_spending.';
comment on column v_daily_budgets.spent is 'Used today, as counted by the provider and the clock.';
comment on column v_daily_budgets.reserved is 'Reserved today by running model calls.';
comment on column v_daily_budgets.remaining is 'amount minus what is spent and reserved.';
comment on column v_daily_budgets.scope is 'What the budget is for: project or faculty.';
comment on column v_daily_budgets.resource is 'tokens, money, seconds or calls.';

create or replace view v_work_daily_budgets with (security_invoker = true) as
  select w.id as work_item_id, b.scope, b.name, b.resource, b.amount, b.spent, b.reserved, b.remaining
    from work_items w
   cross join lateral _daily_owners(array[w.id]) o
    join v_daily_budgets b on (b.scope, b.name) = (o.scope, o.name)
   where w.resolved_at is null;

comment on view v_work_daily_budgets is
  'The daily budgets that each unfinished work item draws on in addition to those in v_budgets: its project''s and, once it has begun, its faculty''s, with today''s figures: select * from v_work_daily_budgets where work_item_id = ''…''.';
comment on column v_work_daily_budgets.scope is 'What the budget is for: project or faculty.';
comment on column v_work_daily_budgets.resource is 'tokens, money, seconds or calls.';
comment on column v_work_daily_budgets.spent is 'Used today by all work of that project or faculty.';
comment on column v_work_daily_budgets.reserved is 'Reserved today by running model calls of all work of that project or faculty.';
comment on column v_work_daily_budgets.remaining is 'amount minus what is spent and reserved.';
