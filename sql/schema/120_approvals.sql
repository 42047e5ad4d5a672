-- Calls that a person has to allow, and what the person said.

create table approvals (
  tool_call_id uuid primary key references tool_calls (id),
  work_item_id uuid not null references work_items (id),
  input_hash text not null,
  risk text not null,
  requested_at timestamptz not null default _now(),
  expires_at timestamptz not null,
  decision text,
  reason text,
  decided_by text,
  decided_at timestamptz,
  constraint decision_is_known check (decision in ('approved', 'rejected', 'expired')),
  constraint decisions_have_their_time check ((decision is null) = (decided_at is null))
);

create index approvals_open on approvals (work_item_id) where decision is null;
create index approvals_decided on approvals (work_item_id, decided_at);

comment on table approvals is 'One row for each tool call that needed a person''s word: asked with its turn, answered by tool_call_approve() or tool_call_reject(), once.';
comment on column approvals.input_hash is 'SHA-256 of the arguments that the word is for; a call with others does not run.';
comment on column approvals.decided_by is 'Who said so: the database role, or as given.';
