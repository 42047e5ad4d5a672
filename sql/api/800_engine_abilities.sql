-- The engine's own tools: SQL functions of the calling focus, always offered, in this order.

create or replace function _ability_work_item()
  returns uuid
  language sql
  stable
  parallel safe
  return current_setting('work_ledger.work_item_id')::uuid;

comment on function _ability_work_item() is 'The work item whose agent made the running call.';

create or replace function _ability_ledger_append(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('Recorded as [%s].', e.seq)
    from ledger_append(_ability_work_item(), p_input ->> 'entry_type', p_input ->> 'content', p_keep => _names(p_input -> 'keep')) e;
$$;

comment on function _ability_ledger_append(jsonb) is 'Tool ledger_append.';

create or replace function _ability_ledger_read(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select ledger_read_lines(_ability_work_item(), p_input ->> 'entry_type',
    least((p_input ->> 'last_n')::numeric, 500)::integer);
$$;

comment on function _ability_ledger_read(jsonb) is 'Tool ledger_read.';

create or replace function _ability_recall_block(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select recall_block(_ability_work_item(), (p_input ->> 'n')::integer, p_input ->> 'query');
$$;

comment on function _ability_recall_block(jsonb) is 'Tool recall_block.';

create or replace function _ability_artifact_read(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select artifact_read(p_input ->> 'handle', p_input ->> 'range', p_input ->> 'pattern');
$$;

comment on function _ability_artifact_read(jsonb) is 'Tool artifact_read.';

create or replace function _ability_spawn_child_work(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('Child work item %s is %s.', c.id, c.state)
    from spawn_child_work(_ability_work_item(), p_input ->> 'work_type', p_input ->> 'description', coalesce(p_input -> 'params', '{}'),
      (p_input ->> 'priority')::integer, p_idempotency_key => 'spawn ' || current_setting('work_ledger.tool_call_id')) c;
$$;

comment on function _ability_spawn_child_work(jsonb) is 'Tool spawn_child_work; a repeated call finds the child that it made.';

create or replace function _ability_await_child_work(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _child_words(await_child_work(_ability_work_item(), array(select jsonb_array_elements_text(p_input -> 'work_item_ids')::uuid))::text);
$$;

comment on function _ability_await_child_work(jsonb) is 'Tool await_child_work: null while a child is not over, and then the call waits.';

create or replace function _code_check_child_work(p_input jsonb)
  returns jsonb
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select check_child_work(_ability_work_item(), array(select jsonb_array_elements_text(p_input -> 'work_item_ids')::uuid));
$$;

comment on function _code_check_child_work(jsonb) is 'Tool check_child_work as code calls it.';

create or replace function _ability_check_child_work(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _child_words(_code_check_child_work(p_input)::text);
$$;

comment on function _ability_check_child_work(jsonb) is 'Tool check_child_work.';

create or replace function _ability_work_complete(p_input jsonb)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_input ->> 'summary', '') !~ '\S' then
    perform _raise_invalid('a completed work item needs a summary of what came of it');
  end if;
  perform _evidence_check(_ability_work_item(), p_input -> 'evidence');
  return case when exists (select from work_items w join foci o on o.id = w.focus_id join faculties f on f.content_hash = o.faculty_hash
                            where w.id = _ability_work_item() and f.config #>> '{engage,check_command}' is not null)
              then 'Declared done: now the check decides.' else 'The work item is completed.' end;
end
$$;

comment on function _ability_work_complete(jsonb) is 'Tool work_complete: iteration_finish() ends the work item once every call of the batch is settled.';

create or replace function _code_ledger_append(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('seq', e.seq, 'entry_type', e.entry_type)::text
    from ledger_append(_ability_work_item(), p_input ->> 'entry_type', p_input ->> 'content', p_keep => _names(p_input -> 'keep')) e;
$$;

comment on function _code_ledger_append(jsonb) is 'Tool ledger_append as code calls it.';

create or replace function _code_ledger_read(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object('seq', e.seq, 'entry_type', e.entry_type, 'content', e.content) order by e.seq), '[]')::text
    from ledger_read(_ability_work_item(), p_input ->> 'entry_type', least((p_input ->> 'last_n')::numeric, 100000)::integer) e;
$$;

comment on function _code_ledger_read(jsonb) is 'Tool ledger_read as code calls it.';

create or replace function _code_spawn_child_work(p_input jsonb)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select substring(_ability_spawn_child_work(p_input) from '[0-9a-f]{8}-[0-9a-f-]{27}');
$$;

comment on function _code_spawn_child_work(jsonb) is 'Tool spawn_child_work as code calls it: the id.';

insert into abilities (name, description, input_schema, effect, risk, implementation, function_name, is_builtin, position)
select v.name, v.description, v.input_schema::json, v.effect, 'safe', 'engine',
       format('%I.%I', _ledger_schema(), '_ability_' || v.name), true, v.position
  from (values
    (1, 'ledger_append', 'idempotent',
     'Record an entry in your work ledger. Use this to track your plan, findings, decisions, completed steps, and errors. Your ledger persists across context compactions — anything not in the ledger may be lost. With a step, name in keep the files that you will change next.',
     '{"type":"object","properties":{"entry_type":{"type":"string","enum":["plan","finding","decision","step","error","note"]},"content":{"type":"string","description":"What to record. Be concise but complete — this is your durable working memory."},"keep":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"Only of a step: files (paths as your calls name them), URLs or artifact handles that you will change or quote next, most needed first. Their newest content stays word for word in your context when older blocks are compressed; each step names its own."}},"required":["entry_type","content"]}'),
    (2, 'ledger_read', 'pure',
     'Read your work ledger. Returns all entries in order. Use this to review your progress, especially after context compaction.',
     '{"type":"object","properties":{"entry_type":{"type":"string","enum":["plan","finding","decision","step","error","note"],"description":"Optional: filter to a specific entry type."},"last_n":{"type":"integer","description":"Optional: return only the last N entries."}}}'),
    (3, 'recall_block', 'pure',
     'Bring back a completed step of which your context shows only the line [completed step n: ...], or its number in your ledger: the calls and results behind it, or the lines of them that hold a text.',
     '{"type":"object","properties":{"n":{"type":"integer","description":"Number of the completed step."},"query":{"type":"string","description":"Optional: only lines that hold this text."}},"required":["n"]}'),
    (4, 'artifact_read', 'pure',
     'Read a result that was too large to be shown whole: some of its lines or characters, or the lines that match a pattern.',
     '{"type":"object","properties":{"handle":{"type":"string","description":"The handle given with the head and tail of the result."},"range":{"type":"string","description":"Optional: lines such as \"100-180\", or characters such as \"c4000-8000\"."},"pattern":{"type":"string","description":"Optional: only lines that match this regular expression."}},"required":["handle"]}'),
    (5, 'spawn_child_work', 'idempotent',
     'Delegate a sub-task as a child work item. The child runs in its own context with its own tools and ledger. Use this for tasks that are independent enough to run separately — analysis, research, file processing, etc.',
     '{"type":"object","properties":{"work_type":{"type":"string","description":"The type of work. Determines which faculty handles it."},"description":{"type":"string","description":"What the child should accomplish. Be specific — this becomes the child''s orient context."},"params":{"type":"object","description":"Parameters for the child work item."},"priority":{"type":"integer","description":"Priority (higher = more urgent). Default: same as parent."}},"required":["work_type","description"]}'),
    (6, 'await_child_work', 'pure',
     'Wait for one or more child work items to complete. Returns their outcomes.',
     '{"type":"object","properties":{"work_item_ids":{"type":"array","items":{"type":"string"},"description":"IDs of child work items to wait for."},"timeout_seconds":{"type":"integer","description":"Maximum time to wait. Default: 300 (5 minutes)."}},"required":["work_item_ids"]}'),
    (7, 'check_child_work', 'pure',
     'Non-blocking check on child work item status. Use to poll progress without waiting.',
     '{"type":"object","properties":{"work_item_ids":{"type":"array","items":{"type":"string"},"description":"IDs of child work items to check."}},"required":["work_item_ids"]}'),
    (8, 'work_complete', 'idempotent',
     'Declare your work item done. The focus ends when all calls of this batch are settled; do this last.',
     '{"type":"object","properties":{"summary":{"type":"string","description":"What was done and what came of it, for people and agents who did not watch."},"evidence":{"type":"array","items":{"type":"string"},"description":"Optional: what shows it: ids of your tool calls, handles of artifacts, or words such as the command whose output proves the result."}},"required":["summary"]}')
  ) as v(position, name, effect, description, input_schema)
on conflict (name) do update
   set description = excluded.description, input_schema = excluded.input_schema, effect = excluded.effect, risk = excluded.risk,
       implementation = excluded.implementation, function_name = excluded.function_name, is_builtin = true, position = excluded.position;
