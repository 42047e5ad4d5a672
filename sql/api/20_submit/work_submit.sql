-- Submitting work: one item, one job, one transaction.

create or replace function work_submit(
    p_work_type text,
    p_description text,
    p_params jsonb default '{}',
    p_faculty text default null,
    p_priority integer default null,
    p_parent_id uuid default null,
    p_dedup_key text default null,
    p_external_id text default null,
    p_max_attempts integer default null,
    p_run_at timestamptz default null,
    p_source text default 'human',
    p_idempotency_key text default null,
    p_budget jsonb default null,
    p_workspace_dir text default null,
    p_project text default null, p_result_schema jsonb default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid := _uuidv7();
  v_type text;
  v_item work_items;
  v_parent work_items;
  v_is_taken boolean := false;
begin
  p_project := _project_check(p_project);
  v_type := coalesce(p_work_type, _work_type_here(p_faculty, coalesce(p_project, _project_now((select w.project from work_items w where w.id = p_parent_id)))));
  if v_type !~ '\S' or char_length(v_type) > 200 then
    perform _raise_invalid('a work item needs a work type of at most 200 characters');
  elsif coalesce(p_description, '') !~ '\S' or octet_length(p_description) > 65536 then
    perform _raise_invalid('a work item needs a description of at most 64 KiB', 'Say what to do; put larger input into params or files.');
  elsif p_max_attempts < 1 then
    perform _raise_invalid(format('max_attempts must be 1 or more, not %s', p_max_attempts));
  elsif p_workspace_dir !~ '^/' then
    perform _raise_invalid(format('"%s" is not an absolute path', p_workspace_dir), 'A relative path means nothing to the worker that claims the item.');
  end if;
  perform _check_word('a source', p_source, _work_sources()), _result_schema_check(nullif(p_result_schema, 'null'));
  if jsonb_typeof(p_budget) <> 'object' then
    perform _raise_invalid('a budget must be an object such as {"tokens": 200000, "money": 5}');
  end if;
  perform _check_key('a deduplication key', p_dedup_key), _check_key('an external id', p_external_id), _check_key('an idempotency key', p_idempotency_key),
          _check_key('the name of a faculty', p_faculty), _check_time('run_at', p_run_at), _params_check(p_params, p_faculty, v_type, p_project, p_parent_id);
  if '' in (p_dedup_key, p_external_id, p_idempotency_key, p_faculty) then
    perform _raise_invalid('an empty string is not a key, an identifier or a name', 'Leave the argument out, or pass null.');
  end if;
  -- The item of a repeated call is returned even if its parent has ended since. Repeated if the item that was in the way has ended meanwhile.
  loop
    v_item := _work_already_submitted(
      p_work_type, p_description, p_idempotency_key, case when v_is_taken then p_dedup_key end, case when v_is_taken then p_external_id end);
    if v_item.id is not null then
      return v_item;
    end if;
    if p_parent_id is not null then
      v_parent := _submit_parent(p_parent_id, p_project);
    end if;
    insert into work_items (
      id, parent_id, root_id, depth, work_type, description, params, faculty, priority, source,
      dedup_key, idempotency_key, external_id, max_attempts, run_at, workspace_dir, workspace_dir_by, project, submitted_by, result_schema, spawn_tool_call_id)
    values (
      v_id, p_parent_id, coalesce(v_parent.root_id, v_id), coalesce(v_parent.depth + 1, 0), v_type, p_description,
      coalesce(p_params, '{}'), p_faculty, coalesce(p_priority, v_parent.priority, 0), p_source,
      p_dedup_key, p_idempotency_key, p_external_id, p_max_attempts, coalesce(p_run_at, _now()),
      coalesce(p_workspace_dir, v_parent.workspace_dir), case when p_workspace_dir is not null then session_user else v_parent.workspace_dir_by end,
      coalesce(v_parent.project, p_project), coalesce(v_parent.submitted_by, session_user), nullif(p_result_schema, 'null'),
      (select id from tool_calls where id = nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid and work_item_id = p_parent_id))
    on conflict do nothing
    returning * into v_item;
    exit when found;
    v_is_taken := true;
  end loop;
  perform _fence_create(v_item);
  perform _budget_store(v_item.id, b.key, _budget_amount(b.key, b.value)) from jsonb_each(p_budget) b;
  perform _budget_child(p_parent_id) where p_parent_id is not null;
  perform _enqueue(v_item.id);
  return v_item;
end
$$;

comment on function work_submit(text, text, jsonb, text, integer, uuid, text, text, integer, timestamptz, text, text, jsonb, text, text, jsonb) is
  'Adds a work item and returns its row: select id from work_submit(''analyze'', ''Find why the nightly import is slow''). It is queued in the same transaction. p_work_type: the kind of work, which decides who does it; null: the only one that faculties of the project accept (or p_faculty accepts), else task. p_params: a JSON object that the agent is told with the task, at most 3 MiB as shown to it; a program that does the work (engage.mode external) takes more. p_faculty: who does it (default: the faculty that accepts the work type). p_priority: higher is more urgent (default: the parent''s, else 0). p_parent_id: the item it is part of; at most 5 levels. p_max_attempts: default: the faculty''s. p_run_at: not before this time. p_source: human, trigger, agent, webhook, cron or event. p_budget: what it and everything below it may use, {tokens, money, seconds, calls, children}, see budget_set(). p_workspace_dir: the directory on the host where this item, and work delegated from it, is done; overrides the faculty''s (default: the parent''s). The worker decides whether to use it, depending on who named it: for the owner or an administrator, the directory must belong to the worker''s user; for anyone else, it must lie within the worker''s workspace_roots. p_project: where the work belongs: a repository as host/path, a directory on a host, or any name of at most 500 characters. Agents there are told about this project and no other, see awareness_digest() (default: the parent''s, which its children cannot leave; else none: work that concerns all). p_result_schema: what its result must look like, a JSON Schema with the keywords listed in docs/faculty.md (default: the faculty''s result_schema). p_dedup_key: if an unfinished item has this key, that item is returned instead of adding a second one. p_external_id: your own identifier. p_idempotency_key: repeating the same call returns the same item, forever. Raises WL001 (parent), WL002, WL003 (parent finished), WL006 (key or external id used for another item), WL009 (no children left in the budget of an ancestor).';

create or replace function _params_check(p_params jsonb, p_faculty text, p_work_type text, p_project text, p_parent_id uuid)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_bytes integer := octet_length(to_json(jsonb_pretty(p_params))::text);
begin
  perform _check_key('conversationId in params', p_params ->> 'conversationId'); -- for any work: there is an index on it
  if jsonb_typeof(p_params) <> 'object' then
    perform _raise_invalid('params must be a JSON object');
  elsif v_bytes > 3145728 and (_faculty_for(p_faculty, p_work_type, coalesce(p_project, (
      select _project_now(w.project) from work_items w where w.id = p_parent_id)))).config #>> '{engage,mode}' is distinct from 'external' then
    perform _raise_invalid(format('params can have at most 3 MiB as shown to an agent, not %s bytes', v_bytes),
      'Put larger input into files, and say where they are.');
  end if;
end
$$;

comment on function _params_check(jsonb, text, text, text, uuid) is
  'Refuses params that are no object, or that the first message to an agent cannot hold (content_is_at_most_4_mib), unless a program does the work (engage.mode external). Null passes. Raises WL002.';

create or replace function _work_types_here(p_faculty text, p_project text)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(
    select distinct t.work_type
      from faculties f
     cross join lateral jsonb_array_elements_text(f.config -> 'accepts') t(work_type)
     where f.is_current and coalesce(f.project, '') = any (array['', coalesce(p_project, '')]) and f.name = coalesce(p_faculty, f.name)
     order by t.work_type);
$$;

comment on function _work_types_here(text, text) is
  'The types of work that a faculty, or (if p_faculty is null) the faculties of a project, by its current name, and of the ledger, accept; in order.';

create or replace function _work_type_here(p_faculty text, p_project text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case cardinality(t) when 1 then t[1] else 'task' end from _work_types_here(p_faculty, p_project) t;
$$;

comment on function _work_type_here(text, text) is 'The type of work that was submitted without one: the only one of _work_types_here(); else task.';

create or replace function _submit_parent(p_parent_id uuid, p_project text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parent work_items;
begin
  -- The lock keeps the parent from finishing between this check and the insert, and work_cancel() from walking the tree in between.
  perform from fences where work_item_id = p_parent_id for share;
  if not found then
    perform _raise_not_found('work item', p_parent_id);
  end if;
  perform _check_submitter(p_parent_id);
  select * into v_parent from work_items where id = p_parent_id;
  if v_parent.resolved_at is not null then
    raise exception using errcode = 'WL003', message = format('the parent %s is %s', v_parent.id, v_parent.state);
  end if;
  if v_parent.depth >= 5 then
    perform _raise_invalid(format('work item %s is already 5 levels deep', v_parent.id));
  end if;
  if p_project <> coalesce(_project_now(v_parent.project), '') then
    perform _raise_invalid(
      format('a child belongs to the project of its parent, %s, not to "%s"',
             coalesce('"' || _project_now(v_parent.project) || '"', 'which has none'), p_project),
      'Submit work for another project as a separate item.');
  end if;
  return v_parent;
end
$$;

comment on function _submit_parent(uuid, text) is 'The parent of a new work item of this project (null: the parent''s), locked so that it does not end meanwhile. Raises WL001, WL002 (5 levels deep, of another project), WL003 (finished), 42501.';

create or replace function _work_already_submitted(
    p_work_type text,
    p_description text,
    p_idempotency_key text,
    p_dedup_key text,
    p_external_id text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  select * into v_item from work_items where idempotency_key = p_idempotency_key;
  if found then
    if v_item.work_type <> p_work_type or v_item.description not in (
      p_description, _redacted(p_description), case when v_item.erased_at is null then p_description else '[erased]' end) then
      raise exception using
        errcode = 'WL006',
        message = format('idempotency key "%s" was used for another work item: %s', p_idempotency_key, v_item.id),
        hint = 'A key identifies one submission; use a new key for a new submission.';
    end if;
    return v_item;
  end if;
  select * into v_item from work_items where dedup_key = p_dedup_key and state not in ('completed', 'failed', 'dead', 'cancelled');
  if found then
    return v_item;
  end if;
  if exists (select from work_items where external_id = p_external_id) then
    raise exception using
      errcode = 'WL006',
      message = format('external id "%s" is taken', p_external_id),
      detail = format('Work item %s has it.', (select id from work_items where external_id = p_external_id)),
      constraint = 'work_items_external_id';
  end if;
  return null;
end
$$;

comment on function _work_already_submitted(text, text, text, text, text) is 'The existing work item that a submission repeats (idempotency key, deduplication key); null: it no longer exists. Raises WL006 if the idempotency key or external id belongs to another item.';
