-- What each agent was told about the others.

create table awareness_shown (
  focus_id uuid not null references foci (id),
  work_item_id uuid not null,
  seq integer not null,
  path text not null default '',
  turn_id uuid not null references turns (id),
  shown_at timestamptz not null default _now(),
  primary key (focus_id, work_item_id, seq, path)
);

create index awareness_shown_of on awareness_shown (work_item_id, seq);

comment on table awareness_shown is 'Which entry of which work item was in the digest of which focus, and in which turn: who knew what, and when.';
comment on column awareness_shown.work_item_id is 'The work item that the agent was told of.';
comment on column awareness_shown.path is 'The file that the work item works on, for seq -2; else empty.';
comment on column awareness_shown.seq is 'The ledger entry; 0: the item was over; -1: it was not over; -2: it works on the file in path; -3: it was queued.';
