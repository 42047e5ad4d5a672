-- Units of work, in a tree. Everything written for an item is serialized by the lock on its fence (031_fences.sql). root_id has no foreign key: its check
-- would lock the root's row for every child that is submitted. Only work_submit() sets it.

create table work_items (
  id uuid primary key default _uuidv7(),
  parent_id uuid references work_items (id),
  root_id uuid not null,
  depth integer not null default 0,
  work_type text not null,
  description text not null,
  params jsonb not null default '{}',
  faculty text,
  priority integer not null default 0,
  source work_source not null default 'human',
  submitted_by name not null default session_user,
  dedup_key text,
  idempotency_key text,
  external_id text,
  state text not null default 'queued',
  state_reason text,
  is_pausing boolean not null default false,
  attempts integer not null default 0,
  max_attempts integer,
  run_at timestamptz not null default _now(),
  focus_id uuid,
  fork_turn_id uuid,
  spawn_tool_call_id uuid,
  workspace_dir text,
  slot_faculty text,
  ledger_epoch integer not null default 0,
  heartbeat_ends_at timestamptz,
  outcome_data jsonb,
  created_at timestamptz not null default _now(),
  started_at timestamptz,
  resolved_at timestamptz,
  erased_at timestamptz,
  erased_hash bytea,
  workspace_daemon text,
  workspace_host text,
  is_stranded boolean not null default false,
  workspace_dir_by name,
  project text,
  continues_id uuid references work_items (id),
  continued_by text,
  continued_with uuid,
  result_schema jsonb,
  constraint state_is_known check (state in (
    'created', 'queued', 'claimed', 'running', 'waiting', 'paused', 'completed', 'failed', 'dead', 'cancelled')),
  constraint finished_items_have_resolved_at check (
    (state in ('completed', 'failed', 'dead', 'cancelled')) = (resolved_at is not null)),
  constraint work_type_is_short check (char_length(work_type) between 1 and 200),
  constraint description_is_at_most_64_kib check (description ~ '\S' and octet_length(description) <= 65536),
  constraint params_are_an_object check (jsonb_typeof(params) = 'object'),
  constraint depth_is_at_most_5 check (depth between 0 and 5 or (depth > 5 and work_type = 'ldg:task')),
  constraint children_know_their_root check ((parent_id is null) = (depth = 0) and (parent_id is null) = (root_id = id)),
  constraint max_attempts_is_positive check (max_attempts > 0),
  constraint workspace_dir_is_absolute check (workspace_dir ~ '^/'),
  constraint who_goes_on_is_said check ((continues_id is null) = (continued_by is null)),
  constraint only_driven_items_are_to_pause check (not is_pausing or state in ('claimed', 'running'))
) with (fillfactor = 70);

create unique index work_items_idempotency_key on work_items (idempotency_key) where idempotency_key is not null;
create unique index work_items_external_id on work_items (external_id) where external_id is not null;
create unique index work_items_open_dedup_key on work_items (dedup_key)
  where dedup_key is not null and state not in ('completed', 'failed', 'dead', 'cancelled');
create index work_items_parent on work_items (parent_id) where parent_id is not null;
create index work_items_created on work_items (created_at desc, id desc);
create index work_items_project on work_items (coalesce(project, ''), created_at desc, id desc);
create index work_items_open on work_items (created_at desc, id desc) where resolved_at is null;
create index work_items_resumable on work_items (created_at desc) where state in ('paused', 'dead') or (state = 'created' and work_type = 'journal');
create index work_items_interactive on work_items (created_at desc) where state = 'created' and work_type = 'journal';
create index work_items_driven on work_items (id) where state in ('claimed', 'running');
create index work_items_told on work_items
  (coalesce(project, ''), (parent_id is null), state,
   (case when state = 'completed' then resolved_at when state in ('running', 'waiting') then started_at else created_at end) desc, id desc)
  where state in ('created', 'queued', 'running', 'waiting', 'paused', 'completed');
create index work_items_changed on work_items (coalesce(project, ''), (coalesce(resolved_at, started_at, created_at)));
create index work_items_completed on work_items (resolved_at desc) where state = 'completed';
create index work_items_runnable on work_items (run_at, id) where state in ('queued', 'claimed', 'running', 'waiting');
create index work_items_slots on work_items (slot_faculty) where slot_faculty is not null;
create index work_items_queued on work_items (priority desc, run_at) where state = 'queued';
create index work_items_routed on work_items ((coalesce(project, '')), (faculty is not null), (coalesce(faculty, work_type)), priority desc, run_at, id) where state = 'queued' and focus_id is null;
create index work_items_queued_again on work_items (priority desc, run_at, id) where state = 'queued' and focus_id is not null;
create index work_items_root on work_items (root_id);
create index work_items_fork on work_items (fork_turn_id) where fork_turn_id is not null;
create index work_items_continues on work_items (continues_id) where continues_id is not null;

