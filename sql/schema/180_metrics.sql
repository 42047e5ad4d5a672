-- How far metrics have been collected, and indexes that find the rows of a short period.

create table metrics_taken (
  is_only boolean primary key default true,
  until_at timestamptz not null,
  constraint there_is_only_one check (is_only)
);

create index turns_answered on turns (completed_at) where completed_at is not null;
-- For queries that read all calls of a period: with this predicate, no other query's plan uses it.
create index tool_calls_ended on tool_calls (completed_at) where completed_at > '-infinity';
-- A BRIN index costs an append almost nothing, since rows are stored in order of time.
create index work_ledger_time on work_ledger using brin (created_at) with (pages_per_range = 32, autosummarize = on);

comment on table metrics_taken is 'One row: until when work_metrics_take() has given out what to count; none: nobody counts.';
comment on column metrics_taken.is_only is 'Always true: the table has one row at most.';
comment on column metrics_taken.until_at is 'What happened before it has been counted.';
