-- Entries, turns and items are chained by hashes: those of work items made from now on. Nobody can vouch for what was recorded
-- before, so earlier items have no chain (fences.salt and work_ledger.link stay null). A heartbeat says of which version its worker is.

alter table fences add column salt uuid;
alter table foci add column offered json;
alter table turns add column erased_hash bytea;
alter table turns add column reserved_input_tokens bigint;
alter table turns add column reserved_on date;
update turns t
   set reserved_input_tokens = t.reserved_tokens - (c.config ->> 'max_tokens')::bigint,
       reserved_on = (_now() at time zone 'UTC')::date
  from turn_configs c
 where c.content_hash = t.config_hash and t.status in ('pending', 'streaming') and t.reserved_tokens is not null;
alter table elisions add column standing json;
alter table work_ledger add column link bytea;
alter table work_ledger alter column link set default '';

create table seals (
  work_item_id uuid not null,
  n integer not null,
  turn_id uuid,
  message_count integer not null default 0,
  call_count integer not null default 0,
  ledger_count integer not null,
  link bytea not null,
  created_at timestamptz not null default _now(),
  words bytea,
  primary key (work_item_id, n)
);

create table ledger_chain (
  is_only boolean primary key default true,
  is_on boolean not null,
  updated_at timestamptz not null default _now(),
  constraint there_is_one_row check (is_only)
);

create table installed_code (
  kind text not null,
  name text not null,
  digest text not null,
  server integer not null,
  primary key (kind, name),
  constraint kind_is_known check (kind in ('function', 'trigger', 'view'))
);

-- What functions lock instead of advisory locks, which any login could take.
create table locks (
  purpose text,
  place smallint,
  primary key (purpose, place)
);
insert into locks
select p, 0 from unnest('{sweep,retention,hint,faculties,projects,abilities,roles,waits}'::text[]) p
union all
select p, n from unnest('{slots,spawns,trees,branches,conversations,checkpoints,claims,memory,renames,days}'::text[]) p cross join generate_series(0, 63) n;

