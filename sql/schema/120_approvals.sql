-- Calls that need approval, and the decision on each.

create table approvals (
  tool_call_id uuid primary key references tool_calls (id),
  work_item_id uuid not null,
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

comment on table approvals is 'One row for each tool call that needs approval: requested with its turn, decided once, by tool_call_approve() or tool_call_reject().';
comment on column approvals.risk is 'Of the ability when approval was requested.';
comment on column approvals.expires_at is 'A call that nobody has decided by then is refused.';
comment on column approvals.decision is 'Null: it waits. Else what was decided, by a person or by time.';
comment on column approvals.reason is 'What the person said with it.';
comment on column approvals.input_hash is 'SHA-256 of the approved arguments; a call with other arguments does not run.';
comment on column approvals.decided_by is 'The database role that was logged in when it was decided.';
