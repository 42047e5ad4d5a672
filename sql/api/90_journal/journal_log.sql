-- Logs journal entries from outside.

create or replace function journal_log(
    p_work_item_id uuid,
    p_entry_type text,
    p_content jsonb,
    p_importance text default 'normal',
    p_id uuid default null)
  returns journal_entries
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_keys jsonb := _journal_keys() -> p_entry_type;
  v_key text;
  v_type text;
  v_content jsonb;
  v_entry journal_entries;
begin
  perform _check_word('an importance', coalesce(p_importance, 'normal'), '{low,normal,high,critical}');
  if v_keys is null then
    perform _raise_invalid(
      format('"%s" is not a type of journal entry', p_entry_type),
      'One of: ' || (select string_agg(k, ', ') from jsonb_object_keys(_journal_keys()) k) || '.');
  end if;
  if jsonb_typeof(p_content) is distinct from 'object' then
    perform _raise_invalid('the content of a journal entry must be an object');
  end if;
  for v_key, v_type in select key, value from jsonb_each_text(v_keys) loop
    perform _journal_value_check(p_entry_type, v_key, v_type, p_content -> v_key);
  end loop;
  perform _check_submitter(p_work_item_id);
  perform _journal_alive(p_work_item_id); -- locks the fence, which comes before what keeps the item from being erased
  perform _hold_off_erasing(p_work_item_id);
  v_content := _journal_shortened(p_content);
  if octet_length(v_content::text) > 65536 then
    perform _raise_invalid(format('a journal entry can have at most 64 KiB, not %s bytes', octet_length(v_content::text)));
  end if;
  insert into journal_entries (id, work_item_id, entry_type, content, importance)
  values (coalesce(p_id, _uuidv7()), p_work_item_id, p_entry_type, v_content, coalesce(p_importance, 'normal'))
  on conflict (id) do nothing
  returning * into v_entry;
  if v_entry.id is null then
    select * into v_entry from journal_entries where id = p_id;
    if v_entry.work_item_id <> p_work_item_id then
      raise exception using
        errcode = 'WL006',
        message = format('id %s was used for an entry of another work item: %s', p_id, v_entry.work_item_id),
        hint = 'An id identifies one entry; use a new id for a new entry.';
    end if;
  else
    perform _journal_written(p_work_item_id);
  end if;
  return v_entry;
end
$$;

comment on function journal_log(uuid, text, jsonb, text, uuid) is
  'Adds an entry to a work item''s journal: select journal_log(''…'', ''decision'', ''{"question": "Which?", "chosenOption": "B", "reasoning": "cheaper"}''). p_content has the keys of its type (_journal_keys()). Strings over 16,000 characters, at any depth, are shortened to head and tail, and further if the entry would exceed 64 KiB. p_importance: low, normal, high or critical. p_id: repeating the same call adds one entry only. Returns the journal_entries row. Raises WL001, WL002, WL003 (erased), WL006 (p_id used for an entry of another item), 42501.';

create or replace function _journal_keys()
  returns jsonb
  language sql
  immutable
  parallel safe
  return '{
    "session_start": {"originalPrompt": "string", "systemContext": "string?", "selectedModel": "string", "selectedPersona": "string?"},
    "thinking": {"reasoning": "string", "planSteps": "strings?"},
    "tool_request": {"toolName": "string", "toolInput": "object", "riskLevel": "safe|moderate|dangerous"},
    "tool_approved": {"toolName": "string", "decidedBy": "string?", "reason": "string?"},
    "tool_rejected": {"toolName": "string", "decidedBy": "string?", "reason": "string?"},
    "tool_result": {"toolName": "string", "success": "boolean", "output": "string", "truncated": "boolean", "errorMessage": "string?"},
    "code_generated": {"language": "string", "code": "string", "purpose": "string", "filePath": "string?"},
    "file_read": {"filePath": "string", "operation": "read", "contentPreview": "string?", "linesAffected": "number?"},
    "file_written": {"filePath": "string", "operation": "create|modify|delete", "contentPreview": "string?", "linesAffected": "number?"},
    "decision": {"question": "string", "chosenOption": "string", "alternatives": "strings?", "reasoning": "string"},
    "error": {"errorType": "string", "message": "string", "recoverable": "boolean", "stackTrace": "string?"},
    "recovery": {"message": "string", "fromError": "string?"},
    "checkpoint": {"checkpointId": "string", "summary": "string", "completedTasks": "strings", "pendingTasks": "strings"},
    "user_feedback": {"message": "string"},
    "summary": {"periodCovered": "period", "accomplishments": "strings", "currentStatus": "string", "nextSteps": "strings"},
    "session_end": {"status": "active|paused|completed|crashed|failed|cancelled|dead", "summary": "string?"}
  }'::jsonb;

