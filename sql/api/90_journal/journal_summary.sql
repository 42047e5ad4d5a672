-- Summaries of a session: one derived from its records, and one written by a model.

create or replace function journal_summary(p_work_item_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_now record;
begin
  select * into v_item from work_items where id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select * into v_now from _progress_of(v_item, null);
  return concat_ws(E'\n', _one_line(v_item.description, 300),
    format(
      '%s (%s). %s steps, %s decisions, %s errors, %s files written.', initcap(_journal_state(v_item)),
      _state_line(v_item, v_now.steps, v_now.asked), cardinality(v_now.steps), cardinality(v_now.decisions), cardinality(v_now.errors),
      cardinality(v_now.files)),
    (select string_agg('- ' || _one_line(s, 300), E'\n' order by n desc) from unnest(v_now.steps[:10]) with ordinality as x(s, n)),
    'Outcome: ' || _one_line(v_item.outcome_data ->> 'summary', 1000));
end
$$;

comment on function journal_summary(uuid) is 'A summary of a work item for people: a few lines of text made from what it recorded. Raises WL001.';

create or replace function journal_summary_request(p_work_item_id uuid, p_model text default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model text := coalesce(p_model,
    (select c.config #>> '{engage,compact_model}'
       from foci f
       join faculties c on c.content_hash = f.faculty_hash
      where f.work_item_id = p_work_item_id
      order by f.attempt desc
      limit 1),
    _item_model(p_work_item_id));
  v_window integer := _context_window_of(jsonb_build_object('model', v_model, 'context_window', 0));
  v_transcript text := journal_summary(p_work_item_id);
begin
  v_transcript := v_transcript || E'\n\n' || coalesce((
    select string_agg(
             format('%s: %s', j.entry_type, _cap_text((j.content - '{type,ledgerType,entry}'::text[])::text, 2000)), E'\n'
             order by j.sequence_num)
      from journal_read(p_work_item_id) j),
           '');
  -- As for a compaction: at most half the window.
  return (left(_summary_head(
      v_model, v_window,
      'You summarize the work of an agent for the people it works for and for anyone who continues it. Respond with the summary only.'), -1)
    || ',"messages":'
    || _summary_asked(
      'journal-' || left(md5(_uuidv7()::text), 12),
      _cap_text(v_transcript, (v_window * 0.5 / (_tokens(10000, v_model) / 10000.0))::integer), null)
    || '}')::json;
end
$$;

comment on function journal_summary_request(uuid, text) is
  'Returns a request that asks a model to summarize a session from its journal. Send it as it is, and store the answer with journal_summary_save(). p_model: which model; null: the faculty''s compact_model, else the session''s own model. Raises WL001.';

create or replace function journal_summary_save(
    p_work_item_id uuid,
    p_summary text,
    p_model text,
    p_input_tokens integer default null,
    p_output_tokens integer default null,
    p_id uuid default null)
  returns journal_entries
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_now record;
begin
  if coalesce(p_summary, '') !~ '\S' or coalesce(p_model, '') !~ '\S' then
    perform _raise_invalid('a summary needs text, and the name of the model that wrote it');
  end if;
  select * into v_item from work_items where id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select * into v_now from _progress_of(v_item, null);
  return journal_log(v_item.id, 'summary', jsonb_strip_nulls(jsonb_build_object(
    'periodCovered', jsonb_build_object('start', _ms(v_item.created_at), 'end', _ms(_now())),
    'accomplishments', to_jsonb(_lines(v_now.steps[:20])), 'currentStatus', btrim(p_summary),
    'nextSteps', to_jsonb(_lines(v_now.plan)), 'model', p_model, 'inputTokens', p_input_tokens, 'outputTokens', p_output_tokens)), 'high', p_id);
end
$$;

comment on function journal_summary_save(uuid, text, text, integer, integer, uuid) is
  'Stores a model''s summary of a session as an entry of its journal, with its newest steps and the open parts of its plan, and returns the journal_entries row. Resumption packets include it. p_id: repeating the same call stores one only. Raises WL001, WL002, WL003 (erased), WL006 (p_id used for an entry of another item).';

create or replace function _lines(p_texts text[])
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(_one_line(t, 400) order by n), '{}') from unnest(p_texts) with ordinality as u(t, n);
$$;

comment on function _lines(text[]) is 'Each text as one line of at most 400 characters.';
