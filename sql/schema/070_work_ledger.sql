-- The ledger: append-only, typed, numbered 1..n without gaps for each work item.
-- There is no foreign key to work_items: ledger_append() updates the item's fence in the same transaction, which proves that it exists, and the key would
-- cost a fifth of the append rate. Trigger complete_entry (api/45_ledger/complete_entry.sql) replaces CHECK constraints, which are prepared again for each
-- statement and cost a quarter of an append. Work items cannot be deleted (api/00_ground/append_only.sql).

create table work_ledger (
  work_item_id uuid not null,
  seq integer not null,
  id uuid not null default _uuidv7(),
  entry_type ledger_entry_type not null,
  content text not null,
  data jsonb,
  keep text[],
  retracts integer,
  trust text,
  attempt integer not null default 0,
  focus_id uuid,
  turn_id uuid,
  tool_call_id uuid,
  is_auto boolean not null default false,
  is_child_work boolean not null default false,
  is_inherited boolean not null default false,
  idempotency_key text,
  erased_hash bytea,
  created_at timestamptz not null default _now(),
  link bytea default '',
  project text,
  primary key (work_item_id, seq)
);

create table ledger_data_schemas (
  entry_type ledger_entry_type primary key,
  schema json not null,
  updated_at timestamptz not null default _now(),
  constraint schema_is_an_object check (json_typeof(schema) = 'object')
);

create unique index work_ledger_idempotency_key on work_ledger (work_item_id, idempotency_key) where idempotency_key is not null;
create unique index work_ledger_retracted on work_ledger (work_item_id, retracts) where retracts is not null;
create index work_ledger_retractions on work_ledger (created_at) where retracts is not null;
create index work_ledger_created on work_ledger (work_item_id, created_at);
create index work_ledger_findings on work_ledger (created_at desc) where entry_type = 'finding';
create index work_ledger_errors on work_ledger (created_at desc) where entry_type = 'error';
create index work_ledger_decisions on work_ledger (created_at desc) where entry_type = 'decision';
create index work_ledger_told on work_ledger (coalesce(project, ''), is_child_work, entry_type, created_at desc)
  where entry_type in ('decision', 'finding', 'error') and not is_inherited;
create index work_ledger_news on work_ledger (coalesce(project, ''), created_at, work_item_id)
  where entry_type in ('plan', 'decision', 'finding', 'error') and not is_inherited;
create index work_ledger_steps on work_ledger (turn_id) where entry_type = 'step';
create index work_ledger_plans on work_ledger (work_item_id, seq desc) where entry_type = 'plan';

comment on table work_ledger is
  'What matters about each work item, in order: plans, findings, decisions, completed steps, errors, notes. Append-only; written by ledger_append().';
comment on column work_ledger.entry_type is 'plan, finding, decision, step, error or note; retraction: it takes back an earlier entry, see ledger_retract().';
comment on column work_ledger.retracts is 'Of a retraction: the entry that it takes back; content says why.';
comment on column work_ledger.trust is 'The least trusted of what fed the block in which a model wrote the entry: user (only its task and what people said), own_test (output of its commands), file, other_agent, web (anything from outside); see abilities.source. other_agent: an agent with a loop of its own wrote it. Null: a person or a program did.';
comment on column work_ledger.content is 'The entry, as agents read it.';
comment on column work_ledger.data is 'The caller''s own JSON beside the text; ledger_data_schema_save() may say what fits.';
comment on column work_ledger.focus_id is 'The attempt that wrote it; null: no agent of ours did.';
comment on column work_ledger.turn_id is 'The turn that wrote it; null: no model did.';
comment on column work_ledger.tool_call_id is 'The call that wrote it; null: no call did.';
comment on column work_ledger.idempotency_key is 'A second append with the same key returns this entry.';
comment on column work_ledger.erased_hash is 'Of an erased entry: the salted hash of content, data and keep, see _entry_hash().';
comment on column work_ledger.link is 'SHA-256 of the entry before it and of this one, see _entry_link(): the chain that ledger_verify() walks. Null: the item has no chain. (ledger_append() or trigger complete_entry makes it; a row that is restored brings its own.)';
comment on column work_ledger.project is 'As in work_items: a digest finds the entries of its project by index.';
comment on column work_ledger.seq is '1, 2, 3, ... within the work item, without gaps, in the order of commit.';
comment on column work_ledger.id is 'For references from outside; to look up an entry, use (work_item_id, seq).';
comment on column work_ledger.attempt is 'The attempt that wrote the entry; 0: written before the first attempt started.';
comment on column work_ledger.keep is 'Of a step: paths, parts of files (path:80-140, path#symbol), URLs and artifact handles whose newest content stays verbatim in the context when the step''s block leaves it, most needed first.';
comment on column work_ledger.is_auto is 'Drafted by the engine, not by the agent.';
comment on column work_ledger.is_inherited is 'True: copied by work_fork() from the item that was forked.';
comment on column work_ledger.is_child_work is 'True: the work item has a parent. A digest without child work finds the other entries by index.';
comment on table ledger_data_schemas is 'JSON Schemas for the data of ledger entries, at most one for each entry type. Written by ledger_data_schema_save().';
comment on column ledger_data_schemas.entry_type is 'The type of entry whose data is checked.';
comment on column ledger_data_schemas.schema is 'JSON Schema that the data of new entries of the type must fit.';
