-- Records what each agent was told about the others.

create table awareness_shown (
  focus_id uuid not null,
  work_item_id uuid not null,
  seq integer not null,
  path text not null default '',
  turn_id uuid references turns (id),
  shown_at timestamptz not null default _now(),
  primary key (focus_id, work_item_id, seq, path)
);

create index awareness_shown_of on awareness_shown (work_item_id, seq);

comment on table awareness_shown is 'Which entry of which work item was in the digest of which focus or session, and in which turn: who knew what, and when.';
comment on column awareness_shown.focus_id is 'The focus that was told; of a session of another program, which has none, its work item.';
comment on column awareness_shown.turn_id is 'The turn whose request told it. Null: a session of another program was told.';
comment on column awareness_shown.work_item_id is 'The work item that the agent was told of.';
comment on column awareness_shown.path is 'The file that the work item works on, for seq -2; for -4, and for an entry that the agent asked to be told of, the subscription and what happened; for -5 the message; else empty.';
comment on column awareness_shown.seq is 'The ledger entry; 0: the item was over; -1: it was not over; -2: it works on the file in path; -3: it was queued; -4: an end or a change that the agent asked to be told of; -5: it had not read the message in path.';
