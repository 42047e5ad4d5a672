-- Journal entries that are stored nowhere else, and checkpoints, which are derived from the whole journal. The rest of the journal is a view over
-- ledger, turns and tool calls (api/95_views/journal_views.sql).

create table journal_entries (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null references work_items (id),
  entry_type text not null,
  content jsonb,
  importance text not null default 'normal',
  created_at timestamptz not null default _now(),
  deleted_at timestamptz,
  delete_reason text,
  constraint entry_type_is_known check (entry_type in (
    'session_start', 'thinking', 'tool_request', 'tool_approved', 'tool_rejected', 'tool_result', 'code_generated', 'file_read',
    'file_written', 'decision', 'error', 'recovery', 'checkpoint', 'user_feedback', 'summary', 'session_end')),
  constraint importance_is_known check (importance in ('low', 'normal', 'high', 'critical')),
  constraint content_is_an_object check (jsonb_typeof(content) = 'object'),
  constraint content_is_at_most_64_kib check (octet_length(content::text) <= 65536),
  constraint deleted_entries_are_empty check ((content is null) = (deleted_at is not null))
);

create index journal_entries_work_item on journal_entries (work_item_id, created_at, id);
create index journal_entries_written on journal_entries (md5(content ->> 'filePath'), created_at) where entry_type = 'file_written';

create table work_checkpoints (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null references work_items (id),
  trigger text not null,
  turn_id uuid references turns (id),
  ledger_seq integer not null,
  entry_count integer not null,
  token_estimate bigint not null,
  summary text not null,
  completed_tasks jsonb not null,
  key_decisions jsonb not null,
  current_state text not null,
  files_modified jsonb not null,
  pending_actions jsonb not null,
  created_at timestamptz not null default _now(),
  constraint trigger_is_known check (trigger in ('manual', 'automatic', 'block', 'entries', 'tokens', 'time')),
  constraint lists_are_lists check (jsonb_typeof(completed_tasks) = 'array' and jsonb_typeof(key_decisions) = 'array' and jsonb_typeof(files_modified) = 'array' and jsonb_typeof(pending_actions) = 'array')
);

create index work_checkpoints_work_item on work_checkpoints (work_item_id, created_at desc, id desc);
create index work_items_conversation on work_items ((params ->> 'conversationId'), created_at desc) where params ? 'conversationId';

create table message_lints (
  id uuid primary key default _uuidv7(),
  message_id uuid not null references messages (id),
  file_path text,
  message text not null,
  lint_source text,
  start_line integer,
  start_col integer,
  end_line integer,
  end_col integer,
  severity text not null default 'warning',
  constraint severity_is_known check (severity in ('error', 'warning', 'info'))
);

create index message_lints_message on message_lints (message_id);

create table session_records (
  session_label text not null references sessions (label),
  line integer not null,
  ordinal integer not null,
  reason text not null,
  content text not null,
  primary key (session_label, line, ordinal)
);

comment on table journal_entries is 'Entries logged by journal_log(). Append-only, except that an entry can be deleted, which leaves an empty one.';
comment on column journal_entries.entry_type is 'One of the types that work_journal lists.';
comment on column journal_entries.content is 'A JSON object; null: the entry was deleted.';
comment on column journal_entries.importance is 'low, normal, high or critical; journal_cleanup() deletes by it.';
comment on column journal_entries.delete_reason is 'Why it was deleted; null: it was not.';
comment on table work_checkpoints is 'Where a work item stood at a moment, derived from its ledger and calls. Made by checkpoint_create(), or automatically after 50 journal entries, 100,000 tokens, 15 minutes or a closed block.';
comment on column work_checkpoints.summary is 'Where the work stood, in a few sentences.';
comment on column work_checkpoints.key_decisions is 'The decisions so far, newest last.';
comment on column work_checkpoints.current_state is 'What was under way, in one line.';
comment on column work_checkpoints.files_modified is 'Paths that the work has changed.';
comment on column work_checkpoints.pending_actions is 'What had been begun and not ended.';
comment on column work_checkpoints.trigger is 'manual: someone asked for it. automatic: a program made it unasked. The others name the limit that was reached, see checkpoint_create().';
comment on column work_checkpoints.entry_count is 'Journal entries up to that moment.';
comment on column work_checkpoints.token_estimate is 'Estimated tokens of those entries.';
comment on column work_checkpoints.completed_tasks is 'The newest 20 steps of the item, oldest first, one line each.';
comment on column work_checkpoints.ledger_seq is 'The newest ledger entry that the checkpoint covers.';
comment on column work_checkpoints.turn_id is 'The newest turn that the checkpoint covers.';
comment on table message_lints is 'Findings of linters at the time of a message.';
comment on column message_lints.message is 'What the linter says.';
comment on column message_lints.end_line is 'From 1; null: it names no end.';
comment on column message_lints.end_col is 'From 1; null: it names no end.';
comment on column message_lints.lint_source is 'The linter.';
comment on column message_lints.start_line is 'From 1.';
comment on column message_lints.start_col is 'From 1.';
comment on column message_lints.severity is 'error, warning or info.';
comment on table session_records is 'What the file of an imported session holds beyond the turns read from it, as it is in the file: records of unrecognised kinds, images, lines that are not JSON.';
comment on column session_records.ordinal is 'Position among the records of the line, from 0.';
comment on column session_records.reason is 'Why it is here and not in a turn.';
comment on column session_records.content is 'The record, as text.';
comment on column session_records.line is 'Line of the file, from 1; in a Cursor database, the number of the bubble.';
