-- Context windows, token estimates and prices of models. There is no tokenizer: the provider's counts are the truth, and between two counts tokens are
-- estimated by a ratio learned from them.

create or replace function model_save(
    p_name text,
    p_context_window integer default null,
    p_cache_write numeric default null,
    p_cache_write_1h numeric default null,
    p_takes jsonb default null)
  returns models
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model models;
  v_multiple numeric;
begin
  if coalesce(p_name, '') !~ '\S' then
    perform _raise_invalid('a model needs a name');
  end if;
  perform _check_key('the name of a model', p_name);
  if p_context_window < 1000 then
    perform _raise_invalid(format('a context window must be at least 1,000 tokens, not %s', p_context_window));
  end if;
  foreach v_multiple in array array[p_cache_write, p_cache_write_1h] loop
    if v_multiple not between 0 and 100 or v_multiple = 'NaN' then
      perform _raise_invalid(
        format('the cost of writing to a cache must be a multiple of the input price from 0 to 100, such as 1.25 or 2.0, not %s', v_multiple));
    end if;
  end loop;
  perform _check_takes(p_takes);
  insert into models (name, context_window, sample_chars, sample_tokens, cache_write, cache_write_1h, takes)
  select p_name, coalesce(p_context_window, f.context_window), 20000, 20000 * f.tokens_per_char, coalesce(p_cache_write, 1.25), coalesce(p_cache_write_1h, 2),
         nullif(p_takes, '{}')
    from _family(p_name) f
  on conflict (name) do update
     set context_window = coalesce(p_context_window, models.context_window), cache_write = coalesce(p_cache_write, models.cache_write),
         cache_write_1h = coalesce(p_cache_write_1h, models.cache_write_1h),
         takes = case when p_takes is null then models.takes else excluded.takes end,
         cache_write_price = coalesce(p_cache_write * models.input_price, models.cache_write_price), updated_at = _now()
  returning * into v_model;
  return v_model;
end
$$;

comment on function model_save(text, integer, numeric, numeric, jsonb) is
  'Stores what is known of a model and returns its row: select model_save(''claude-sonnet-5-5'', 1000000). p_context_window: in tokens. p_cache_write, p_cache_write_1h: the cost of writing to its prompt cache for five minutes and for an hour (a faculty''s cache_ttl), as a multiple of the input price (1.25 and 2). p_takes: what it takes, where that is not what its name tells; faculties are held against it when they are saved, and what is not known is not checked: {"thinking": ["off", "adaptive", "budget"], "thinking_off": "disabled" or "between_tools" (how off is said to it), "effort": ["low", "medium", "high", "xhigh", "max"], "effort_off": the same while thinking is off, "sampling": "none", "one" (temperature or top_p) or "both", "tool_choice": ["auto", "any", "none", "tool"], "cache_ttl": ["5m", "1h"], "service_tier": ["auto", "standard_only"], "binds_thinking": true if it refuses thinking when anything before it has changed}; {} takes back what was saved. Null leaves a value as it is. Models are added automatically when they are first used. Raises WL002.';

create or replace function _check_takes(p_takes jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_lists constant jsonb := '{"thinking": ["off", "adaptive", "budget"], "effort": ["low", "medium", "high", "xhigh", "max"],
    "effort_off": ["low", "medium", "high", "xhigh", "max"], "tool_choice": ["auto", "any", "none", "tool"], "cache_ttl": ["5m", "1h"],
    "service_tier": ["auto", "standard_only"]}';
  v_words constant jsonb := '{"thinking_off": ["disabled", "between_tools"], "sampling": ["none", "one", "both"], "binds_thinking": [true, false]}';
  v_given record;
begin
  if p_takes is null then
    return;
  elsif jsonb_typeof(p_takes) <> 'object' then
    perform _raise_invalid('p_takes must be an object');
  end if;
  for v_given in select * from jsonb_each(p_takes) loop
    if not (v_lists || v_words) ? v_given.key then
      perform _raise_invalid(format('p_takes has an unknown key "%s"', _one_line(v_given.key, 60)),
        'One of: ' || (select string_agg(k, ', ') from jsonb_object_keys(v_lists || v_words) k) || '.');
    elsif v_lists ? v_given.key and (jsonb_typeof(v_given.value) <> 'array' or not v_lists -> v_given.key @> v_given.value)
      or v_words ? v_given.key and (jsonb_typeof(v_given.value) = 'array' or not v_words -> v_given.key @> v_given.value) then
      perform _raise_invalid(format('p_takes.%s must be %s %s', v_given.key, case when v_lists ? v_given.key then 'a list of' else 'one of' end,
        coalesce(v_lists -> v_given.key, v_words -> v_given.key)));
    end if;
  end loop;
