-- What each awareness digest was and took.

create table awareness_digests (
  focus_id uuid not null references foci (id),
  iteration integer not null,
  turn_id uuid not null references turns (id),
  is_delta boolean not null,
  entries integer not null,
  chars integer not null,
  tokens integer not null,
  duration_ms double precision not null,
  created_at timestamptz not null default _now(),
  primary key (focus_id, iteration, turn_id)
);

comment on table awareness_digests is 'One row for each awareness digest made for a turn: its size and what it took to make.';
comment on column awareness_digests.is_delta is 'True: only what was new since the agent was last told. Entries 0: nothing was, and the agent was told nothing.';
comment on column awareness_digests.duration_ms is 'What its queries took.';
