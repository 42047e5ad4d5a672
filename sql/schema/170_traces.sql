-- Data that traces need and no other row contains: each request to a model, each digest, and what was exported.

create type trace_span as (
  trace_id text,
  span_id text,
  parent_span_id text,
  name text,
  kind text,
  started_at timestamptz,
  ended_at timestamptz,
  status text,
  attributes jsonb,
  events jsonb,
  links jsonb
);

create table model_calls (
  turn_id uuid not null references turns (id),
  attempt integer not null,
  model text,
  started_at timestamptz not null default _now(),
  ended_at timestamptz,
  error_class text,
  status integer,
  request_id text,
  primary key (turn_id, attempt),
  constraint failed_calls_have_ended check (error_class is null or ended_at is not null)
) with (fillfactor = 70);

create table awareness_digests (
  focus_id uuid not null references foci (id),
  iteration integer not null,
  turn_id uuid not null references turns (id),
  is_delta boolean not null,
  entries integer not null,
  chars integer not null,
  tokens integer not null,
  duration_ms double precision not null,
  created_at timestamptz not null default _now(),
  news_since_at timestamptz,
  news_mark text,
  primary key (focus_id, iteration, turn_id)
);

create table trace_exports (
  focus_id uuid primary key,
  iteration integer not null default 0,
  is_done boolean not null default false,
  claim_ends_at timestamptz
) with (fillfactor = 50);

comment on type trace_span is 'A span of a trace, see work_trace().';
comment on table model_calls is 'Requests sent to a model, but for a first one that was sent as soon as its turn was made, unless it failed: of that the turn says all, as it does of what an answered one returned. work_trace() has a span for each.';
comment on column model_calls.request_id is 'The provider''s id of a request that failed, for questions to its support; turns.request_id: of one that was answered.';
comment on column model_calls.attempt is '1, 2, … within the turn.';
comment on column model_calls.model is 'The model that was asked.';
comment on column model_calls.ended_at is 'When it failed. Null: it is under way, or was answered when its turn was completed. Of a lost request: when its lease was over.';
comment on column model_calls.error_class is 'Null: it was answered, or is under way. The class that iteration_fail() was told, or lost: its worker died, was interrupted or gave it back.';
comment on column model_calls.status is 'The HTTP status of a request that failed.';
comment on table awareness_digests is 'One row for each awareness digest made for a turn: its size and what it took to make.';
comment on column awareness_digests.iteration is 'The iteration of the focus whose request carried it.';
comment on column awareness_digests.news_since_at is 'From when on what is new to others was marked.';
comment on column awareness_digests.news_mark is 'A mark of what was new by then, see _news_mark(): while it is the same, there is no news since this digest.';
comment on column awareness_digests.entries is 'How many entries of others it told of.';
comment on column awareness_digests.chars is 'Its size in characters.';
comment on column awareness_digests.tokens is 'Its size in estimated tokens.';
comment on column awareness_digests.is_delta is 'True: only what was new since the agent was last told. Entries 0: nothing was, and the agent was told nothing.';
comment on column awareness_digests.duration_ms is 'What its queries took.';
comment on table trace_exports is 'How far the spans of each attempt have been exported, see trace_take(). No foreign key: who exports waits for nobody and nobody for it.';
comment on column trace_exports.iteration is 'The spans of the iterations up to this one are exported.';
comment on column trace_exports.is_done is 'True: all spans of the attempt are exported.';
comment on column trace_exports.claim_ends_at is 'Until then another process is exporting; null: none is.';
