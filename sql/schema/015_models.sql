-- Models: the context window, tokens per character and prices of each.

create table models (
  name text primary key,
  context_window integer not null,
  sample_chars double precision not null,
  sample_tokens double precision not null,
  sample_count integer not null default 0,
  tokens_per_char double precision generated always as (sample_tokens / sample_chars) stored,
  input_price numeric,
  output_price numeric,
  cache_read_price numeric,
  cache_write_price numeric,
  cache_write numeric not null default 1.25,
  cooldown_ends_at timestamptz,
  cooldown_reason text,
  updated_at timestamptz not null default _now(),
  takes jsonb,
  cache_write_1h numeric not null default 2,
  constraint context_window_is_at_least_1000 check (context_window >= 1000),
  constraint prices_come_together check (num_nulls(input_price, output_price, cache_read_price, cache_write_price) in (0, 4)),
  constraint prices_are_not_negative check (least(input_price, output_price, cache_read_price, cache_write_price) >= 0),
  constraint cache_write_is_a_multiple check (cache_write between 0 and 100),
  constraint cache_write_1h_is_a_multiple check (cache_write_1h between 0 and 100),
  constraint takes_is_an_object check (jsonb_typeof(takes) = 'object'),
  constraint samples_are_positive check (sample_chars > 0 and sample_tokens > 0)
) with (fillfactor = 50);

comment on table models is 'Models in use: context window, tokens per character, prices. Starts with the figures of the model''s family and learns from the usage that the provider reports; model_save() sets the window and the cost of writing to the cache.';
comment on column models.name is 'As in a faculty''s engage.model.';
comment on column models.tokens_per_char is 'sample_tokens / sample_chars.';
comment on column models.output_price is 'Price of a million output tokens.';
comment on column models.cache_read_price is 'Price of a million input tokens read from the provider''s cache.';
comment on column models.cache_write_price is 'Price of a million input tokens written to the provider''s cache.';
comment on column models.cooldown_reason is 'What the provider said; null: no worker waits.';
comment on column models.context_window is 'Tokens that a request and its response may have together.';
comment on column models.sample_chars is 'Characters of tool results measured so far, older ones counting less. Starts at 20,000, with the figure of the model''s family.';
comment on column models.sample_tokens is 'Tokens that the provider counted for them.';
comment on column models.sample_count is 'Requests measured.';
comment on column models.input_price is 'Price of a million input tokens; all prices are in one currency of your choice. Null: not known. Set by model_price_save().';
comment on column models.cache_write is 'Cost of a token written to the provider''s cache, in input tokens: 1.25. Set by model_save(), and by model_price_save() when it is given both prices.';
comment on column models.cache_write_1h is 'The same where the faculty''s cache_ttl is 1h: 2.';
comment on column models.cooldown_ends_at is 'No worker calls the model before this time: its provider reported a rate limit.';
comment on column models.takes is 'What the model takes where that is not what its name tells, see model_save(); null: nothing.';