comment on table work_items is
  'Units of work, in trees by parent_id. Made by work_submit(). States: created, queued, claimed, running, waiting, paused; final: completed, failed, dead, cancelled.';
comment on column work_items.submitted_by is 'The database role that was logged in when it was submitted; of children that of the root. It may write to the item, see work_roles_create().';
comment on column work_items.parent_id is 'The item that it is a part of; null: it is a root.';
comment on column work_items.root_id is 'The top of its tree; its own id if it is a root.';
comment on column work_items.depth is 'Items above it; 0: it is a root.';
comment on column work_items.work_type is 'Decides which faculty takes it.';
comment on column work_items.description is 'The task, as its agent reads it.';
comment on column work_items.params is 'Parameters of the task, a JSON object, which its agent reads too.';
comment on column work_items.source is 'Who made it: human, trigger, agent, webhook, cron or event.';
comment on column work_items.idempotency_key is 'A second work_submit() with the same key returns this item.';
comment on column work_items.state is 'created, queued, claimed, running, waiting, paused; final: completed, failed, dead (all attempts failed), cancelled.';
comment on column work_items.started_at is 'When its first attempt began.';
comment on column work_items.resolved_at is 'When it reached a final state; null: it has not.';
comment on column work_items.fork_turn_id is 'The turn from which its conversation continues, if work_fork(), work_continue() or work_retry() made the item. No foreign key: turns reference work items.';
comment on column work_items.continues_id is 'The item from whose end it goes on, in the same session, see work_chain(); null: it began by itself, or is a fork.';
comment on column work_items.continued_by is 'Who had it go on there: a person''s name, see person_current(), else the database role.';
comment on column work_items.continued_with is 'The message with which it goes on; null: none was said. No foreign key: messages reference work items.';
comment on column work_items.result_schema is 'What its result must look like, a JSON Schema; null: as its faculty says.';
comment on column work_items.spawn_tool_call_id is 'The tool call of the parent''s agent that submitted this item; null: no call did. No foreign key: tool calls reference work items.';
comment on column work_items.workspace_dir is 'The directory on the host in which the item is worked on; overrides the faculty''s engage.workspace_dir, and children inherit it. Null: the faculty''s.';
comment on column work_items.workspace_dir_by is 'The database role that named workspace_dir; children and forks inherit it. What it may name, a worker decides, see focus_claim(). Null: nobody named one.';
comment on column work_items.project is 'Where the work is, in the name that it was submitted with (a repository as host/path, a directory of a host, any name); children, forks and resumptions are of the same. Null: of no project. v_work_list has the name that it has today, see project_rename().';
comment on column work_items.workspace_daemon is 'The Docker daemon that has the files of its workspace: only workers of that daemon drive it, see workspace_bind(). Null: there are no files yet, or they are not in a container.';
comment on column work_items.workspace_host is 'The host of the worker that made its workspace there; null: none did.';
comment on column work_items.is_stranded is 'True of a waiting item: it waits for a worker on another host or for its project, and none lives; state_reason names it.';
comment on column work_items.faculty is 'Name of the requested faculty: that of its project, else the ledger''s; null: the first of these whose accepts lists work_type.';
comment on column work_items.priority is 'Higher is more urgent.';
comment on column work_items.dedup_key is 'At most one unfinished work item has a given key.';
comment on column work_items.external_id is 'The caller''s own identifier, unique in this ledger.';
comment on column work_items.state_reason is 'Why the item is in its state, in plain text; null where the state says it all.';
comment on column work_items.is_pausing is 'True: the item pauses as soon as the worker that drives it gives up its lease.';
comment on column work_items.attempts is 'Foci started so far.';
comment on column work_items.max_attempts is 'Null: the faculty''s recover.max_attempts.';
comment on column work_items.run_at is 'Not worked on before this time. Of a waiting item: when its wait times out.';
comment on column work_items.focus_id is 'The attempt under way; null: there is none, and any client may write to the ledger.';
comment on column work_items.slot_faculty is 'The faculty of whose max_concurrent slots the item holds one: its name or, if it is a project''s, name@project; null: it holds none, or the faculty has no limit.';
comment on column work_items.ledger_epoch is 'Entries up to this number belong to attempts that were given up: an attempt that starts fresh (recover.mode = "fresh") does not read them.';
comment on column work_items.heartbeat_ends_at is 'Of a session that another program drives: the program counts as alive until then; see journal_heartbeat().';
comment on column work_items.erased_at is 'Since when its words are gone, see erasures; null: they are here.';
comment on column work_items.erased_hash is 'Of an erased item: the salted hash of task, parameters and outcome, see _item_hash().';
comment on column work_items.outcome_data is 'The result: {summary, evidence, ...} or {error, ...}.';
