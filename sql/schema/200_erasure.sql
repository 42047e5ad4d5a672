-- Erasure and retention: which work was erased, which work uses which artifact, and what the ledger erases automatically.

create table erasures (
  work_item_id uuid primary key,
  root_id uuid not null,
  keep text not null default 'nothing',
  reason text not null,
  erased_by text not null default session_user,
  began_at timestamptz not null default _now(),
  erased_at timestamptz,
  row_count bigint not null default 0,
  quote_count integer not null default 0,
  is_quoted boolean not null default true,
  constraint keep_is_known check (keep in ('nothing', 'ledger'))
);

-- The transactions that erase; a row exists only while work_erase() or work_retention_run() runs in its transaction: see _is_erasing().
create table erasing (
  xid xid8 primary key
);

create table artifact_uses (
  content_hash text collate "C" not null references artifacts (content_hash),
  work_item_id uuid not null,
  primary key (content_hash, work_item_id)
);

create table retention_policies (
  id integer generated always as identity primary key,
  state text,
  faculty text,
  age interval not null,
  keep text not null,
  export_function text,
  updated_at timestamptz not null default _now(),
  constraint one_policy_a_kind unique nulls not distinct (state, faculty),
  constraint state_is_final check (state in ('completed', 'failed', 'dead', 'cancelled')),
  constraint age_is_not_negative check (age >= interval '0'),
  constraint keep_is_known check (keep in ('nothing', 'ledger', 'all'))
);

create table retention_runs (
  root_id uuid primary key,
  error text not null,
  tried_at timestamptz not null default _now()
);

create index erasures_root on erasures (root_id);
create index erasures_open on erasures (began_at) where erased_at is null;
create index erasures_quoted on erasures (began_at) where is_quoted;
create index artifact_uses_work_item on artifact_uses (work_item_id);
create index work_items_resolved on work_items (resolved_at) where parent_id is null and resolved_at is not null and erased_at is null;

comment on table erasures is 'One row for each erased work item: the tombstone, which stays. Written by work_erase() and work_retention_run().';
comment on column erasures.work_item_id is 'The item that was erased.';
comment on column erasures.root_id is 'The top of its tree, which was erased as a whole.';
comment on column erasures.keep is 'nothing: all words went. ledger: task, outcome and ledger entries stayed.';
comment on column erasures.reason is 'Why, in the words of who erased it, or the policy.';
comment on column erasures.erased_by is 'The database role that erased it.';
comment on column erasures.began_at is 'Since when readers see the tombstone.';
comment on column erasures.erased_at is 'When the last word went; null: work_retention_run() has rows left to erase.';
comment on column erasures.row_count is 'Rows that were erased or removed.';
comment on column erasures.quote_count is 'Digests of other work that quoted it and were replaced.';
comment on column erasures.is_quoted is 'True: digests of work that is not over may still quote it, or those of a transaction that was open while it was erased; work_retention_run() replaces them when that work is over.';
comment on table erasing is 'Transactions in which append-only rows may be erased: empty but within work_erase() and work_retention_run(). Only the owner can insert, see _refuse_erasing().';
comment on column erasing.xid is 'The transaction.';
comment on table artifact_uses is 'Which work item uses which artifact. An artifact that none uses is collected.';
comment on column artifact_uses.content_hash is 'The artifact.';
comment on table retention_policies is 'What is erased by itself, and when: see retention_policy_save().';
comment on column retention_policies.id is 'Its number.';
comment on column retention_policies.state is 'The final state of the root of a tree; null: any.';
comment on column retention_policies.faculty is 'The faculty that worked on the root last: its name or, if it is a project''s, name@project; null: any.';
comment on column retention_policies.age is 'Since the last item of the tree ended.';
comment on column retention_policies.keep is 'nothing: all words go. ledger: task, outcome and ledger entries stay. all: an exception, nothing goes.';
comment on column retention_policies.export_function is 'Called with the id of the root before its tree goes; an error keeps the tree. Null: none.';
comment on table retention_runs is 'Trees that were kept because the export function of their policy failed; tried again after an hour.';
comment on column retention_runs.root_id is 'The root of the tree.';
comment on column retention_runs.error is 'What the function raised.';
comment on column retention_runs.tried_at is 'When it was tried last.';
