-- Tokens and windows of models. No tokenizer: what the provider reports is the truth, and between two reports a
-- coefficient that learns from them.

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
  'What is known of a model by its name: its window, and tokens per character: 0.43 for Claude 5, 0.34 for Claude 4, 0.29 for Gemini, 0.25 for others (measured over 72,000 pairs of calls; characters / 4 is wrong by up to 40 % for Claude).';

create or replace function model_save(p_name text, p_context_window integer default null)
  returns models
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model models;
begin
  if coalesce(p_name, '') !~ '\S' then
    perform _raise_invalid('a model needs a name');
  end if;
  if p_context_window < 1000 then
    perform _raise_invalid(format('a context window holds at least 1,000 tokens, not %s', p_context_window));
  end if;
  insert into models (name, context_window, sample_chars, sample_tokens)
  select p_name, coalesce(p_context_window, f.context_window), 20000, 20000 * f.tokens_per_char from _family(p_name) f
  on conflict (name) do update
     set context_window = coalesce(p_context_window, models.context_window), updated_at = _now()
  returning * into v_model;
  return v_model;
end
$$;

comment on function model_save(text, integer) is
  'Stores a model and, where given, how many tokens its context window has: select model_save(''claude-sonnet-5-5'', 1000000). Models come in by themselves when they are used. Raises WL002.';

create or replace function _tokens(p_chars bigint, p_model text)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select ceil(p_chars * coalesce((select tokens_per_char from models where name = p_model), (_family(p_model)).tokens_per_char))::integer;
$$;

comment on function _tokens(bigint, text) is 'Estimated tokens of so many characters, by what was learned of the model.';

create or replace function _content_chars(p_content json)
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case json_typeof(p_content)
           when 'array' then (
             select coalesce(sum(case b ->> 'type' when 'image' then 4700 else char_length(b::text) + 1 end), 0)::integer
               from json_array_elements(p_content) b)
           else char_length(p_content::text)
         end;
$$;

comment on function _content_chars(json) is 'Characters of content as a request has it; an image counts as 4,700, whose tokens (about 1,600) do not depend on its bytes.';

create or replace function _input_total(p_turn turns)
  returns integer
  language sql
  immutable
  parallel safe
  return coalesce(p_turn.input_tokens, 0) + coalesce(p_turn.cached_input_tokens, 0) + coalesce(p_turn.cache_write_tokens, 0);

comment on function _input_total(turns) is 'All input tokens of a turn''s request as the provider counted them; 0: it did not.';

create or replace function _calibrate(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parent turns;
  v_chars integer;
  v_tokens integer;
begin
  select * into v_parent from turns where id = p_turn.parent_turn_id;
  -- What was added between two requests of which one begins with the other: the response, counted by the provider, and
  -- the results, which are measured.
  if p_turn.model is null or _input_total(p_turn) = 0 or _input_total(v_parent) = 0 or v_parent.model is distinct from p_turn.model
    or v_parent.turn_type <> 'normal' or v_parent.elision_id is distinct from p_turn.elision_id
    or v_parent.config_hash is distinct from p_turn.config_hash then
    return;
  end if;
  v_chars := _results_chars(v_parent.id) + char_length(_query_blocks(p_turn.id));
  v_tokens := _input_total(p_turn) - _input_total(v_parent) - coalesce(v_parent.output_tokens, 0);
  if v_chars < 1000 or v_tokens::double precision / v_chars not between 0.1 and 1.2 then
    return; -- too short to measure, or no plausible count
  end if;
  perform model_save(p_turn.model) where not exists (select from models where name = p_turn.model);
  perform from models where name = p_turn.model for update skip locked; -- somebody else measures just now: this sample is left out
  if found then
    update models
       set sample_chars = case when sample_chars > 1000000 then sample_chars / 2 else sample_chars end + v_chars,
           sample_tokens = case when sample_chars > 1000000 then sample_tokens / 2 else sample_tokens end + v_tokens,
           sample_count = sample_count + 1,
           updated_at = _now()
     where name = p_turn.model;
  end if;
end
$$;

comment on function _calibrate(turns) is 'Learns from the usage that came with a turn''s response how many tokens a character has.';