end
$$;

comment on function _check_takes(jsonb) is 'Raises WL002 for what model_save() does not accept as p_takes.';

create or replace function model_price_save(
    p_name text,
    p_input numeric,
    p_output numeric,
    p_cache_read numeric default null,
    p_cache_write numeric default null)
  returns models
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model models;
begin
  if p_input is null or p_output is null or least(p_input, p_output, p_cache_read, p_cache_write) < 0
    or greatest(p_input, p_output, p_cache_read, p_cache_write) >= 'Infinity' then
    perform _raise_invalid('a model needs a price per million input tokens and one per million output tokens, none of them negative or infinite');
  end if;
  perform model_save(p_name);
  update models
     set input_price = p_input, output_price = p_output, cache_read_price = coalesce(p_cache_read, 0.1 * p_input),
         cache_write_price = coalesce(p_cache_write, cache_write * p_input),
         cache_write = case when p_input > 0 and p_cache_write is not null then least(p_cache_write / p_input, 100) else cache_write end, updated_at = _now()
   where name = p_name
  returning * into v_model;
  return v_model;
end
$$;

comment on function model_price_save(text, numeric, numeric, numeric, numeric) is
  'Sets the prices of a model for a million tokens, in the currency of money budgets, and returns its row: select model_price_save(''claude-sonnet-5-5'', 3, 15). p_cache_read defaults to a tenth of the input price, p_cache_write to the multiple set by model_save() (1.25). Costs of past turns are computed with the new prices, too. Raises WL002.';

create or replace function _family(p_model text, out context_window integer, out tokens_per_char double precision)
  language sql
  immutable
  parallel safe
  return row(
    case when p_model ~* 'gemini' then 1000000 else 200000 end,
    case
      when p_model ~* '(sonnet|opus|fable|mythos|haiku)-5' then 0.43
      when p_model ~* 'claude' then 0.34
      when p_model ~* 'gemini' then 0.29
      else 0.25
    end::double precision);

comment on function _family(text) is
  'First figures for a model, from its name: context window, and tokens per character: 0.43 for Claude 5, 0.34 for Claude 4, 0.29 for Gemini, 0.25 for others (measured over 72,000 pairs of calls; characters / 4 is wrong by up to 40 % for Claude).';

create or replace function _model_takes(p_model text)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(_family_takes(p_model), '{}') || coalesce((select m.takes from models m where m.name = p_model), '{}');
$$;

comment on function _model_takes(text) is 'What a model takes, as far as it is known: what its name tells, and over that models.takes. Keys as in model_save().';

create or replace function _family_takes(p_model text)
  returns jsonb
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_named text[] := coalesce(
    regexp_match(p_model, 'claude-([a-z]+)-(\d{1,2})(?:-(\d{1,2}))?(?!\d)', 'i'),
    (select array[m[3], m[1], m[2]] from regexp_match(p_model, 'claude-(\d)(?:-(\d))?-([a-z]+)', 'i') m)); -- older names, such as claude-3-7-sonnet
  v_line text := lower(v_named[1]);
  v_version numeric := v_named[2]::numeric + coalesce(v_named[3]::numeric, 0) / 100;
  v_is_large boolean := v_line in ('fable', 'mythos');
begin
  if v_version is null then
    return null; -- another provider's, or a version that its name does not show
  end if;
  return jsonb_build_object(
    'thinking', case
      when v_version < 3.07 then '["off"]'::jsonb
      when v_version < 4.06 then '["off", "budget"]'
      when v_version < 4.07 then '["off", "adaptive", "budget"]'
      when v_is_large or v_line = 'opus' and v_version > 5 then '["adaptive"]'
      else '["off", "adaptive"]' end,
    'thinking_off', case when v_line = 'sonnet' and v_version > 5 then 'between_tools' else 'disabled' end,
    'effort', case
      when v_version < 4.05 or v_version < 4.06 and v_line <> 'opus' then '[]'::jsonb
      when v_version < 4.06 then '["low", "medium", "high"]'
      when v_version < 4.07 then '["low", "medium", "high", "max"]'
      else '["low", "medium", "high", "xhigh", "max"]' end,
    -- Without thinking, newer models reject the highest levels.
    'effort_off', case when v_version >= 5 then '["low", "medium", "high"]'::jsonb else '["low", "medium", "high", "xhigh", "max"]' end,
    'sampling', case when v_version < 4.01 then 'both' when v_version < 4.07 then 'one' else 'none' end,
    'cache_ttl', '["5m", "1h"]'::jsonb,
    'binds_thinking', v_is_large and v_version > 5 or v_version >= 5.05);
