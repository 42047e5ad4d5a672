-- Notes: files of a project that outlive the work that wrote them. Every version of a file is kept; the newest one is current.

create type memory_hand as (
  project text,
  reader text,
  work_item_id uuid,
  tool_call_id uuid,
  is_fork boolean,
  idempotency_key text,
  why text
);

create table memory_files (
  id uuid primary key default _uuidv7(),
  project text not null default '',
  path text not null,
  version integer not null default 0,
  is_deleted boolean not null default false,
  pinned_at timestamptz,
  pinned_by text,
  pinned_version integer,
  is_chained boolean not null default false,
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  constraint path_is_below_memories check (path ~ '^/memories/.' and octet_length(path) <= 500),
  constraint what_is_deleted_is_not_pinned check (not is_deleted or pinned_at is null),
  constraint what_is_pinned_is_a_version check ((pinned_at is null) = (pinned_version is null))
);

create unique index memory_files_path on memory_files (project, path) where not is_deleted;
create index memory_files_deleted on memory_files (project, path) where is_deleted;
create index memory_files_pinned on memory_files (project) where pinned_at is not null;

create table memory_versions (
  file_id uuid not null references memory_files (id),
  version integer not null,
  command text not null,
  path text not null,
  content text,
  work_item_id uuid references work_items (id),
  tool_call_id uuid,
  written_by text not null default session_user,
  person text,
  why text,
  created_at timestamptz not null default _now(),
  link bytea default '',
  salt uuid,
  erased_hash bytea,
  idempotency_key text,
  primary key (file_id, version),
  constraint command_is_known check (command in ('create', 'str_replace', 'insert', 'write', 'delete', 'rename', 'rollback', 'merge', 'erase')),
  constraint content_is_at_most_64_kib check (octet_length(content) <= 65536),
  constraint why_is_short check (octet_length(why) <= 1000)
);

create index memory_versions_key on memory_versions (idempotency_key) where idempotency_key is not null;
create index memory_versions_work_item on memory_versions (work_item_id) where work_item_id is not null;

create table memory_views (
  file_id uuid not null references memory_files (id),
  reader text not null,
  version integer not null,
  work_item_id uuid references work_items (id),
  viewed_at timestamptz not null default _now(),
  primary key (file_id, reader)
);

create index memory_views_work_item on memory_views (work_item_id) where work_item_id is not null;

comment on type memory_hand is 'Who reads or writes notes: in which project, as which reader, for which work item and call, and why.';
comment on table memory_files is 'Notes of projects, a row for each file, see memory_command(). What a file says is its newest version. Never deleted: one that is gone has is_deleted.';
comment on column memory_files.project is 'The project, by the name that it has today; empty: the file is of work that is in no project.';
comment on column memory_files.path is 'Its path, below /memories.';
comment on column memory_files.version is 'Its newest version.';
comment on column memory_files.is_deleted is 'True: it was deleted. It comes back with the next create of its path, or by memory_rollback().';
comment on column memory_files.pinned_at is 'Since when it stands in the first message of each agent of the project; null: it does not.';
comment on column memory_files.pinned_by is 'Who pinned it: a person, else a database role.';
comment on column memory_files.pinned_version is 'The version that stands there: what is written later does not, until somebody pins the note again.';
comment on column memory_files.is_chained is 'Whether its versions are a chain of hashes, as the ledger had them when it was made.';
comment on table memory_versions is 'Every version of each file of notes: who wrote it, when, for which work item, and why. Append-only.';
comment on column memory_versions.file_id is 'The file: it keeps its id when it is renamed.';
comment on column memory_versions.version is 'Numbered from 1, without gaps.';
comment on column memory_versions.command is 'What made it: a command of the memory tool; write, rollback or erase: of a person; merge: its project became one with another.';
comment on column memory_versions.path is 'The path that the file had from then on.';
comment on column memory_versions.content is 'What the file said; null: from then on it was deleted.';
comment on column memory_versions.work_item_id is 'The work item whose agent wrote it; null: none.';
comment on column memory_versions.tool_call_id is 'The call that wrote it; null: none of a worker''s agent.';
comment on column memory_versions.written_by is 'The database role that wrote it.';
comment on column memory_versions.person is 'The person in whose name it was written; null: nobody''s.';
comment on column memory_versions.why is 'Why, in the words of who wrote it; null: nothing was said.';
comment on column memory_versions.link is 'The hash of the version before it and of this one, see _memory_link(); null: the file has no chain.';
comment on column memory_versions.salt is 'What is hashed before its words, so that nobody guesses them by the hash; it goes with them. Null: the file has no chain, or they are erased.';
comment on column memory_versions.erased_hash is 'The salted hash of the words that it had; null: they are there.';
comment on column memory_versions.idempotency_key is 'The caller''s key for the command, which the same one again finds; null: it gave none.';
comment on table memory_views is 'Which version of a file its readers were shown last: what they edit is compared with that.';
comment on column memory_views.file_id is 'The file.';
comment on column memory_views.reader is 'A work item, or r: and the name of a reader that has none.';
comment on column memory_views.version is 'The version that it was shown, or wrote.';
comment on column memory_views.work_item_id is 'The work item that read it; null: none.';
comment on column memory_views.viewed_at is 'When.';
