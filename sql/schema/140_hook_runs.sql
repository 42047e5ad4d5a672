-- Runs of hooks: commands that a faculty specifies for fixed points of a focus.

create table hook_runs (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null,
  focus_id uuid not null references foci (id),
  turn_id uuid references turns (id),
  tool_call_id uuid references tool_calls (id),
  hook text not null,
  command text not null,
  status text not null default 'pending',
  output text,
  error text,
  exit_code integer,
  duration_ms integer,
  created_at timestamptz not null default _now(),
  completed_at timestamptz,
  constraint hook_is_known check (hook in ('recover', 'orient', 'engage', 'before_model_call', 'before_tool', 'after_tool', 'check', 'consolidate')),
  constraint status_is_known check (status in ('pending', 'completed', 'refused', 'failed')),
  constraint ended_runs_have_completed_at check ((status = 'pending') = (completed_at is null)),
  constraint failed_runs_say_why check ((status = 'failed') <= (error is not null)),
  constraint one_run_a_point unique nulls not distinct (focus_id, hook, turn_id, tool_call_id)
) with (fillfactor = 70);

comment on table hook_runs is 'One row for each run of a hook at a point of a focus: its output and its outcome. A command whose worker died runs again.';
comment on column hook_runs.duration_ms is 'How long the command ran.';
comment on column hook_runs.turn_id is 'The turn at which it ran; null: at a point outside of turns.';
comment on column hook_runs.tool_call_id is 'The call before or after which it ran; null: at another point.';
comment on column hook_runs.hook is 'The point: the key of the faculty that names the command.';
comment on column hook_runs.command is 'What was run, by a shell in the item''s workspace; function:NAME: a function of the program that runs the worker.';
comment on column hook_runs.error is 'Why it failed; null: it did not.';
comment on column hook_runs.exit_code is 'Of the command; null: it did not end by itself. Of a function: 1 if it threw, else 0.';
comment on column hook_runs.status is 'refused: the command ran and said no. failed: it could not be run, ended with an error, timed out, or printed output that cannot be used; on_failure of the faculty then decides.';
comment on column hook_runs.output is 'What the command printed on stdout.';
