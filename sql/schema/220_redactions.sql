-- Records that something was removed before it was stored; never what it was.

create table redactions (
  id bigint generated always as identity primary key,
  place text not null,
  work_item_id uuid,
  secrets integer not null,
  created_at timestamptz not null default _now(),
  constraint something_was_found check (secrets > 0)
);

create index redactions_time on redactions (created_at);

comment on table redactions is 'One row for each row in which secrets were found by their form when it was written: where, and how many. What they were is stored nowhere.';
comment on column redactions.place is 'The table to be written.';
comment on column redactions.work_item_id is 'The work item whose row it was; null: the row names none.';
comment on column redactions.secrets is 'How many stand as [redacted] in the row.';
