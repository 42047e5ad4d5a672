-- People who decide under their own names, each with the hash of a token. approvals and inbox name the person.

create table people (
  id uuid primary key default _uuidv7(),
  name text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default _now(),
  revoked_at timestamptz,
  constraint name_is_not_blank check (name ~ '\S')
);

create unique index people_current on people (name) where revoked_at is null;

-- Only the owner can read rows, even if select on all tables has been granted.
alter table people enable row level security;

alter table approvals add column person text;
alter table inbox add column person text;

comment on table people is 'The people who act in a name of their own, see person_add(). Only the ledger''s owner reads it: row-level security without a policy keeps it from everybody who is granted all tables.';
comment on column people.name is 'What decisions and messages are signed with.';
comment on column people.token_hash is 'SHA-256 of the SHA-256 of the person''s token. What a program sends is the inner one, see person_current().';
comment on column people.revoked_at is 'From then on the token says nothing; null: it is valid.';
comment on column approvals.person is 'The person in whose name it was decided, by a token or by the word of a role that may vouch; null: nobody was named.';
comment on column inbox.person is 'The person in whose name it was said; null: nobody was named.';
