-- Attempts at work items (foci), the leases under which workers drive them, and the workers themselves.
-- Foreign keys must not form a cycle: a dump of an extension restores its rows table by table, with the keys in place. So foci.session_label and
-- work_items.focus_id have none. Both are set only where the row that they refer to is created, and neither sessions nor foci can be deleted
-- (api/00_ground/append_only.sql).

create table workers (
  id text primary key,
  host text not null,
  pid integer not null,
  version text not null,
  tree_id uuid,
  concurrency integer,
  role name not null default session_user,
  started_at timestamptz not null default _now(),
  seen_at timestamptz not null default _now(),
  daemon text,
  project text
);

create table foci (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null references work_items (id),
  attempt integer not null,
  faculty text not null,
  faculty_hash text not null references faculties (content_hash),
  session_label text not null,
  iteration integer not null default 0,
  max_tokens integer not null,
  lease_owner text,
  lease_generation integer not null default 0,
  lease_seconds integer,
  leased_at timestamptz,
  lease_expires_at timestamptz,
  crash_count integer not null default 0,
  model_error_count integer not null default 0,
  stall_count integer not null default 0,
  round_hash text,
  round_count integer not null default 0,
  nudge_iteration integer not null default 0,
  unheeded_nudge_count integer not null default 0,
  compaction_trigger text,
  compaction_instructions text,
  overflow_count integer not null default 0,
  awaited_by uuid[],
  outcome text,
  error jsonb,
  created_at timestamptz not null default _now(),
  ended_at timestamptz,
  offered json,
  constraint one_focus_an_attempt unique (work_item_id, attempt),
  constraint outcome_is_known check (outcome in ('completed', 'failed', 'crashed', 'cancelled')),
  constraint ended_foci_have_an_outcome check ((outcome is null) = (ended_at is null)),
  constraint compaction_trigger_is_known check (compaction_trigger in ('manual', 'context_overflow')),
  constraint a_lease_is_whole check ((lease_owner is null) = (lease_expires_at is null))
) with (fillfactor = 70);

create table sweep_walks (
  walk text primary key,
  run_at timestamptz,
  work_item_id uuid,
  job_id bigint,
  constraint walk_is_known check (walk in ('due', 'waiting', 'jobs', 'clock', 'hours'))
);

create index workers_tree on workers (tree_id) where tree_id is not null;
create index workers_project on workers (project) where project is not null;
create index foci_ended on foci (ended_at) where ended_at is not null;
create index foci_session on foci (session_label);

comment on table workers is 'Worker processes that are alive or were until recently. id is graphile-worker''s pool id, under which it locks jobs.';
comment on column workers.id is 'graphile-worker''s pool id, under which it locks jobs.';
comment on column workers.host is 'The machine''s name.';
comment on column workers.daemon is 'Identifies the Docker daemon that it uses; null: it has none, or none answers.';
comment on column workers.project is 'The project that it serves, as it named it: it drives work of that and of none. Null: it serves all.';
comment on column workers.pid is 'Its process there.';
comment on column workers.version is 'The version of Work Ledger that it runs.';
comment on column workers.role is 'The database role as which it is logged in.';
comment on column workers.seen_at is 'Its newest heartbeat.';
comment on column workers.concurrency is 'Work items that the worker drives at once, at most; null: it did not say.';
comment on column workers.tree_id is 'Root of the tree that this worker keeps for itself: it works on no other tree, and no other worker works on this one while it lives. Null: it takes any queued item. See work_keep().';
comment on table sweep_walks is 'Where the last work_sweep() stopped: the next one goes on behind it. walk: due and waiting go through the work items by run_at, jobs through graphile-worker''s jobs. clock: what time it was.';
comment on column sweep_walks.walk is 'due, waiting, jobs, clock or hours.';
comment on column sweep_walks.run_at is 'The run_at of the last item that was looked at; of clock, the time of the last sweep; of hours, until when work_hours has everything.';
comment on column sweep_walks.work_item_id is 'The last item that was looked at, of clock the first that was not; null: all were, the next sweep begins anew.';
comment on column sweep_walks.job_id is 'The last job that was looked at; null: all were.';
comment on table foci is 'One row for each attempt at a work item: one activation of a faculty, driven iteration by iteration under a lease.';
comment on column foci.attempt is '1, 2, ... within the work item.';
comment on column foci.session_label is 'The conversation of the attempt.';
comment on column foci.lease_owner is 'The worker that drives it; null: none does now.';
comment on column foci.lease_seconds is 'How long the lease lives without being renewed.';
comment on column foci.lease_expires_at is 'A lease that is not renewed by then belongs to a dead worker.';
comment on column foci.compaction_instructions is 'What the summary of the requested compaction is to look at.';
comment on column foci.outcome is 'How the attempt ended; null: it is under way.';
comment on column foci.error is 'Why it failed: {message}; null: it did not.';
comment on column foci.awaited_by is 'The await_child_work calls of the parent that waited for the item when this attempt ended; null: none.';
comment on column foci.faculty_hash is 'The configuration that this focus runs with, even if a newer one is saved meanwhile.';
comment on column foci.iteration is 'Iterations finished.';
comment on column foci.max_tokens is 'Output limit of the next model call; doubled once when a response was cut off.';
comment on column foci.lease_generation is 'How many times a worker has claimed this focus.';
comment on column foci.leased_at is 'When the lease was taken; the seconds since then count against budgets.';
comment on column foci.crash_count is 'Leases lost since the last finished iteration.';
comment on column foci.model_error_count is 'Model calls in a row that failed.';
comment on column foci.nudge_iteration is 'The iteration whose request carried the newest nudge (a reminder to write to the ledger); 0: none did.';
comment on column foci.unheeded_nudge_count is 'Nudges in a row after which the agent wrote nothing to its ledger.';
comment on column foci.compaction_trigger is 'Not null: the next request is compacted whatever its size.';
comment on column foci.overflow_count is 'Requests in a row that the model refused because of their size.';
comment on column foci.round_hash is 'Hash of the calls and results of the last iteration; null: there was none, or it does not count, see _round_hash().';
comment on column foci.round_count is 'Iterations in a row with these same calls and results.';
comment on column foci.stall_count is 'Responses in a row that neither called a tool nor ended the work; a pause with text is not counted.';
comment on column foci.offered is 'What its requests offered last, to be made anew only when something of it changes: {mark: of the registry of abilities and of how the model thinks, max_tokens, config: the hash of turn_configs, early: as iteration_begin() answers}. Null: nothing yet.';
