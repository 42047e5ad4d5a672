-- The tree of turns: what the model was asked, what it answered, and the tool calls that followed.

create table turn_configs (
  content_hash text primary key,
  config json not null,
  model text generated always as (config ->> 'model') stored,
  system_hash text generated always as (md5(config ->> 'system')) stored,
  tools_hash text generated always as (md5(config ->> 'tools')) stored,
  created_at timestamptz not null default _now(),
  cache_ttl text generated always as (coalesce(config #>> '{cache_control,ttl}', '5m')) stored
);

create table turns (
  id uuid primary key default _uuidv7(),
  parent_turn_id uuid references turns (id),
  depth integer not null default 0,
  turn_type text not null default 'normal',
  status text not null default 'pending',
  work_item_id uuid,
  focus_id uuid references foci (id),
  iteration integer,
  config_hash text references turn_configs (content_hash),
  block integer not null default 1,
  elision_id uuid,
  fork_turn_id uuid references turns (id),
  provider text,
  model text,
  role text not null default 'unified',
  stop_reason text,
  response_id text,
  request_id text,
  call_count integer not null default 0,
  error jsonb,
  input_tokens integer,
  output_tokens integer,
  cached_input_tokens integer,
  cache_write_tokens integer,
  reasoning_tokens integer,
  total_tokens integer generated always as (
    coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0)) stored,
  chain_tokens bigint not null default 0,
  reserved_tokens bigint,
  reserved_money numeric,
  duration_ms integer,
  first_token_ms integer,
  external_id text,
  workspace_path text,
  archived_at timestamptz,
  started_at timestamptz not null default _now(),
  completed_at timestamptz,
  erased_hash bytea,
  reserved_input_tokens bigint,
  reserved_on date,
  constraint turn_type_is_known check (turn_type in ('normal', 'compaction')),
  constraint status_is_known check (status in ('pending', 'streaming', 'completed', 'failed')),
  constraint completed_turns_have_completed_at check ((status in ('completed', 'failed')) = (completed_at is not null)),
  constraint roots_have_depth_0 check ((parent_turn_id is null) = (depth = 0)),
  constraint role_is_known check (role in ('manager', 'worker', 'unified'))
);

create unique index turns_one_an_iteration on turns (focus_id, iteration) where status <> 'failed';
create unique index turns_one_pending on turns (focus_id) where status in ('pending', 'streaming');
create index turns_given_up on turns (focus_id, iteration) where status = 'failed';
create index turns_parent on turns (parent_turn_id);
create index turns_work_item on turns (work_item_id, id);
-- Excludes unanswered turns: each answer rewrites a turn's row, and an entry in each index.
create index turns_completed on turns (work_item_id, completed_at) where completed_at is not null;
create index turns_of_others on turns (work_item_id) where focus_id is null or external_id is not null;
create index turns_of_responses on turns (focus_id, response_id) where external_id is not null;

alter table sessions add foreign key (head_turn_id) references turns (id);
alter table sessions add foreign key (parent_turn_id) references turns (id);
alter table session_history add foreign key (turn_id) references turns (id);

create table turn_workspaces (
  turn_id uuid primary key references turns (id),
  ref text not null,
  created_at timestamptz not null default _now(),
  constraint ref_is_short check (char_length(ref) between 1 and 1000)
);

create table messages (
  id uuid primary key default _uuidv7(),
  turn_id uuid not null references turns (id),
  sequence integer not null,
  role text not null,
  source message_source,
  content json not null,
  sent_content json,
  context jsonb,
  metadata jsonb,
  external_id text,
  erased_hash bytea,
  created_at timestamptz not null default _now(),
  constraint messages_are_ordered unique (turn_id, sequence),
  constraint role_is_known check (role in ('user', 'assistant', 'system', 'tool')),
  constraint content_is_a_list_of_blocks check (json_typeof(content) = 'array'),
  constraint content_is_at_most_4_mib check (octet_length(content::text) <= 4194304)
);

create table tool_calls (
  id uuid primary key default _uuidv7(),
  turn_id uuid not null references turns (id),
  parent_call_id uuid references tool_calls (id),
  ordinal integer not null,
  work_item_id uuid,
  message_id uuid references messages (id) deferrable initially deferred,
  provider_id text not null,
  given_id text,
  tool_name text not null,
  input json not null,
  rewritten_input json,
  effect text not null,
  status text not null default 'pending',
  result json,
  value json,
  is_error boolean,
  artifact_hash text references artifacts (content_hash),
  is_truncated boolean not null default false,
  code_run jsonb,
  attempts integer not null default 0,
  spawned_work_item_id uuid,
  end_message_id uuid references messages (id) deferrable initially deferred,
  external_id text,
  created_at timestamptz not null default _now(),
  started_at timestamptz,
  completed_at timestamptz,
  wait_ends_at timestamptz,
  erased_hash bytea,
  warning text,
  constraint code_run_is_an_object check (jsonb_typeof(code_run) = 'object'),
  constraint calls_are_ordered unique nulls not distinct (turn_id, parent_call_id, ordinal),
  constraint effect_is_known check (effect in ('pure', 'idempotent', 'unsafe')),
  constraint status_is_known check (status in ('pending', 'running', 'waiting', 'completed', 'failed', 'uncertain')),
  constraint only_waiting_calls_wait check ((status = 'waiting') <= (wait_ends_at is not null)),
  constraint settled_calls_have_a_result check (
    (status in ('completed', 'failed', 'uncertain')) = (result is not null and is_error is not null and completed_at is not null)),
  constraint only_completed_calls_succeed check (is_error is null or is_error = (status <> 'completed'))
) with (fillfactor = 85);

create unique index turns_external_id on turns (external_id) where external_id is not null;
create unique index messages_external_id on messages (external_id) where external_id is not null;
create unique index tool_calls_external_id on tool_calls (external_id) where external_id is not null;
create index messages_nudges on messages (turn_id) where metadata ->> 'kind' = 'nudge';
create index messages_shown on messages using gin ((context -> 'shown') jsonb_path_ops) where context ? 'shown';
create index tool_calls_artifact on tool_calls (artifact_hash) where artifact_hash is not null;
create index tool_calls_work_item on tool_calls (work_item_id, provider_id);
-- Only messages that another program saved: any other call's message belongs to its own turn (view message_files).
create index tool_calls_message on tool_calls (message_id) where external_id is not null;
-- Not by status: when a call begins, no indexed column changes, so that its row stays within its page (HOT).
create index tool_calls_uncertain on tool_calls (work_item_id, created_at desc) where is_error;
create index tool_calls_open on tool_calls (turn_id) where completed_at is null;
create index tool_calls_in_flight on tool_calls (created_at) where external_id is not null and completed_at is null;
create index tool_calls_created on tool_calls (work_item_id, created_at);
-- The calls that wait for an item; see _awaited_by(). wait_ends_at changes only if a call waits.
create index tool_calls_awaited on tool_calls using gin ((lower((input -> 'work_item_ids')::text)::jsonb))
  where tool_name in ('await_child_work', 'wait_for') and wait_ends_at is not null and completed_at is null;
create index tool_calls_claim_awaited on tool_calls (lower(regexp_replace(input ->> 'claim', '^(file:)?(.*/)?', '')))
  where tool_name = 'wait_for' and wait_ends_at is not null and completed_at is null;
create index tool_calls_completed on tool_calls (work_item_id, completed_at);

comment on table turn_configs is 'Everything in a request except its messages (model, limits, system prompt, tools), one row for each distinct content.';
comment on column turn_configs.content_hash is 'SHA-256 of config.';
comment on column turn_configs.config is 'Everything of a request but its messages, as it is sent.';
comment on column turn_configs.cache_ttl is 'How long the provider keeps what the request leaves in its cache: 5m or 1h.';
comment on column turn_configs.tools_hash is 'Tells whether two requests have the same tools.';
comment on column turn_configs.system_hash is 'Tells whether two requests have the same system prompt; tools_hash: the same tools. A provider''s cache serves the beginning of a request that is the same.';
comment on table turns is 'One row for each model call: what was asked (config_hash, elision_id and the chain of parents), what came back, what it cost. Never deleted.';
comment on column turns.parent_turn_id is 'The turn that this one continues; null: it begins a conversation.';
comment on column turns.depth is 'Turns above it in its conversation; 0: it begins one.';
comment on column turns.turn_type is 'normal, or compaction: it asks for a summary of what leaves the context.';
comment on column turns.iteration is 'The iteration of the focus, from 1.';
comment on column turns.config_hash is 'Model, limits, system prompt and tools of the request: see turn_configs.';
comment on column turns.model is 'The model that answered, as the provider names it.';
comment on column turns.stop_reason is 'The provider''s: end_turn, tool_use, max_tokens ...';
comment on column turns.response_id is 'The provider''s id of the response.';
comment on column turns.request_id is 'The provider''s id of the request, for questions to its support.';
comment on column turns.output_tokens is 'As the provider counts them, reasoning included.';
comment on column turns.cached_input_tokens is 'Input tokens read from the provider''s cache.';
comment on column turns.cache_write_tokens is 'Input tokens written to the provider''s cache.';
comment on column turns.reasoning_tokens is 'Output tokens that were thinking, where the provider says so; else null.';
comment on column turns.total_tokens is 'The sum of the four: input, output, cached input and cache write.';
comment on column turns.reserved_money is 'Money reserved like reserved_tokens; null: the model has no prices.';
comment on column turns.external_id is 'The caller''s own identifier, unique in this ledger.';
comment on column turns.status is 'pending: the model is being asked, or will be. streaming: the same, and the response is arriving while someone watches, see work_activity().';
comment on column turns.block is 'The block that was open when this turn was asked. A step recorded beside other calls starts the next block with its own exchange.';
comment on column turns.elision_id is 'The cut in force: what the turn''s request leaves out; null: nothing. No foreign key: elisions reference turns already, and keys must not form a cycle (see 050_foci.sql).';
comment on column turns.fork_turn_id is 'The newest ancestor that belongs to another work item, from which this conversation was forked; null: there is none.';
comment on column turns.call_count is 'Requests made to the model for this turn; more than one if a request failed or its worker died.';
comment on column turns.error is 'The newest failure of the model call, even if a later request was answered; of a refusal, the provider''s explanation. Null: there was none.';
comment on column turns.provider is 'Who answered: anthropic, another provider that the runtime names, or the format of the recorded run from which the turn was imported. replay: a recorded run answered, and the token counts are those of its own requests.';
comment on column turns.role is 'The role of the agent that answered, from its faculty: manager, worker or unified.';
comment on column turns.duration_ms is 'From sending the request that was answered to the end of the response; null for an imported turn.';
comment on column turns.first_token_ms is 'From sending that request to the first text, thinking or tool input of the response; null if none came.';
comment on column turns.workspace_path is 'The directory of the machine in which the agent worked: of a faculty with workspace = "host", or of a recorded run; else null.';
comment on column turns.archived_at is 'Since when the turn is kept for the record only; see turn_archive().';
comment on column turns.input_tokens is 'Input tokens neither read from nor written to the cache, as the provider counts them.';
comment on column turns.chain_tokens is 'total_tokens of this turn and all its ancestors.';
comment on column turns.reserved_tokens is 'Tokens reserved in the budgets of the item and its ancestors while the model is asked: the estimated input and the most output that it may write.';
comment on column turns.reserved_input_tokens is 'Of reserved_tokens, the estimated input: what a request costs that is never answered.';
comment on column turns.reserved_on is 'The day, of UTC, in which the request was reserved: budgets by day are charged for it in that one. Null: it is reserved nowhere.';
comment on table turn_workspaces is 'The state of the files at a turn: a reference by which to find them again, such as a git commit or a snapshot. Written by turn_workspace_set().';
comment on column turn_workspaces.ref is 'By which the files are found again: a commit, a snapshot.';
comment on table messages is 'What was said, as the provider''s content blocks, stored exactly and never changed. Tool results are in tool_calls, not here.';
comment on column messages.sequence is 'Order within the turn. In a turn that the engine made: 1 the task, or what the engine says; from 101 the inbox; 790 what was taken back; 800 what is new elsewhere; 850 a hook''s words; 890 that the agent goes in circles; 900 a reminder; 1000 the response.';
comment on column messages.role is 'user or assistant.';
comment on column messages.content is 'The provider''s content blocks, exactly as they were.';
comment on column messages.erased_hash is 'Of an erased message: the salted hash of content, sent_content, context and metadata, see _message_hash().';
comment on column tool_calls.erased_hash is 'Of an erased call: the salted hash of input, rewritten_input, result, value and artifact_hash, see _call_hash().';
comment on column turns.erased_hash is 'Of an erased turn: the salted hash of error and workspace_path, see _turn_hash().';
comment on column messages.metadata is 'What a recorded run says about the message beyond its content.';
comment on column messages.sent_content is 'What requests send in place of content, where the API would refuse content: blank text left out, calls under their provider_id and a name that can stand, a thinking block at the end closed. Null: content is sent. See _response_store().';
comment on column messages.external_id is 'The caller''s own identifier, unique in this ledger; the same in turns and tool_calls.';
comment on column messages.source is 'Who speaks in a user message. Of a task: the source of its work item (work_items.source). engine: Work Ledger itself.';
comment on column messages.context is 'What was added to a user message, and where it came from: {work_item}: a task, a child''s result; {attempts}: what earlier attempts recorded; {shown}: ledger entries of others, [work item, seq, path]; {hook_runs}: output of commands; {inbox}: inbox rows. Null: nothing was added.';
comment on table tool_calls is 'One row for each tool call: its arguments, what a crash does to it (effect) and its result, which is written once.';
comment on column tool_calls.parent_call_id is 'The call of execute_code whose code made this call; null: the model made it.';
comment on column tool_calls.input is 'The arguments as the model gave them.';
comment on column tool_calls.effect is 'pure, idempotent or unsafe when the call was made; see abilities.effect.';
comment on column tool_calls.attempts is 'How often it was started: more than once after a crash.';
comment on column tool_calls.external_id is 'The caller''s own identifier, unique in this ledger.';
comment on column tool_calls.wait_ends_at is 'When the wait of a waiting call times out.';
comment on column tool_calls.end_message_id is 'The message that announced the end of the call, if a caller names one.';
comment on column tool_calls.ordinal is 'Position among the calls of the turn, from 0.';
comment on column tool_calls.provider_id is 'Id of the call in requests; among calls made by the model, unique in its conversation.';
comment on column tool_calls.given_id is 'The provider''s own id, if a request cannot hold it (characters, length, already used in the conversation); null: it is provider_id.';
comment on column tool_calls.status is 'waiting: for children or for approval, at most until wait_ends_at. uncertain: the worker died while the call ran, and it may or may not have happened.';
comment on column tool_calls.rewritten_input is 'The input as a before_tool hook rewrote it: the tool ran with this.';
comment on column tool_calls.result is 'Content of the tool_result block, as the model sees it: a string, or text and image blocks.';
comment on column tool_calls.spawned_work_item_id is 'The child that the call submitted; the first of several. Each child names the call in work_items.spawn_tool_call_id.';
comment on column tool_calls.value is 'Of a call made from code: the value returned to the code, if it is more than the text of the result.';
comment on column tool_calls.artifact_hash is 'The artifact with the whole output, if the result shows only its head and its tail.';
comment on column tool_calls.code_run is 'Of execute_code: {verdict (ok, error, timeout, memory, output, killed, aborted, infrastructure), calls, bytes_seen, bytes_returned, duration_ms, timeout_seconds}.';
comment on column tool_calls.warning is 'Of an open call: what its result will begin with, see claims. Null: nothing.';
comment on column tool_calls.is_truncated is 'True: the output was over 32 MiB, and its middle is lost.';
