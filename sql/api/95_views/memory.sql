-- Notes of projects, for people: what they say, who wrote what, when and why, and who was shown it.

create or replace view v_memory_files with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path, f.version, octet_length(v.content) as bytes, f.pinned_at, f.pinned_by,
         coalesce(v.person, _agent_name(w), v.written_by) as written_by, v.work_item_id, f.updated_at, r.readers, v.content, f.pinned_version, f.id as file_id
    from memory_files f
    join memory_versions v on v.file_id = f.id and v.version = f.version
    left join work_items w on w.id = v.work_item_id
   cross join lateral (select count(*) as readers from memory_views s where s.file_id = f.id) r
   where not f.is_deleted;

comment on view v_memory_files is 'The current notes of projects: select path, version, content from v_memory_files where project_has(''github.com/acme/shop'', project) order by path. See memory_command() and memory_write().';
comment on column v_memory_files.project is 'The project, by its current name; null: notes of work without one.';
comment on column v_memory_files.path is 'Its path.';
comment on column v_memory_files.version is 'Its newest version, to pass to memory_write() as p_version.';
comment on column v_memory_files.bytes is 'Its size.';
comment on column v_memory_files.pinned_at is 'When it was pinned, which puts it in the first message of each agent; null: it is not pinned.';
comment on column v_memory_files.pinned_by is 'Who pinned it.';
comment on column v_memory_files.written_by is 'Who wrote its newest version: a person, an agent, else a database role.';
comment on column v_memory_files.work_item_id is 'The work item whose agent wrote it; null: none.';
comment on column v_memory_files.updated_at is 'When it last changed.';
comment on column v_memory_files.readers is 'How many work items, and readers without one, were shown it.';
comment on column v_memory_files.content is 'Its text.';
comment on column v_memory_files.pinned_version is 'The pinned version; null: none.';
comment on column v_memory_files.file_id is 'The file. It keeps its id when it is renamed, or created again after being deleted.';

create or replace view v_memory_versions with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path as path_now, f.is_deleted, v.path, v.version, v.command,
         coalesce(v.person, _agent_name(w), v.written_by) as written_by, v.work_item_id, v.tool_call_id, v.why, v.created_at,
         v.erased_hash is not null as is_erased, v.content, v.file_id,
         _memory_changes((select b.content from memory_versions b where b.file_id = v.file_id and b.version = v.version - 1), v.content) as changes
    from memory_versions v
    join memory_files f on f.id = v.file_id
    left join work_items w on w.id = v.work_item_id;

comment on view v_memory_versions is 'Every version of the notes of projects: select version, command, written_by, created_at, why from v_memory_versions where path_now = ''/memories/style.md'' order by created_at desc. See memory_rollback().';
comment on column v_memory_versions.project is 'The project, by its current name; null: notes of work without one.';
comment on column v_memory_versions.path_now is 'The file''s current path, or its path when it was deleted.';
comment on column v_memory_versions.is_deleted is 'Whether the file is deleted today.';
comment on column v_memory_versions.path is 'The path from this version on.';
comment on column v_memory_versions.version is 'Its number.';
comment on column v_memory_versions.command is 'What created it: create, str_replace, insert, delete, rename, write, rollback, merge or erase.';
comment on column v_memory_versions.written_by is 'Who wrote it: a person, an agent, else a database role.';
comment on column v_memory_versions.work_item_id is 'The work item whose agent made it; null: none.';
comment on column v_memory_versions.tool_call_id is 'The call that made it; null: not a call of a worker''s agent.';
comment on column v_memory_versions.why is 'The reason, if one was given.';
comment on column v_memory_versions.created_at is 'When it was made.';
comment on column v_memory_versions.is_erased is 'Whether its text was erased.';
comment on column v_memory_versions.content is 'Its text; null: the file was deleted.';
comment on column v_memory_versions.file_id is 'The file. It keeps its id when it is renamed, or created again after being deleted.';
comment on column v_memory_versions.changes is 'What differs from the previous version: removed lines (-) and added lines (+), at most 20 of each. Empty: nothing.';

