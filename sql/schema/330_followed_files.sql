-- Files of other programs that have been read, and their state.

create table followed_files (
  file_key text not null,
  submitted_by name not null default session_user,
  state text not null,
  work_item_id uuid references work_items (id),
  read_at timestamptz not null default _now(),
  primary key (file_key, submitted_by)
);

create index followed_files_work_item on followed_files (work_item_id) where work_item_id is not null;

comment on table followed_files is 'Files of other programs that "work-ledger follow" has read, so that none is read twice: see followed_file_read().';
comment on column followed_files.file_key is 'The SHA-256 of its path, in hexadecimal: the path itself is not kept.';
comment on column followed_files.submitted_by is 'The database role that read it.';
comment on column followed_files.state is 'What it was like when it was read to its end: its size and when it was changed, as the reader writes them.';
comment on column followed_files.work_item_id is 'The work item of the session in it; null: it has none, or several.';
comment on column followed_files.read_at is 'When it was read last.';
