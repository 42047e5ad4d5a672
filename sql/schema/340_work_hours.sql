-- Sums of the work done in each hour, so that nobody has to count items to know what a day cost.

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
-- As tool_calls_ended.
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