create or replace function _memory_blamed(p_file_id uuid, p_version integer)
  returns table (line integer, content text, since_version integer)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with had as (
    select distinct v.version, l.content
      from memory_versions v
     cross join lateral unnest(_memory_lines(v.content)) as l(content)
     where v.file_id = p_file_id and v.version between p_version - 99 and p_version),
  -- Versions have no gaps, so as long as a line was in every version, version plus rank is constant.
  ranked as (select h.*, row_number() over (partition by h.content order by h.version desc) as nth from had h),
  kept as (select r.content, min(r.version) as since_version from ranked r where r.version + r.nth = p_version + 1 group by r.content)
  select l.n::integer, l.content, k.since_version
    from memory_versions v
   cross join lateral unnest(_memory_lines(v.content)) with ordinality as l(content, n)
    join kept k on k.content = l.content
   where v.file_id = p_file_id and v.version = p_version;
$$;

comment on function _memory_blamed(uuid, integer) is
  'The lines of a version of a note, each with the version since which every version, among the newest 100, has it. A line that occurs twice counts as one.';

create or replace view v_memory_lines with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path, l.line, l.content, l.since_version, coalesce(v.person, _agent_name(w), v.written_by) as written_by,
         v.work_item_id, v.created_at, (select count(*) from memory_views s where s.file_id = f.id and s.version >= l.since_version) as readers, f.id as file_id
    from memory_files f
   cross join lateral _memory_blamed(f.id, f.version) l
    join memory_versions v on v.file_id = f.id and v.version = l.since_version
    left join work_items w on w.id = v.work_item_id
   where not f.is_deleted;

comment on view v_memory_lines is 'The lines of the notes of projects, with who wrote each and how many readers were shown it: select line, content, written_by, readers from v_memory_lines where path = ''/memories/style.md'' order by line. Considers the newest 100 versions.';
comment on column v_memory_lines.project is 'The project, by its current name; null: notes of work without one.';
comment on column v_memory_lines.path is 'The path of the note.';
comment on column v_memory_lines.line is 'The number of the line, from 1.';
comment on column v_memory_lines.content is 'Its text.';
comment on column v_memory_lines.since_version is 'The version since which the note has had this line without a break, among the newest 100.';
comment on column v_memory_lines.written_by is 'Who wrote that version: a person, an agent, else a database role.';
comment on column v_memory_lines.work_item_id is 'The work item whose agent wrote that version; null: none.';
comment on column v_memory_lines.created_at is 'When that version was written.';
comment on column v_memory_lines.readers is 'How many work items, and readers without one, were shown that version or a later one, as in v_memory_views: of the note, not of the single line. Agents that only saw it as a pinned note are not counted.';
comment on column v_memory_lines.file_id is 'The file.';

create or replace view v_memory_views with (security_invoker = true) as
  select nullif(f.project, '') as project, f.path, s.version, f.version as newest_version, coalesce(_agent_name(w), substr(s.reader, 3)) as reader,
         s.work_item_id, s.viewed_at, s.file_id
    from memory_views s
    join memory_files f on f.id = s.file_id
    left join work_items w on w.id = s.work_item_id;

comment on view v_memory_views is 'Which version of a note each reader was last shown: select reader, version, viewed_at from v_memory_views where path = ''/memories/style.md'' order by viewed_at desc. Agents that only saw it as a pinned note are not listed.';
comment on column v_memory_views.project is 'The project, by its current name; null: notes of work without one.';
comment on column v_memory_views.path is 'The file''s current path, or its path when it was deleted.';
comment on column v_memory_views.version is 'The version that the reader was last shown, or wrote.';
comment on column v_memory_views.newest_version is 'The file''s newest version.';
comment on column v_memory_views.reader is 'An agent, or the name of a reader without a work item.';
comment on column v_memory_views.work_item_id is 'The work item whose agent read it; null: none.';
comment on column v_memory_views.viewed_at is 'When the reader was shown it, or wrote it.';
comment on column v_memory_views.file_id is 'The file.';
