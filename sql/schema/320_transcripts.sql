-- Transcripts that other programs store here line by line, to resume from them: what was appended, as it came. After the commit, the importer of recorded
-- runs turns them into turns and calls.

create table transcripts (
  id uuid primary key default _uuidv7(),
  project_key text not null,
  session_id text not null,
  subpath text not null default '',
  submitted_by name not null default session_user,
  project text,
  work_item_id uuid references work_items (id),
  last_seq integer not null default 0,
  understood_seq integer not null default 0,
  summary text,
  summary_seq integer not null default 0,
  problem text,
  failure_count integer not null default 0,
  retry_at timestamptz,
  taken_ends_at timestamptz,
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  deleted_at timestamptz,
  constraint one_of_a_key unique (session_id, project_key, subpath)
) with (fillfactor = 70);

create index transcripts_project_key on transcripts (project_key, updated_at desc);
create index transcripts_work_item on transcripts (work_item_id) where work_item_id is not null;
create index transcripts_without_work on transcripts (updated_at) where work_item_id is null;
create index transcripts_behind on transcripts (updated_at) where understood_seq < last_seq and deleted_at is null;
create index transcripts_newest on transcripts (updated_at desc, id) where subpath = '' and deleted_at is null;

create table transcript_entries (
  transcript_id uuid not null references transcripts (id),
  seq integer not null,
  uuid text not null,
  entry text not null,
  primary key (transcript_id, seq),
  constraint one_of_a_uuid unique (transcript_id, uuid)
);

comment on table transcripts is 'Transcripts of sessions that other programs keep here, one row for each and for each of its subagents: see transcript_append(). A row stays when its entries are erased.';
comment on column transcripts.project_key is 'The scope that the program named: by default a directory, with - for what is no letter or digit.';
comment on column transcripts.session_id is 'The program''s own id of the session.';
comment on column transcripts.subpath is 'Which transcript of the session: of a subagent subagents/agent-…; empty: the main one.';
comment on column transcripts.submitted_by is 'The database role that appended first; nobody else appends, but who may write for all.';
comment on column transcripts.project is 'The project of the work item that is made of it; null: the path of its directory.';
comment on column transcripts.work_item_id is 'The work item that it was read into; null: none yet.';
comment on column transcripts.last_seq is 'How many entries were appended.';
comment on column transcripts.understood_seq is 'How many of them were read into turns and calls.';
comment on column transcripts.summary is 'What the program folded of all entries to list the session by; its own JSON, as text. Null: it folded nothing.';
comment on column transcripts.summary_seq is 'The entry up to which the summary goes.';
comment on column transcripts.problem is 'Why the newest entries could not be read into turns, in plain text; null: they could, or it was not tried.';
comment on column transcripts.failure_count is 'How often they could not be read since something was read last.';
comment on column transcripts.retry_at is 'Until then nobody tries to read them again; null: they may be read.';
comment on column transcripts.taken_ends_at is 'Until then whoever took it from transcripts_take() reads it; null: nobody does.';
comment on column transcripts.updated_at is 'When something was appended last.';
comment on column transcripts.deleted_at is 'When its entries were erased; nothing is appended any more. Null: they are here.';
comment on table transcript_entries is 'The entries of transcripts, as they came but for secrets: a JSON object each, as text, so that no character is lost that a database has no form for.';
comment on column transcript_entries.transcript_id is 'The transcript that it is of.';
comment on column transcript_entries.seq is 'Its place in the transcript, from 1.';
comment on column transcript_entries.uuid is 'What it is known by when it is appended again; begins with ~ where the program gave it no id.';
comment on column transcript_entries.entry is 'The entry, JSON.';
