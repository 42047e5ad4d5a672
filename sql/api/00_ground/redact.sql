-- Secrets with a recognizable form (forms_of_secrets.sql) are replaced by [redacted] in every row before it is written, whoever writes it. Values
-- that only the worker knows never get here: the runtime removes them (runtime/secrets). A model's thinking keeps its bytes, because it is signed.

create or replace function _redacted_blocks(p_blocks json)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when bool_or(r.block <> b.value::text) then '[' || string_agg(r.block, ',' order by b.n) || ']' else p_blocks::text end
    from json_array_elements(p_blocks) with ordinality as b(value, n)
    cross join lateral (
      select case when b.value ->> 'type' in ('thinking', 'redacted_thinking') then b.value::text else _redacted(b.value::text) end) as r(block);
$$;

comment on function _redacted_blocks(json) is 'Content blocks as text, redacted, except for what a model thought: it is signed, and a provider refuses it if a byte differs.';

create or replace function _redacts(p_row json)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(nullif(current_setting('work_ledger.redact', true), '')::boolean, true) and coalesce((
    select (f.config ->> 'redact')::boolean
      from foci o
      join faculties f on f.content_hash = o.faculty_hash
     where o.id = coalesce(
       (p_row ->> 'focus_id')::uuid,
       (select t.focus_id from turns t where t.id = (p_row ->> 'turn_id')::uuid),
       (select w.focus_id from work_items w where w.id = coalesce(p_row ->> 'work_item_id', p_row ->> 'id')::uuid))), true);
$$;

comment on function _redacts(json) is 'Whether a row is to be redacted: not with the setting work_ledger.redact = off, and not if the faculty of its focus says redact = false.';

