-- Other names of projects, and their settings. A project itself is only a name, in work_items.project; it has a row here only if it was renamed or given
-- settings. So submitting work locks nothing that other work of the project needs.

create table projects (
  name text primary key,
  renamed_to text,
  claims text,
  updated_at timestamptz not null default _now(),
  constraint name_is_not_blank check (name ~ '\S'),
  constraint claims_are_known check (claims in ('off', 'warn', 'refuse')),
  constraint a_new_name_is_another check (renamed_to <> name)
);

create index projects_renamed on projects (renamed_to) where renamed_to is not null;

comment on table projects is 'Other names and settings of projects. A project without a row has neither. Written by project_rename() and project_set().';
comment on column projects.name is 'The name of a project, as it was submitted with.';
comment on column projects.claims is 'What happens where a call changes what somebody else is at work on: off, warn or refuse. Null: as the faculty says.';
comment on column projects.renamed_to is 'The name that it has today: never one that was renamed itself. Null: it was not renamed.';
