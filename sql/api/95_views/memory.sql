-- Notes of projects, for people: what they say, who wrote what when and why, and who was shown it.

create or replace view v_memory_files with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path, f.version, octet_length(v.content) as bytes, f.pinned_at, f.pinned_by,
         coalesce(v.person, _agent_name(w), v.written_by) as written_by, v.work_item_id, f.updated_at, r.readers, v.content, f.pinned_version
    from memory_files f
    join memory_versions v on v.file_id = f.id and v.version = f.version
    left join work_items w on w.id = v.work_item_id
   cross join lateral (select count(*) as readers from memory_views s where s.file_id = f.id) r
   where not f.is_deleted;

comment on view v_memory_files is 'The notes of projects, as they are now: select path, version, content from v_memory_files where project_has(''github.com/acme/shop'', project) order by path. See memory_command() and memory_write().';
comment on column v_memory_files.project is 'The project, by the name that it has today; null: notes of work that is in none.';
comment on column v_memory_files.path is 'Its path.';
comment on column v_memory_files.version is 'Its newest version: what memory_write() takes as p_version.';
comment on column v_memory_files.bytes is 'Its size.';
comment on column v_memory_files.pinned_at is 'Since when it stands in the first message of each agent; null: it does not.';
comment on column v_memory_files.pinned_by is 'Who pinned it.';
comment on column v_memory_files.written_by is 'Who wrote its newest version: a person, an agent, else a database role.';
comment on column v_memory_files.work_item_id is 'The work item whose agent did; null: none.';
comment on column v_memory_files.updated_at is 'When.';
comment on column v_memory_files.readers is 'How many work items, and readers without one, were shown it.';
comment on column v_memory_files.content is 'What it says.';
comment on column v_memory_files.pinned_version is 'The version that stands there; null: none.';

create or replace view v_memory_versions with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path as path_now, f.is_deleted, v.path, v.version, v.command,
         coalesce(v.person, _agent_name(w), v.written_by) as written_by, v.work_item_id, v.tool_call_id, v.why, v.created_at,
         v.erased_hash is not null as is_erased, v.content, v.file_id
    from memory_versions v
    join memory_files f on f.id = v.file_id
    left join work_items w on w.id = v.work_item_id;

comment on view v_memory_versions is 'Every version of the notes of projects: select version, command, written_by, created_at, why from v_memory_versions where path_now = ''/memories/style.md'' order by created_at desc. See memory_rollback().';
comment on column v_memory_versions.project is 'The project, by the name that it has today; null: notes of work that is in none.';
comment on column v_memory_versions.path_now is 'The path that the file has today, or had when it was deleted.';
comment on column v_memory_versions.is_deleted is 'Whether the file is deleted today.';
comment on column v_memory_versions.path is 'The path that it had from this version on.';
comment on column v_memory_versions.version is 'Its number.';
comment on column v_memory_versions.command is 'What made it: create, str_replace, insert, delete, rename, write, rollback, merge or erase.';
comment on column v_memory_versions.written_by is 'Who wrote it: a person, an agent, else a database role.';
comment on column v_memory_versions.work_item_id is 'The work item whose agent did; null: none.';
comment on column v_memory_versions.tool_call_id is 'The call that did; null: none of a worker''s agent.';
comment on column v_memory_versions.why is 'Why, if that was said.';
comment on column v_memory_versions.created_at is 'When.';
comment on column v_memory_versions.is_erased is 'Whether its words were erased.';
comment on column v_memory_versions.content is 'What it said; null: it was deleted.';
comment on column v_memory_versions.file_id is 'The file: it keeps its id when it is renamed, or made anew after it was deleted.';
