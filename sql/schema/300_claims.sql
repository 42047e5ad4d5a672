-- Claims: what agents and sessions are working on, so that others avoid it or are told. A row exists as long as its work does, and goes with the attempt.

create table claims (
  work_item_id uuid not null references work_items (id),
  key text not null,
  scope text not null,
  name text not null,
  place text,
  mode text not null,
  is_binding boolean not null,
  why text,
  focus_id uuid,
  claimed_at timestamptz not null default _now(),
  changed_at timestamptz,
  ends_at timestamptz not null,
  primary key (work_item_id, key),
  constraint mode_is_known check (mode in ('exclusive', 'shared')),
  constraint key_is_short check (octet_length(key) between 1 and 1000)
) with (fillfactor = 70);

create index claims_name on claims (name);
create index claims_place on claims (place) where place is not null;

comment on table claims is
  'What work under way holds for itself: made by claim_take(), claim_check() and by calls that change something. Gone when its attempt ends, is paused or loses its lease; one that is not renewed lapses at ends_at. v_claims has those that hold now.';
comment on column claims.key is 'What is claimed: file: and a path from the directory of the work, record: or url: and what a call names so, or any other name.';
comment on column claims.name is 'What the key names within the scope, in lower case; of a file its path in its working tree where that is known: the same on each branch.';
comment on column claims.scope is 'Within what the name means one thing: the project of the work, else its directory; empty: it has neither.';
comment on column claims.place is 'The absolute path of a file, in lower case, where that is known: the same file, however it is named. Null: it is no file, or one in a copy that only this work has.';
comment on column claims.mode is 'exclusive: nobody else is to change it; shared: others may claim it so, too.';
comment on column claims.is_binding is 'False: nobody is refused because of it, only told: somebody else held the thing already, or the work has a copy of its own.';
comment on column claims.why is 'What for, in the words of whoever claimed it; null: it says no more than the task.';
comment on column claims.claimed_at is 'Since when; anew where somebody else had claimed it since.';
comment on column claims.changed_at is 'When a call that changes the thing began last; null: none has.';
comment on column claims.ends_at is 'When it lapses, if it is not renewed.';