-- Who decides in a name of their own.
create table people (
  id uuid primary key default _uuidv7(),
  name text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default _now(),
  revoked_at timestamptz,
  constraint name_is_not_blank check (name ~ '\S')
);
create unique index people_current on people (name) where revoked_at is null;
alter table people enable row level security;
alter table approvals add column person text;
alter table models add column takes jsonb;
alter table awareness_digests add column news_since_at timestamptz;
alter table awareness_digests add column news_mark text;
alter table models add constraint takes_is_an_object check (jsonb_typeof(takes) = 'object');
alter table elisions add column thinking_depth integer;
alter table models add column cache_write_1h numeric not null default 2;
alter table models add constraint cache_write_1h_is_a_multiple check (cache_write_1h between 0 and 100);
alter table turn_configs add column cache_ttl text generated always as (coalesce(config #>> '{cache_control,ttl}', '5m')) stored;
alter table work_usage add column hour_write_tokens bigint not null default 0;
alter table inbox add column person text;

-- Agents tell each other something; what the program that drives an item took was delivered by no turn.
alter table inbox drop constraint kind_is_known, drop constraint child_results_name_the_child, drop constraint consumed_items_say_by_what;
alter table inbox add constraint kind_is_known check (kind in ('message', 'child_result', 'agent_message'));
alter table inbox add constraint agents_are_named check ((kind = 'message') = (source_work_item_id is null));
alter table inbox add constraint delivered_items_are_consumed check (consumed_at is not null or coalesce(turn_id, tool_call_id) is null);
drop index inbox_messages;
create index inbox_messages on inbox (work_item_id, created_at) where kind <> 'child_result';
create index inbox_told on inbox (source_work_item_id, work_item_id, created_at) where kind = 'agent_message';
drop function if exists _quotes(uuid[]);
drop function if exists _erase_rows(uuid, text, bigint);
drop function if exists _artifacts_unuse(uuid, bigint);
drop function if exists _awareness(uuid, jsonb, uuid);
drop function if exists ledger_search(text, text, integer, uuid, text[], text, timestamptz);

create table linked_digests (
  name text not null,
  read_as text not null,
  version text not null,
  digest text not null,
  heard_at timestamptz not null default _now(),
  primary key (name, read_as)
);
alter table linked_digests enable row level security;

comment on table linked_digests is 'What each linked ledger said when it answered last, told for an hour where it does not answer; see awareness_digest_linked().';
comment on column linked_digests.name is 'The link, see v_ledger_links.';
comment on column linked_digests.read_as is 'The role whose user mapping it was read with: nobody else is told.';
comment on column linked_digests.version is 'The version of that ledger.';
comment on column linked_digests.digest is 'Its digest: words of other agents.';
comment on column linked_digests.heard_at is 'When it said so.';

-- Where a clock is set back, see _clock_set_back().
alter table sweep_walks drop constraint walk_is_known;
alter table sweep_walks add constraint walk_is_known check (walk in ('due', 'waiting', 'jobs', 'clock', 'hours'));

-- Sessions of other programs, which have neither foci nor turns, are told what is new.
alter table awareness_shown drop constraint awareness_shown_focus_id_fkey, alter column turn_id drop not null;
comment on table awareness_shown is 'Which entry of which work item was in the digest of which focus or session, and in which turn: who knew what, and when.';
comment on column awareness_shown.focus_id is 'The focus that was told; of a session of another program, which has none, its work item.';
comment on column awareness_shown.turn_id is 'The turn whose request told it. Null: a session of another program was told.';
comment on column awareness_shown.seq is 'The ledger entry; 0: the item was over; -1: it was not over; -2: it works on the file in path; -3: it was queued; -4: an end or a change that the agent asked to be told of; -5: it had not read the message in path.';
comment on column awareness_shown.path is 'The file that the work item works on, for seq -2; for -4, and for an entry that the agent asked to be told of, the subscription and what happened; for -5 the message; else empty.';

-- Where work may be driven: at the hosts of its faculty, and at the Docker daemon that has its files.
alter table work_items add column workspace_daemon text;
alter table work_items add column workspace_host text;
alter table work_items add column is_stranded boolean not null default false;
alter table workers add column daemon text;
alter table workers add column project text;
create index workers_project on workers (project) where project is not null;

-- Who named a directory of the workers' hosts. Of faculties nobody knows: they may use what lies within the workers' own roots, until they are saved again.
alter table work_items add column workspace_dir_by name;
alter table faculties add column saved_by name;
update work_items set workspace_dir_by = submitted_by where workspace_dir is not null;

-- Where work is.
alter table work_items add column project text;
alter table fences add column project text, add column told_at timestamptz;
alter table work_ledger add column project text;
alter table faculties add column project text;
drop index faculties_one_is_current;
create unique index faculties_one_is_current on faculties ((coalesce(project, '')), name) where is_current;
drop index work_items_routed;
create index work_items_routed on work_items ((coalesce(project, '')), (faculty is not null), (coalesce(faculty, work_type)), priority desc, run_at, id) where state = 'queued' and focus_id is null;
alter table work_items add column continues_id uuid references work_items (id), add column continued_by text, add column continued_with uuid, add column result_schema jsonb;
alter table work_items add constraint who_goes_on_is_said check ((continues_id is null) = (continued_by is null));
create index work_items_continues on work_items (continues_id) where continues_id is not null;
create index work_items_project on work_items (coalesce(project, ''), created_at desc, id desc);
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

create index faculties_hosts on faculties (name) where is_current and config -> 'hosts' <> '[]';

-- SQL functions of users run as a role of their own, and find what they name where they always do: in their own schema, and in those that
-- sessions of this database begin with.
alter table ledger_roles drop constraint kind_is_known;
alter table ledger_roles add constraint kind_is_known
  check (kind in ('owner', 'reader', 'client', 'agent', 'approver', 'worker', 'admin', 'tools', 'console'));
alter table abilities add column search_path name[];
do $do$
declare
  v_path text := current_setting('search_path');
  v_schemas name[];
begin
  perform set_config('search_path', coalesce((
    select substr(c, length('search_path=') + 1)
      from pg_db_role_setting s
      join pg_database d on d.oid = s.setdatabase
     cross join unnest(s.setconfig) c
     where d.datname = current_database() and s.setrole = 0 and starts_with(c, 'search_path=')), 'public'), true);
  v_schemas := pg_catalog.current_schemas(false);
  perform pg_catalog.set_config('search_path', v_path, true);
  update abilities a
     set search_path = array(
           select n.nspname
             from (select s.name, s.n from unnest(v_schemas) with ordinality as s(name, n)
                    union all
                   select (parse_ident(a.function_name))[1], 1000) u
             join pg_namespace n on n.nspname = u.name
            where n.nspname !~ '^pg_(toast_)?temp'
            group by n.nspname
            order by min(u.n))
   where a.implementation = 'sql' and not a.is_builtin;
end
$do$;
alter table abilities add constraint functions_of_users_have_a_path check ((implementation = 'sql' and not is_builtin) = (search_path is not null));
-- What agents want to be told of.
create table subscriptions (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null references work_items (id),
  kind text not null,
  target text not null,
  is_always boolean not null default false,
  created_at timestamptz not null default _now(),
  told_at timestamptz,
  constraint one_of_a_kind unique (work_item_id, kind, target),
  constraint kind_is_known check (kind in ('end', 'path', 'text')),
  constraint target_is_short check (octet_length(target) between 1 and 1000)
);

comment on table subscriptions is 'What the agent of a work item wants to be told of with the news of its next iterations, until its item is over; see notify_me().';
comment on column subscriptions.kind is 'end: the work item in target ends. path: somebody else changes that file. text: somebody else records a plan, decision, finding or error that has it.';
comment on column subscriptions.target is 'A work item, a path without leading ./, or a text.';
comment on column subscriptions.is_always is 'False: it is over once it was told of something.';
comment on column subscriptions.told_at is 'When a request that was answered, or the hook of a session, told of it last; null: none has.';
comment on column retention_policies.faculty is 'The faculty that worked on the root last: its name or, if it is a project''s, name@project; null: any.';
comment on column v_retention_policies.faculty is null; -- it is filled in from the table's

create index turns_of_responses on turns (focus_id, response_id) where external_id is not null;

-- Transcripts that other programs keep here.
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

-- Files of other programs that were read.
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

-- Notes that last.
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

drop function if exists ability_invoke(text, jsonb, uuid, uuid);
drop function if exists ability_register(text, text, json, text, text, regprocedure, json, json, text);

create type context_state as (
  item work_items,
  focus foci,
  engage jsonb,
  head turns,
  cuts elisions[],
  shown turns[]
);

create type exchange as (
  turn_id uuid,
  response text,
  results text,
  block_count integer,
  word_chars integer,
  result_chars integer,
  raw_chars integer
);

comment on type exchange is 'A response and the results of its calls as requests show them, see _exchange(). response, results: their content blocks as text, without brackets; empty: none. block_count: how many these are. word_chars, result_chars: how many characters; raw_chars: of the results alone, as _results_chars() counts them.';

create type iteration_flags as (
  last turns,
  head turns,
  is_head boolean,
  is_watched boolean,
  is_limited boolean,
  is_cooling boolean,
  is_written_to boolean,
  is_continued boolean,
  retracted_at timestamptz,
  registry text,
  written_iteration integer,
  call_count integer,
  open_count integer,
  waiting_count integer,
  done_call_id uuid,
  failed_check_id uuid,
  has_news boolean,
  boundary text,
  exchange exchange
);

create type export_piece as (
  n bigint,
  part bigint,
  kind text,
  role text,
  turn_id uuid,
  external_id text,
  model text,
  at timestamptz,
  is_by_people boolean,
  block json,
  left_out text[]
);

create index seals_turn on seals (turn_id) where turn_id is not null;
drop index turns_completed, turns_answered, session_history_label, messages_time, tool_calls_message;
create index turns_completed on turns (work_item_id, completed_at) where completed_at is not null;
create index turns_answered on turns (completed_at) where completed_at is not null;
create index tool_calls_message on tool_calls (message_id) where external_id is not null;
alter table session_history drop constraint session_history_pkey, add primary key (session_label, id);
create index tool_calls_awaited on tool_calls using gin ((lower((input -> 'work_item_ids')::text)::jsonb))
  where tool_name in ('await_child_work', 'wait_for') and wait_ends_at is not null and completed_at is null;
create index tool_calls_claim_awaited on tool_calls (lower(regexp_replace(input ->> 'claim', '^(file:)?(.*/)?', '')))
  where tool_name = 'wait_for' and wait_ends_at is not null and completed_at is null;
create index foci_session on foci (session_label);

-- What digests tell of: decisions, and work that waits; and whether anything is new.
drop index work_items_running, work_items_root_running, work_items_root_completed, work_items_queued_new, work_items_root_queued_new;
drop index work_ledger_root_findings, work_ledger_root_errors;
create index work_items_told on work_items
  (coalesce(project, ''), (parent_id is null), state,
   (case when state = 'completed' then resolved_at when state in ('running', 'waiting') then started_at else created_at end) desc, id desc)
  where state in ('created', 'queued', 'running', 'waiting', 'paused', 'completed');
create index work_items_changed on work_items (coalesce(project, ''), (coalesce(resolved_at, started_at, created_at)));
create index work_ledger_decisions on work_ledger (created_at desc) where entry_type = 'decision';
create index work_ledger_told on work_ledger (coalesce(project, ''), is_child_work, entry_type, created_at desc)
  where entry_type in ('decision', 'finding', 'error') and not is_inherited;
create index work_ledger_news on work_ledger (coalesce(project, ''), created_at, work_item_id)
  where entry_type in ('plan', 'decision', 'finding', 'error') and not is_inherited;

-- What agents and sessions are at work on.
create table claims (
  work_item_id uuid not null references work_items (id),
  key text not null,
  scope text not null,
  name text not null,
  place text,
  mode text not null,
  is_binding boolean not null,
  why text,
  focus_id uuid,
  claimed_at timestamptz not null default _now(),
  changed_at timestamptz,
  ends_at timestamptz not null,
  primary key (work_item_id, key),
  constraint mode_is_known check (mode in ('exclusive', 'shared')),
  constraint key_is_short check (octet_length(key) between 1 and 1000)
) with (fillfactor = 70);

create index claims_name on claims (name);
create index claims_place on claims (place) where place is not null;
create index journal_entries_written on journal_entries (md5(content ->> 'filePath'), created_at) where entry_type = 'file_written';
alter table tool_calls add column warning text;

-- An item that is to pause is driven, and paused when its lease ends; it was when the next iteration was claimed.
update work_items w
   set state = 'paused', is_pausing = false, slot_faculty = null
 where w.is_pausing and w.resolved_at is null and not exists (select from fences e where e.work_item_id = w.id and e.lease_hash is not null);
alter table work_items add constraint only_driven_items_are_to_pause check (not is_pausing or state in ('claimed', 'running'));

-- With them hashes of erased words could be told from others; the chain keeps its salts in fences.
drop table content_salts;
drop function if exists _salted_hash(uuid, text[]);
drop function if exists _import_exchanges(record, foci, turns, timestamptz);
drop function if exists _recorded_exchanges(json);
drop function if exists _import_known(foci, turns, text[]);
drop function if exists _import_turns(foci, text[]);
drop function if exists _import_response(turns, text, json, json, integer, boolean);
drop function if exists _import_spawns(turns, text, text, json, integer);
drop function if exists _import_refused(text, json, text);
drop function if exists _spawning_faculty(work_items);
drop function if exists _span(text, text, text, timestamptz, timestamptz, boolean, jsonb, jsonb, jsonb);
drop function if exists _replay_names(text[], turns, turns[], integer);
drop function if exists _budget_store(uuid, text, numeric);
drop function if exists _block_stub(turns[], integer, integer);
drop function if exists _newest_keep(uuid);
drop function if exists _summary_attempt(uuid);
drop function if exists lease_renew(text, uuid[], uuid[], text, integer, uuid, integer);
drop function if exists _jobs_tidy();
drop function if exists _import_known(uuid, turns, text[]);
drop function if exists _job_task(uuid);
drop function if exists _job_waiting(text);
drop function if exists _branch_lock(uuid);
drop function if exists _erase_gate(uuid);
drop function if exists _compaction_due(work_items, foci, jsonb, turns, turns, elisions[], text, boolean);
drop function if exists _compaction_ladder(work_items, foci, jsonb, turns, elisions[], text, boolean, text, integer, bigint);
drop function if exists _compaction_begun(work_items, foci, jsonb, text, integer);
drop function if exists _ledger_cut(work_items, foci, turns, elisions, turns[], integer, text, numeric);
drop function if exists _compaction_cut(work_items, foci, turns, elisions, turns[], integer, text, text, integer, text);
drop function if exists _floor_cut(work_items, foci, turns, elisions, turns[], text, text, integer);
drop function if exists _strategy_cut(work_items, foci, jsonb, turns, elisions[], turns[], integer, text, integer, text[]);
drop function if exists _selective_cut(work_items, foci, turns, elisions, turns[], integer);
drop function if exists _approval_settle(tool_calls, approvals);
drop function if exists _without_slot(work_items, text, text, timestamptz);
drop function if exists _budget_reserve(work_items, foci, jsonb, turns);
drop function if exists _lease_end(work_items);
drop function if exists _lease_drop(work_items, jsonb);
drop function if exists _enqueue_forgotten(timestamptz, text[], uuid[], interval);
drop function if exists _worked_by(uuid);
drop function if exists _warm_up();
drop function if exists _focus_widen(foci, turns, integer);
drop function if exists _response_store(turns, json, boolean);
drop function if exists _iteration_begin(work_items, foci, jsonb, uuid);
drop function if exists _went_on(work_items, foci, jsonb, uuid);
drop function if exists _messages(uuid, elisions[], text);
drop function if exists ledger_append(uuid, text, text, jsonb, uuid, text, text[]);
drop function if exists _ledger_format(uuid, integer, integer, integer, boolean);
drop function if exists _branch_message(turns);
drop function if exists work_complete(uuid, text, jsonb, uuid);
drop function if exists _next_steps(work_items, text[], text[], text[], text);
drop function if exists _awareness_tell(work_items, foci, jsonb, turns);
drop function if exists _awareness_settings(jsonb);
drop function if exists _work_in(text, uuid);
drop function if exists journal_session_open(text, text);
drop function if exists journal_session_create(text, text, jsonb, uuid);
drop function if exists work_submit(text, text, jsonb, text, integer, uuid, text, text, integer, timestamptz, text, text, jsonb, text);
drop function if exists _import_item(text, text, jsonb, timestamptz);
drop function if exists _submit_parent(uuid);
drop function if exists cost_by(text, uuid);
drop function if exists awareness_digest(uuid);
drop function if exists work_changes(uuid);
-- Made again below with other columns: who may read them, may afterwards.
do $do$
begin
  perform set_config('work_ledger.kept_grants', coalesce(string_agg(format('grant %s on %s to %s%s', a.privilege_type, c.relname,
      case a.grantee when 0 then 'public' else a.grantee::regrole::text end, case when a.is_grantable then ' with grant option' end), ';'), ''), true)
    from pg_class c cross join aclexplode(c.relacl) a
   where c.oid in (to_regclass('v_queue'), to_regclass('v_unroutable'), to_regclass('v_slots')) and a.grantee <> c.relowner;
end
$do$;
drop view if exists v_queue, v_unroutable, v_slots;
drop function if exists _faculty_for(text, text);
drop function if exists _slot_take(work_items, text);
drop function if exists _names_of(text);
drop function if exists _names_queued();
drop function if exists _awareness_items(uuid, jsonb, uuid, timestamptz, timestamptz);
drop function if exists _awareness_told(uuid, jsonb, uuid, timestamptz);
drop function if exists _items_of(text, boolean, uuid, uuid, timestamptz, integer);
drop function if exists _entries_of(text, boolean, uuid, uuid, timestamptz, integer);
drop function if exists _overlaps(uuid, uuid);
drop function if exists _context_next(work_items, foci, jsonb);
drop function if exists _elision_due(work_items, foci, jsonb, turns, elisions[], text[]);
drop function if exists _engine_message(turns);
drop function if exists _entries_made(uuid[]);
drop function if exists _exchange_sizes(uuid);
drop function if exists _next_block(turns, uuid);
drop function if exists _next_tokens(jsonb, turns, turns, elisions, text, bigint);
drop function if exists _nudge(work_items, foci, turns, integer, uuid);
drop function if exists _retractions_tell(work_items, foci, turns);
drop function if exists _said_done(turns, integer);
drop function if exists _tokens_new(uuid[]);
drop function if exists _touches_store(tool_calls, text);
drop function if exists _touch_rules_of(text);
drop function if exists _touches_of(text, json, text);
drop function if exists _turns_since(turns, uuid);
drop function if exists _awaited_by(work_items);
drop function if exists _calibrate(turns);
drop function if exists _turn_create(work_items, foci, jsonb, uuid);
drop function if exists context_compact(uuid, text);
drop function if exists model_save(text, integer, numeric);
drop function if exists _price(text, bigint, bigint, bigint, bigint);
drop function if exists _relative_prices(text);
drop function if exists _budget_room(budgets, text, bigint);
drop function if exists _budget_spend(uuid, jsonb, jsonb);
drop function if exists _budgets_above(uuid[]);
drop function if exists _budget_park(work_items, text);
drop function if exists _cache_seconds(numeric);
drop function if exists _turn_config(foci, jsonb, text);
drop function if exists _config_of(foci, jsonb, text);
drop function if exists _message_parts(uuid, elisions[], text, uuid);
drop function if exists _with_breakpoint(text);
drop function if exists _told(uuid, boolean);
drop function if exists _told_in(uuid, boolean);
drop trigger if exists search_retracted on work_ledger;
drop trigger if exists search_ledger on work_ledger;
drop trigger if exists redact on work_ledger;
drop trigger if exists refuse_entry on work_ledger;
drop function if exists _redact_entry();
drop function if exists _refuse_entry();
drop function if exists _search_ledger();
comment on column work_ledger.link is 'SHA-256 of the entry before it and of this one, see _entry_link(): the chain that ledger_verify() walks. Null: the item has no chain. (ledger_append() or trigger complete_entry makes it; a row that is restored brings its own.)';

drop index tool_calls_measured;
create index tool_calls_ended on tool_calls (completed_at) where completed_at > '-infinity';

-- Sums by the hour; the sweeps count what there is already, a day at once.
create table work_hours (
  began_at timestamptz not null,
  kind text not null,
  name text not null,
  faculty text not null,
  model text not null,
  project text not null,
  times bigint not null,
  failures bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  hour_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  seconds double precision not null default 0,
  took bigint[] not null default '{}',
  first_took bigint[] not null default '{}',
  primary key (began_at, kind, name, faculty, model, project),
  constraint kind_is_known check (kind in ('model', 'failure', 'tool', 'attempt', 'item', 'lease')),
  constraint hour_is_whole check (extract(epoch from began_at)::bigint % 3600 = 0)
) with (fillfactor = 70);

create index model_calls_failed on model_calls (ended_at) where error_class is not null;
create index work_items_ended on work_items (resolved_at) where resolved_at > '-infinity';

comment on table work_hours is 'Sums of what was done in each hour, by faculty, model and project; only up to where work_hours_sum() has come: v_work_hours has what is newer, too. They stay when work is erased. Sessions of other programs are not in it.';
comment on column work_hours.began_at is 'When the hour began.';
comment on column work_hours.kind is 'What was counted: model (answered requests), failure (requests that failed; not those that were lost with their worker), tool (calls that ended), attempt and item (that ended), lease (that expired).';
comment on column work_hours.name is 'Of model turn, or summary (of a compaction); of failure its class; of tool the tool; of attempt its outcome; of item its state; of lease expired.';
comment on column work_hours.faculty is 'As _faculty_ref() writes it; none: it had none.';
comment on column work_hours.model is 'The model that was asked; empty: none was.';
comment on column work_hours.project is 'The project as its work was submitted with, see project_names(); empty: none.';
comment on column work_hours.times is 'How often.';
comment on column work_hours.failures is 'Of tool: how many of these ended with an error.';
comment on column work_hours.input_tokens is 'Outside of the provider''s cache.';
comment on column work_hours.cached_input_tokens is 'Read from the provider''s cache.';
comment on column work_hours.cache_write_tokens is 'Written to the provider''s cache.';
comment on column work_hours.hour_write_tokens is 'Of these, those that were written for an hour.';
comment on column work_hours.output_tokens is 'Of the answers.';
comment on column work_hours.seconds is 'How long all of them took; a wait takes no time.';
comment on column work_hours.took is 'How many took how long, by _seconds_bucket(), from 0 on.';
comment on column work_hours.first_took is 'The same, of the time until the first token came.';

-- Budgets by day.
create table daily_budgets (
  scope text not null,
  name text not null,
  resource budget_resource not null,
  amount numeric not null,
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  primary key (scope, name, resource),
  constraint scope_is_known check (scope in ('project', 'faculty')),
  constraint resource_is_used_by_the_day check (resource <> 'children'),
  constraint amount_is_a_number check (amount >= 0 and amount < 'Infinity')
);

create table daily_spending (
  scope text not null,
  name text not null,
  resource budget_resource not null,
  day date not null,
  spent numeric not null default 0,
  reserved numeric not null default 0,
  primary key (scope, name, resource, day),
  constraint reserved_is_not_negative check (reserved >= 0)
) with (fillfactor = 50);

create type budget_draw as (
  work_item_id uuid,
  scope text,
  name text,
  resource budget_resource,
  day date,
  amount numeric,
  spent numeric,
  reserved numeric
);

comment on table daily_budgets is 'What all work of a project or of a faculty may use together in a day, which is one of UTC. Written by daily_budget_set().';
comment on column daily_budgets.scope is 'Of what it is: project or faculty.';
comment on column daily_budgets.name is 'The name that the project has today; of a faculty its name or, if it is a project''s, name@project.';
comment on column daily_budgets.resource is 'tokens, money, seconds or calls: see budgets.resource.';
comment on column daily_budgets.amount is 'The limit of each day; money in the currency of the prices.';
comment on table daily_spending is
  'What was used in a day of what daily_budgets limits: a row for each day on which something drew on it. Sums only, which stay when work is erased, for 400 days. Written by daily_budget_set() and the stages of an iteration.';
comment on column daily_spending.scope is 'As in daily_budgets.';
comment on column daily_spending.name is 'As in daily_budgets.';
comment on column daily_spending.resource is 'As in daily_budgets.';
comment on column daily_spending.day is 'The day, of UTC: a model call is of the day in which it was reserved, seconds are of the day in which they were counted.';
comment on column daily_spending.spent is 'Used in it so far, as counted by the provider and the clock.';
comment on column daily_spending.reserved is 'Reserved by model calls under way.';
comment on type budget_draw is
  'A budget that an item draws on, with what was used of it: one of a work item (work_item_id), or one by day of a project or a faculty (scope, name, day).';
comment on column turns.reserved_on is 'The day, of UTC, in which the request was reserved: budgets by day are charged for it in that one. Null: it is reserved nowhere.';

@functions@

do $do$
begin
  execute current_setting('work_ledger.kept_grants'); -- what was noted above
end
$do$;

-- Work of 0.1.0 is in the project of its directory, where that is known; what was recorded in the last week is told as of it. A tree with
-- work that is not over stays in none: workers call its directory by another name, and any may go on with it.
update work_items w
   set project = d.directory
  from work_items i
  left join lateral (
    select c.config #>> '{engage,workspace_dir}' as directory from foci f join faculties c on c.content_hash = f.faculty_hash
     where f.work_item_id = i.root_id and c.config #>> '{engage,workspace}' = 'host'
     order by f.attempt desc limit 1) c on true
 cross join lateral (select coalesce(i.workspace_dir, _session_directory(i), c.directory) as directory) d
 where i.id = w.root_id and d.directory ~ '^/' and _project_problem(d.directory) is null
   and not exists (select from work_items o where o.root_id = i.id and o.resolved_at is null and o.work_type not in ('journal', 'ldg:task', 'import'));
update fences e set project = w.project from work_items w where w.id = e.work_item_id and w.project is not null;
alter table work_ledger disable trigger refuse_change;
update work_ledger l set project = w.project
  from work_items w where w.id = l.work_item_id and w.project is not null and l.created_at > _now() - interval '7 days';
alter table work_ledger enable always trigger refuse_change;

create or replace function _search_text(p_text text) returns text
  language sql immutable parallel safe
  return regexp_replace(regexp_replace(p_text, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'), '[^[:alnum:] ]+', ' ', 'g');

-- What no file of api/ makes.
insert into installed_code (kind, name, digest, server)
select c.kind, c.name, c.digest, current_setting('server_version_num')::integer / 10000
  from _code_now() c
 where c.kind = 'function' and split_part(c.name, '(', 1) in (
         '_now', '_ledger_entry_types', '_trust_classes', '_budget_resources', '_work_sources', '_search_sources', '_search_text')
    or c.kind = 'trigger' and c.name in ('check_compaction on turns', 'check_head on sessions', 'check_turn on turns')
    on conflict do nothing;
comment on column hook_runs.command is 'What was run, by a shell in the item''s workspace; function:NAME: a function of the program that runs the worker.';
comment on column hook_runs.exit_code is 'Of the command; null: it did not end by itself. Of a function: 1 if it threw, else 0.';
comment on table turn_sizes is 'Characters of each turn''s request, by part, without system prompt and tools, which are in its configuration. Of a compaction all parts are 0. Written with the turn; read by context_timeline(). They stay when work is erased: sizes are numbers, not words.';
