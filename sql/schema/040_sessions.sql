-- Stable labels that point to the head of a chain of turns, and a log of every move of these pointers.

create table sessions (
  label text primary key,
  head_turn_id uuid,
  persona_id text not null default 'default',
  is_subagent boolean not null default false,
  parent_session_label text references sessions (label),
  parent_turn_id uuid,
  spawn_tool_call_id uuid,
  task_description text,
  origin text not null default 'work-ledger',
  origin_session_id text,
  status text not null default 'active',
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  constraint status_is_known check (status in ('active', 'archived', 'deleted'))
);

create table session_history (
  id bigint generated always as identity,
  session_label text not null references sessions (label),
  turn_id uuid not null,
  changed_at timestamptz not null default _now(),
  primary key (session_label, id)
);

create index session_history_turn on session_history (turn_id);

create table session_aliases (
  alias text primary key,
  session_label text not null references sessions (label),
  reason text not null default 'manual',
  created_at timestamptz not null default _now(),
  constraint reason_is_known check (reason in ('identity_promotion', 'identity_merge', 'manual'))
);

create index session_aliases_label on session_aliases (session_label);
create index sessions_parent on sessions (parent_session_label) where parent_session_label is not null;

comment on table session_aliases is 'Other names of sessions; looked up when no session has the name as its label.';
comment on column session_aliases.alias is 'The other name.';
comment on column session_aliases.reason is 'Why the session has it.';
comment on table sessions is 'Stable labels that point to the newest turn of a conversation. A session holds no turns; the chain does.';
comment on column sessions.label is 'Its name, chosen by who made it or the id of the attempt.';
comment on column sessions.task_description is 'What the conversation is about.';
comment on column sessions.origin is 'work-ledger, or the format of the recorded run from which it was imported.';
comment on column sessions.origin_session_id is 'The id that it has there.';
comment on column sessions.status is 'active, archived (see session_archive()) or deleted.';
comment on column sessions.persona_id is 'Who speaks. Of a work item''s session: the faculty''s persona or, without one, the faculty''s name.';
comment on column sessions.head_turn_id is 'Newest turn; null before the first. Only functions move it, and each move is logged in session_history.';
comment on column sessions.is_subagent is 'True: an attempt at work that another agent delegated, here or in an imported run.';
comment on column sessions.parent_session_label is 'The session that delegated this one, or from which it was forked.';
comment on column sessions.parent_turn_id is 'The turn that delegated this session, or from which it was forked.';
comment on column sessions.spawn_tool_call_id is 'The tool call that delegated this session; null: it was forked, or no call did.';
comment on table session_history is 'Append-only log of every move of a session''s head.';
comment on column session_history.turn_id is 'The head from then on; null: none.';
comment on column session_history.changed_at is 'When the head moved.';
