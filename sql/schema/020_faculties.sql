-- Named agent configurations. A changed configuration is a new row; every focus keeps the row that it ran with.

create table faculties (
  content_hash text primary key,
  name text not null,
  config jsonb not null,
  is_current boolean not null default true,
  created_at timestamptz not null default _now(),
  saved_by name,
  project text,
  constraint name_is_short check (char_length(name) between 1 and 63)
);

create unique index faculties_one_is_current on faculties ((coalesce(project, '')), name) where is_current;
create index faculties_hosts on faculties (name) where is_current and config -> 'hosts' <> '[]';

comment on table faculties is
  'Agent configurations (the TOML as jsonb, with every default filled in), one row for each distinct content ever saved. Written by faculty_save().';
comment on column faculties.config is 'The faculty with every default filled in, as faculty_save() takes it.';
comment on column faculties.content_hash is 'SHA-256 of config, in hex; foci.faculty_hash pins it.';
comment on column faculties.saved_by is 'The database role that saved it, and so named its workspace_dir: an administrator, if one did. Null: it was saved before that was recorded.';
comment on column faculties.is_current is 'Of each name exactly one row of a project is current, and one of the ledger; new foci run with those.';
comment on column faculties.project is 'The project whose work it takes, by the name that this has today; null: it is the ledger''s, for work of all projects and of none.';
