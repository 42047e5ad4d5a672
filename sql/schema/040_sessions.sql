-- Stable labels that point at the head of a chain of turns, and the log of every move of the pointer.

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
  id bigint generated always as identity primary key,
  session_label text not null references sessions (label),
  turn_id uuid not null,
  changed_at timestamptz not null default _now()
);

create index session_history_label on session_history (session_label, id desc);
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

comment on table session_aliases is 'Other names of sessions: looked up where no session has the name itself.';
comment on table sessions is 'Stable labels pointing at the newest turn of a conversation. A session holds no turns; the chain does.';
comment on column sessions.persona_id is 'As whom it speaks: of work of our own the faculty''s persona, else its name.';
comment on column sessions.head_turn_id is 'Newest turn; null before the first. Moved only by functions, each move logged in session_history.';
comment on column sessions.is_subagent is 'It is an attempt at work that another agent delegated, here or in an imported run.';
comment on column sessions.parent_session_label is 'The conversation that delegated it, or that it was forked from.';
comment on column sessions.parent_turn_id is 'The turn of that conversation which delegated it, or from which it was forked.';
comment on column sessions.spawn_tool_call_id is 'The call that delegated it; null: it was forked, or no call did.';
comment on table session_history is 'Append-only log of every move of a session''s head.';
