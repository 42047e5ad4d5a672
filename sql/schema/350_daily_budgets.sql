-- Daily budgets: what all work of a project or a faculty may use in a day, and what it has used.

create table daily_budgets (
  scope text not null,
  name text not null,
  resource budget_resource not null,
  amount numeric not null,
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  primary key (scope, name, resource),
  constraint scope_is_known check (scope in ('project', 'faculty')),
  constraint resource_is_used_by_the_day check (resource <> 'children'),
  constraint amount_is_a_number check (amount >= 0 and amount < 'Infinity')
);

create table daily_spending (
  scope text not null,
  name text not null,
  resource budget_resource not null,
  day date not null,
  spent numeric not null default 0,
  reserved numeric not null default 0,
  primary key (scope, name, resource, day),
  constraint reserved_is_not_negative check (reserved >= 0)
) with (fillfactor = 50);

create type budget_draw as (
  work_item_id uuid,
  scope text,
  name text,
  resource budget_resource,
  day date,
  amount numeric,
  spent numeric,
  reserved numeric
);

comment on table daily_budgets is 'What all work of a project or of a faculty may use together in a day, which is one of UTC. Written by daily_budget_set().';
comment on column daily_budgets.scope is 'Of what it is: project or faculty.';
comment on column daily_budgets.name is 'The name that the project has today; of a faculty its name or, if it is a project''s, name@project.';
comment on column daily_budgets.resource is 'tokens, money, seconds or calls: see budgets.resource.';
comment on column daily_budgets.amount is 'The limit of each day; money in the currency of the prices.';
comment on table daily_spending is
  'What was used in a day of what daily_budgets limits: a row for each day on which something drew on it. Sums only, which stay when work is erased, for 400 days. Written by daily_budget_set() and the stages of an iteration.';
comment on column daily_spending.scope is 'As in daily_budgets.';
comment on column daily_spending.name is 'As in daily_budgets.';
comment on column daily_spending.resource is 'As in daily_budgets.';
comment on column daily_spending.day is 'The day, of UTC: a model call is of the day in which it was reserved, seconds are of the day in which they were counted.';
comment on column daily_spending.spent is 'Used in it so far, as counted by the provider and the clock.';
comment on column daily_spending.reserved is 'Reserved by model calls under way.';
comment on type budget_draw is
  'A budget that an item draws on, with what was used of it: one of a work item (work_item_id), or one by day of a project or a faculty (scope, name, day).';
