-- The usage of each work item so far, updated when a turn is answered, so that no view has to read all turns of an item.

create table work_usage (
  work_item_id uuid not null,
  model text not null,
  model_calls bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  hour_write_tokens bigint not null default 0,
  primary key (work_item_id, model)
) with (fillfactor = 50);

create index work_items_under_way on work_items (root_id)
  where resolved_at is null and (state in ('claimed', 'running', 'waiting', 'paused') or (state = 'queued' and focus_id is not null));
create index work_ledger_newest_step on work_ledger (work_item_id, seq desc) where entry_type = 'step';

comment on table work_usage is 'Tokens that the turns of a work item have used, by the model that was asked. The prices are those of today when it is read. Written with each turn that is answered or imported.';
comment on column work_usage.output_tokens is 'As the provider counts them, reasoning included.';
comment on column work_usage.model is 'The model that was asked.';
comment on column work_usage.input_tokens is 'Neither read from the provider''s cache nor written to it.';
comment on column work_usage.cached_input_tokens is 'Read from the provider''s cache.';
comment on column work_usage.cache_write_tokens is 'Written to the provider''s cache.';
comment on column work_usage.hour_write_tokens is 'Of these, those written for an hour (cache_ttl).';
comment on column work_usage.model_calls is 'Turns that were answered, summaries included.';