create or replace function _redaction_note(p_place text, p_row json, p_before text, p_after text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into redactions (place, work_item_id, secrets)
  select p_place, coalesce(
           (p_row ->> 'work_item_id')::uuid,
           (select t.work_item_id from turns t where t.id = (p_row ->> 'turn_id')::uuid),
           case p_place when 'work_items' then (p_row ->> 'id')::uuid end),
         greatest((length(p_after) - length(replace(p_after, '[redacted]', '')) - length(p_before) + length(replace(p_before, '[redacted]', ''))) / 10, 1);
$$;

comment on function _redaction_note(text, json, text, text) is 'Counts what was found in a row of a table, from its texts before and after.';

create or replace function _redact_text(p_text text, p_place text, p_row json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_text text;
begin
  if not coalesce(_may_hold_secret(p_text), false) or not _redacts(p_row) then
    return p_text;
  end if;
  v_text := _redacted(p_text);
  perform _redaction_note(p_place, p_row, p_text, v_text) where v_text <> p_text;
  return v_text;
end
$$;

comment on function _redact_text(text, text, json) is 'A text redacted before it is hashed or cut, and counted; p_row names whose it is ({focus_id}, {turn_id} or {work_item_id}).';

create or replace function _redact_columns(p_table text, p_row json, p_columns text[])
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_column text;
  v_before text;
  v_after text;
  v_changes text[] := '{}';
  v_all_before text := '';
  v_all_after text := '';
begin
  if not _redacts(p_row) then
    return null;
  end if;
  -- The column as JSON text, whatever its type, so that the contents of json columns keep their bytes.
  foreach v_column in array p_columns loop
    v_before := (p_row -> v_column)::text;
    v_after := case when v_column like '%content' and json_typeof(p_row -> v_column) = 'array' then _redacted_blocks(p_row -> v_column)
                    else _redacted(v_before) end;
    if v_after <> v_before then
      v_changes := v_changes || format('%s:%s', to_json(v_column), v_after);
      v_all_before := v_all_before || v_before;
      v_all_after := v_all_after || v_after;
    end if;
  end loop;
  if v_changes = '{}' then
    return null;
  end if;
  perform _redaction_note(p_table, p_row, v_all_before, v_all_after);
  return format('{%s}', array_to_string(v_changes, ','));
end
$$;

comment on function _redact_columns(text, json, text[]) is 'The columns of a row in which secrets were found, without them; null: there are none. Counts them in redactions.';

create or replace function _redact_row()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_changes json := _redact_columns(tg_table_name, to_json(new), tg_argv);
begin
  if v_changes is not null then
    new := json_populate_record(new, v_changes);
  end if;
  return new;
end
$$;

comment on function _redact_row() is 'Trigger: takes secrets out of the columns that are its arguments.';

-- The triggers on tables that every iteration writes to have no WHEN condition: it would be prepared again for each statement, which alone would
-- cost a tenth of an append. They check only what is new, all at once.
create or replace function _redact_message()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if new.content::text is distinct from old.content::text and _may_hold_secret(new.content::text)
    or new.sent_content::text is distinct from old.sent_content::text and _may_hold_secret(new.sent_content::text)
    or new.metadata is distinct from old.metadata and _may_hold_secret(new.metadata::text) then
    new := json_populate_record(new, _redact_columns('messages', to_json(new), tg_argv));
  end if;
  return new;
end
$$;

comment on function _redact_message() is 'Trigger: takes secrets out of a message, from the columns that are its arguments.';

create or replace function _redact_call()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- One check for all texts, since each check builds the automaton again. Joining them hides no secret: each text is still whole.
  if _may_hold_secret(concat_ws(' ',
       case when new.tool_name is distinct from old.tool_name then new.tool_name end,
       case when new.provider_id is distinct from old.provider_id then new.provider_id end,
       case when new.given_id is distinct from old.given_id then new.given_id end,
       case when new.input::text is distinct from old.input::text then new.input::text end,
       case when new.rewritten_input::text is distinct from old.rewritten_input::text then new.rewritten_input::text end,
       case when new.result::text is distinct from old.result::text then new.result::text end,
       case when new.value::text is distinct from old.value::text then new.value::text end)) then
    new := json_populate_record(new, _redact_columns('tool_calls', to_json(new), tg_argv));
  end if;
  return new;
end
$$;

comment on function _redact_call() is 'Trigger: takes secrets out of a tool call, from the columns that are its arguments.';

create or replace function _redact_turn()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if _may_hold_secret(concat_ws(' ',
       case when new.error is distinct from old.error then new.error::text end,
       case when new.response_id is distinct from old.response_id then new.response_id end,
       case when new.request_id is distinct from old.request_id then new.request_id end)) then
    new := json_populate_record(new, _redact_columns('turns', to_json(new), tg_argv));
  end if;
  return new;
end
$$;

comment on function _redact_turn() is 'Trigger: takes secrets out of a turn, from the columns that are its arguments.';

do $do$
declare
  v_table text;
  v_columns text[];
  v_own text;
begin
  for v_table, v_columns, v_own in select t.name, string_to_array(t.columns, ' '), t.own
    from (values
      ('messages', 'content sent_content metadata', '_redact_message'),
      ('tool_calls', 'tool_name provider_id given_id input rewritten_input result value', '_redact_call'),
      ('turns', 'error response_id request_id', '_redact_turn'),
      ('work_items', 'description params state_reason outcome_data', null), ('inbox', 'content', null), ('turn_streams', 'content', null),
      ('foci', 'error compaction_instructions', null), ('elisions', 'stubs kept standing summary', null),
      ('compactions', 'instructions error metadata', null), ('hook_runs', 'output error', null), ('approvals', 'reason', null),
      ('journal_entries', 'content delete_reason', null), ('session_records', 'content', null), ('sessions', 'task_description', null),
      ('work_checkpoints', 'summary completed_tasks key_decisions current_state files_modified pending_actions', null), ('message_lints', 'message', null),
      ('models', 'cooldown_reason', null), ('claims', 'key place why', null), ('subscriptions', 'target', null),
      ('memory_versions', 'content why', null), ('erasures', 'reason', null)) t(name, columns, own) loop
    -- A WHEN condition picks the rows that may contain a secret; only those are processed.
    execute format('create or replace trigger redact before insert or update of %s on %I for each row %s execute function %I(%s)',
      (select string_agg(quote_ident(c), ', ') from unnest(v_columns) c), v_table,
      case when v_own is null
           then format('when (%s)', (select string_agg(format('_may_hold_secret(new.%I::text)', c), ' or ') from unnest(v_columns) c)) end,
      coalesce(v_own, '_redact_row'),
      (select string_agg(quote_literal(c), ', ') from unnest(v_columns) c));
  end loop;
end
$do$;