end
$$;

comment on function _family_takes(text) is 'What a model of Anthropic''s takes, from its name, by the documentation of November 2026; null: its name does not tell. Keys as in model_save().';

create or replace function _context_window_of(p_engage jsonb)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(nullif((p_engage ->> 'context_window')::integer, 0),
                  (select context_window from models where name = p_engage ->> 'model'),
                  (_family(p_engage ->> 'model')).context_window);
$$;

comment on function _context_window_of(jsonb) is 'Context window of a faculty''s model in tokens: the faculty''s engage.context_window, else that of models, else that of the model''s family.';

create or replace function _price(
    p_model text, p_input bigint, p_output bigint, p_cache_read bigint default 0, p_cache_write bigint default 0, p_hour_write bigint default 0)
  returns numeric
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (p_input * input_price + p_output * output_price + p_cache_read * cache_read_price
          + (p_cache_write - p_hour_write) * cache_write_price + p_hour_write * cache_write_1h * input_price) / 1000000
    from models
   where name = p_model;
$$;

comment on function _price(text, bigint, bigint, bigint, bigint, bigint) is 'Cost of these token counts; p_hour_write: of p_cache_write, those written for an hour. Null if the model has no prices.';

create or replace function _relative_prices(p_model text, p_ttl text, out cache_read numeric, out cache_write numeric, out output numeric)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(max(m.cache_read_price / nullif(m.input_price, 0)), 0.1),
         coalesce(max(case p_ttl when '1h' then m.cache_write_1h else m.cache_write end), case p_ttl when '1h' then 2 else 1.25 end),
         coalesce(max(m.output_price / nullif(m.input_price, 0)), 5)
    from models m
   where m.name = p_model;
$$;

comment on function _relative_prices(text, text) is 'Cost of a token read from the cache, of one written to it (p_ttl: for how long) and of an output token, each in input tokens: from the model''s prices and model_save(), else 0.1, 1.25 (2 for 1h) and 5.';

create or replace function _breaks_even_after(p_cut elisions, p_model text)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select least(ceil((p_cut.tokens_kept + p_cut.kept_tokens + p_cut.stub_tokens) * greatest(p.cache_write - p.cache_read, 0)
           / greatest((p_cut.tokens_elided - p_cut.stub_tokens - p_cut.kept_tokens) * p.cache_read, 0.01)), 2147483647)::integer
    from _relative_prices(p_model, _faculty_config(p_cut.focus_id) #>> '{engage,cache_ttl}') p;
$$;

comment on function _breaks_even_after(elisions, text) is
  'After how many requests a cut pays for itself. It costs once: the new stubs, what is kept and what follows are written to the cache again instead of being read from it. It saves with every request: what left is no longer read.';

create or replace function _turn_cost(p_turn turns)
  returns numeric
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _price(
           c.model, coalesce(p_turn.input_tokens, 0), coalesce(p_turn.output_tokens, 0),
           coalesce(p_turn.cached_input_tokens, 0), w.written, case c.cache_ttl when '1h' then w.written else 0 end)
    from turn_configs c
   cross join lateral (select coalesce(p_turn.cache_write_tokens, 0)) w(written)
   where c.content_hash = p_turn.config_hash;
$$;

comment on function _turn_cost(turns) is 'Cost of a turn at today''s prices; null if its model has none.';

create or replace function _tokens(p_chars bigint, p_model text)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select ceil(p_chars * coalesce((select tokens_per_char from models where name = p_model), (_family(p_model)).tokens_per_char))::integer;
$$;

comment on function _tokens(bigint, text) is 'Estimated tokens of p_chars characters, by the ratio learned for the model.';

create or replace function _input_total(p_turn turns)
  returns integer
  language sql
  immutable
  parallel safe
  return coalesce(p_turn.input_tokens, 0) + coalesce(p_turn.cached_input_tokens, 0) + coalesce(p_turn.cache_write_tokens, 0);

comment on function _input_total(turns) is 'All input tokens of a turn''s request, as counted by the provider; 0: it reported none.';
