-- Budgets: limits for a work item and everything below it.

create table budgets (
  work_item_id uuid not null references work_items (id),
  resource budget_resource not null,
  amount numeric not null,
  reserved numeric not null default 0,
  spent numeric not null default 0,
  created_at timestamptz not null default _now(),
  primary key (work_item_id, resource),
  constraint amount_is_not_negative check (amount >= 0),
  constraint reserved_is_not_negative check (reserved >= 0)
) with (fillfactor = 50);

comment on table budgets is
  'What a work item and everything below it may use together. Reserved before a model is asked, settled by what the provider counted. Written by budget_set() and the stages of an iteration.';
comment on column budgets.work_item_id is 'The root of what shares the budget: this item and everything below it.';
comment on column budgets.spent is 'Used so far, as counted by the provider and the clock.';
comment on column budgets.resource is 'tokens: input and output, cached input included. money: at the prices in models. seconds: during which workers drove the items. calls: model calls. children: items submitted below it.';
comment on column budgets.amount is 'The limit; money in the currency of the prices.';
comment on column budgets.reserved is 'Reserved by model calls under way.';
