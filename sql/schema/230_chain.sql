-- Evidence that nobody changed what was recorded: each turn of a work item is sealed when the next one begins, and the item when it ends. Ledger entries have
-- their links in their own rows (070_work_ledger.sql).

create table seals (
  work_item_id uuid not null,
  n integer not null,
  turn_id uuid,
  message_count integer not null default 0,
  call_count integer not null default 0,
  ledger_count integer not null,
  link bytea not null,
  created_at timestamptz not null default _now(),
  words bytea,
  primary key (work_item_id, n)
);

create table ledger_chain (
  is_only boolean primary key default true,
  is_on boolean not null,
  updated_at timestamptz not null default _now(),
  constraint there_is_one_row check (is_only)
);

create table installed_code (
  kind text not null,
  name text not null,
  digest text not null,
  server integer not null,
  primary key (kind, name),
  constraint kind_is_known check (kind in ('function', 'trigger', 'view'))
);

create index seals_turn on seals (turn_id) where turn_id is not null;

comment on table seals is 'The chain of a work item''s turns, numbered without gaps: one row for each turn that is over (again, if an import added to it), and one for the item when it ends. See ledger_verify().';
comment on column seals.n is 'Position in the chain, from 1.';
comment on column seals.turn_id is 'The turn that is sealed; null: the work item itself, at its end.';
comment on column seals.message_count is 'How many messages of the turn are sealed: the first by sequence.';
comment on column seals.call_count is 'How many of its calls.';
comment on column seals.ledger_count is 'How many entries the item''s ledger had by then.';
comment on column seals.link is 'SHA-256 of the seal before it, of what is sealed and of the newest entry, see _seal_link().';
comment on column seals.words is 'Salted hash of the words that are sealed besides those of messages, calls and the task, see _sealed_words(): they can be erased, and it stays. Null: the seal is of an earlier version, and stands for no decisions, attempts and artifacts.';
comment on table ledger_chain is 'Whether new work items get a chain of hashes: at most one row; none: they do. Written by ledger_chain_save().';
comment on column ledger_chain.is_only is 'True: there is one row.';
comment on column ledger_chain.is_on is 'False: work items submitted from now on have none.';
comment on table installed_code is 'The functions, triggers and views of this ledger as they were when it was installed; ledger_verify() compares them with those that are there. Not dumped: the installation writes it.';
comment on column installed_code.kind is 'function, trigger or view.';
comment on column installed_code.name is 'As PostgreSQL writes it: a function with the types of its arguments, a trigger with its table.';
comment on column installed_code.digest is 'SHA-256 of its definition, in hex.';
comment on column installed_code.server is 'The major version of PostgreSQL on which that was: others may write a definition otherwise.';
