-- The last digests of other ledgers. Their words are not this ledger's to keep: none stays longer than it may be told.

create table linked_digests (
  name text not null,
  read_as text not null,
  version text not null,
  digest text not null,
  heard_at timestamptz not null default _now(),
  primary key (name, read_as)
);

-- Roles that may read all tables read nothing here: what one role was told is not shown to another.
alter table linked_digests enable row level security;

comment on table linked_digests is 'What each linked ledger said when it answered last, told for an hour where it does not answer; see awareness_digest_linked().';
comment on column linked_digests.name is 'The link, see v_ledger_links.';
comment on column linked_digests.read_as is 'The role whose user mapping it was read with: nobody else is told.';
comment on column linked_digests.version is 'The version of that ledger.';
comment on column linked_digests.digest is 'Its digest: words of other agents.';
comment on column linked_digests.heard_at is 'When it said so.';
