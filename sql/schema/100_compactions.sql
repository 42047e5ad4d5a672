-- Compactions: cuts made when the context is full or on request, and what each of them cost and freed.

create table compactions (
  turn_id uuid primary key references turns (id),
  work_item_id uuid not null,
  focus_id uuid references foci (id),
  iteration integer,
  compaction_type text not null,
  trigger text not null,
  is_applied boolean,
  instructions text,
  base_elision_id uuid references elisions (id),
  elision_id uuid references elisions (id),
  summarized_through_turn_id uuid references turns (id),
  first_kept_turn_id uuid references turns (id),
  turns_summarized integer not null,
  max_transcript_chars integer,
  ledger_entries_used integer not null default 0,
  messages_before integer,
  messages_after integer,
  tokens_before integer not null,
  tokens_after integer,
  summary_tokens integer,
  model text,
  provider text,
  summarization_input_tokens integer,
  summarization_output_tokens integer,
  duration_ms integer,
  metadata jsonb not null default '{}',
  error jsonb,
  created_at timestamptz not null default _now(),
  constraint compaction_type_is_known check (compaction_type in ('ledger', 'summary', 'sliding_window', 'selective', 'floor')),
  constraint trigger_is_known check (trigger in ('context_limit', 'context_overflow', 'manual', 'periodic')),
  constraint applied_compactions_have_their_cut check ((elision_id is not null) = coalesce(is_applied, false)),
  constraint only_summaries_wait check (is_applied is not null or compaction_type = 'summary')
);

create index compactions_iteration on compactions (focus_id, iteration);
create index compactions_work_item on compactions (work_item_id, created_at);

comment on table compactions is 'One row for each compaction turn: what replaced old turns, why, and what it cost and freed. The replacement itself is in elisions; v_compactions shows both.';
comment on column compactions.instructions is 'What a person or client asked the summary to look at.';
comment on column compactions.elision_id is 'The cut that it made; null: none.';
comment on column compactions.summarized_through_turn_id is 'The newest turn that the replacement stands for.';
comment on column compactions.first_kept_turn_id is 'The oldest turn that requests still show; null: none.';
comment on column compactions.turns_summarized is 'How many turns left the context.';
comment on column compactions.ledger_entries_used is 'How many ledger entries the replacement holds.';
comment on column compactions.messages_before is 'Messages in the request without this cut.';
comment on column compactions.messages_after is 'Messages in the request with it.';
comment on column compactions.summary_tokens is 'Tokens of the summary that a model wrote; null: none wrote one.';
comment on column compactions.model is 'The model that wrote the summary; null: none did.';
comment on column compactions.provider is 'Who answered for that model.';
comment on column compactions.summarization_input_tokens is 'What writing the summary cost in input tokens.';
comment on column compactions.summarization_output_tokens is 'What writing the summary cost in output tokens.';
comment on column compactions.duration_ms is 'How long making it took, the summary included.';
comment on column compactions.error is 'What went wrong, with its message; null: nothing did.';
comment on column compactions.compaction_type is 'What replaces old turns. ledger: the formatted ledger. summary: a model''s summary. sliding_window: nothing. selective: the turns stay, but results of pure calls are shortened. floor: all but the task, the ledger and the last exchange is left out, because nothing else fitted.';
comment on column compactions.trigger is 'context_limit: the faculty''s compact_threshold was reached. context_overflow: the model refused the request, or stopped, because of its size. manual: context_compact(). periodic: the faculty''s compact_every.';
comment on column compactions.iteration is 'The iteration of the focus for whose request it was made; null in an imported session.';
comment on column compactions.is_applied is 'Null: the summary is being written. False: it failed or freed too little, and another cut was made.';
comment on column compactions.metadata is 'Parameters of the strategy: keep_recent (messages); every (iterations), if periodic; effect, max_result_chars and results (how many were shortened), if selective.';
comment on column compactions.base_elision_id is 'The cut in force before this one.';
comment on column compactions.max_transcript_chars is 'Limit on the characters of the transcript given to the summarizing model.';
comment on column compactions.tokens_before is 'Tokens of the next request without this cut: the last reported usage plus an estimate of what came since.';
comment on column compactions.tokens_after is 'Estimated tokens of the request with this cut.';
