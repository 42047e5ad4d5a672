-- Rows that exist to be locked, where functions have to wait for each other over something that has no row. Advisory locks would not do: any login can
-- take those, and could stop the ledger by holding one forever. Only roles that may update a row can lock it.

create table locks (
  purpose text,
  place smallint,
  primary key (purpose, place)
);

-- One row for purposes with a single thing to lock; 64 for those with one thing for each tree, faculty, turn, conversation, claimed thing or connection,
-- which share the rows by hash.
insert into locks
select p, 0 from unnest('{sweep,retention,hint,faculties,projects,abilities,roles,waits}'::text[]) p
union all
select p, n from unnest('{slots,spawns,trees,branches,conversations,checkpoints,claims,memory,renames,days}'::text[]) p cross join generate_series(0, 63) n;

comment on table locks is 'Rows that functions lock to wait for each other, see _lock(); they never change, and have no meaning of their own.';
comment on column locks.purpose is 'What for: the sweep, the slots of a faculty, the spawns of a tree, …';
comment on column locks.place is '0, or which of 64: what is locked chooses it by its hash. Two things with one place wait for each other now and then.';
