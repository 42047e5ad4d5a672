-- Fences: who may write for a work item, in a separate narrow row. Every claim, append and end of an iteration locks and updates this row, so that work_items
-- changes only when the work does. An update costs one key lookup and changes no indexed column, so that it stays within its page (HOT). There is no foreign
-- key: the functions that insert an item insert this row.
-- The columns copied from the item (focus_id, attempt, is_child, is_journal, is_over, project) let one statement check the lease, count, and return what
-- a ledger entry needs; trigger fence_follow keeps them in sync (api/00_ground/fence.sql).
-- The owner and expiry of a lease are in foci, so that a heartbeat never waits for a transaction that holds this row while a slow tool runs.

create table fences (
  work_item_id uuid primary key,
  focus_id uuid,
  lease_hash bytea,
  attempt integer not null default 0,
  ledger_count integer not null default 0,
  watch_ends_at timestamptz,
  watch_notified_at timestamptz,
  submitted_by name not null default session_user,
  is_child boolean not null,
  is_journal boolean not null,
  is_over boolean not null default false,
  salt uuid,
  project text,
  told_at timestamptz
) with (fillfactor = 50);

comment on table fences is
  'One row for each work item: who may write for it now, and how many ledger entries it has. Every function that writes for an item locks this row first.';
comment on column fences.focus_id is 'As in work_items: the attempt under way; null: there is none, and any client may write to the ledger.';
comment on column fences.lease_hash is 'SHA-256 of the lease of the worker that drives the item now, without which nothing is written; the lease itself is stored nowhere. Null: no worker drives it.';
comment on column fences.attempt is 'work_items.attempts: the number of the newest attempt.';
comment on column fences.ledger_count is 'Sequence number of the newest ledger entry; also ledger_count(work_items).';
comment on column fences.watch_ends_at is 'Appends until then send notifications; see ledger_watch().';
comment on column fences.watch_notified_at is 'The newest notification of an append; the next is sent 100 ms later at the soonest.';
comment on column fences.submitted_by is 'As in work_items: who, besides workers and administrators, may write without a lease.';
comment on column fences.is_child is 'True: the item has a parent.';
comment on column fences.is_journal is 'True: another program drives the item and journals it.';
comment on column fences.is_over is 'True: the item has reached a final state, and nothing more is written for it.';
comment on column fences.project is 'As in work_items.';
comment on column fences.told_at is 'Of a session of another program: up to when it was told all that is new elsewhere, see journal_session_news(). Null: it never was, or it is no such session.';
comment on column fences.salt is 'What is hashed before the words of the item: 122 random bits, chosen when the item is made. Gone once it is erased, so that no text can be guessed from a hash. Null from the start: the item has no chain, see ledger_chain_save().';