comment on function _journal_keys() is 'The content of each type of journal entry: its keys and their JSON types; strings: a list of strings; period: {start, end} in milliseconds; a|b: one of these words; ?: may be left out. The journal''s design does not define tool_approved, tool_rejected, recovery, user_feedback and session_end; theirs are ours.';

create or replace function _journal_value_check(p_entry_type text, p_key text, p_type text, p_value jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_type text := rtrim(p_type, '?');
begin
  if p_value is null then
    if p_type not like '%?' then
      perform _raise_invalid(format('entries of type %s need "%s"', p_entry_type, p_key));
    end if;
  elsif v_type in ('string', 'number', 'boolean', 'object') then
    if jsonb_typeof(p_value) <> v_type then
      perform _raise_invalid(format('"%s" of type %s must be %s, not %s', p_key, p_entry_type, _an(v_type), _an(jsonb_typeof(p_value))));
    end if;
  elsif v_type = 'strings' then
    if jsonb_typeof(p_value) <> 'array' or jsonb_path_exists(p_value, 'strict $[*] ? (@.type() != "string")') then
      perform _raise_invalid(format('"%s" of type %s must be a list of strings', p_key, p_entry_type));
    end if;
  elsif v_type = 'period' then
    if jsonb_typeof(p_value -> 'start') is distinct from 'number' or jsonb_typeof(p_value -> 'end') is distinct from 'number' then
      perform _raise_invalid(format('"%s" of type %s must be {"start", "end"}, two times in milliseconds', p_key, p_entry_type));
    end if;
  elsif jsonb_typeof(p_value) <> 'string' or p_value #>> '{}' <> all (string_to_array(v_type, '|')) then
    perform _raise_invalid(
      format('"%s" of type %s cannot be %s', p_key, p_entry_type, _one_line(p_value::text, 100)),
      format('One of: %s.', replace(v_type, '|', ', ')));
  end if;
end
$$;

comment on function _journal_value_check(text, text, text, jsonb) is 'Raises WL002 if a value of a journal entry does not match _journal_keys().';

create or replace function _journal_shortened(p_content jsonb)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_content jsonb := p_content;
  v_chars integer;
begin
  foreach v_chars in array array[16000, 4000, 1000, 200] loop
    v_content := _strings_shortened(v_content, v_chars);
    if octet_length(v_content::text) <= 60000 then
      return v_content;
    end if;
  end loop;
  -- Still too large: keep small values, and the beginning of the others.
  return (select jsonb_object_agg(left(k.key, 100), case when octet_length(k.value::text) <= 2000 then k.value
                                                  else case jsonb_typeof(k.value)
                                                       when 'object' then jsonb_build_object('truncated', left(k.value::text, 500))
                                                       when 'array' then jsonb_build_array(left(k.value::text, 500))
                                                       else to_jsonb(left(k.value #>> '{}', 500)) end end)
            from (select key, value from jsonb_each(v_content) order by _journal_keys() @? format('$.*.%s', to_json(key))::jsonpath desc, key limit 20) k);
end
$$;

comment on function _journal_shortened(jsonb) is 'The content of a journal entry in less than 64 KiB: long strings, however deep, are shortened to head and tail.';

create or replace function _strings_shortened(p_value jsonb, p_max_chars integer)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case jsonb_typeof(p_value)
    when 'string' then case when char_length(p_value #>> '{}') > p_max_chars then to_jsonb(_cap_text(p_value #>> '{}', p_max_chars)) else p_value end
    when 'array' then (select coalesce(jsonb_agg(_strings_shortened(value, p_max_chars) order by n), '[]')
                         from jsonb_array_elements(p_value) with ordinality as e(value, n))
    when 'object' then (select coalesce(jsonb_object_agg(key, _strings_shortened(value, p_max_chars)), '{}') from jsonb_each(p_value))
    else p_value end;
end
$$;

comment on function _strings_shortened(jsonb, integer) is 'The JSON with strings over p_max_chars shortened to head and tail.';
