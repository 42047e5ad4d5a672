-- Work ends because its agent or program reports it: completed or failed.

create or replace function work_complete(
    p_work_item_id uuid,
    p_summary text,
    p_evidence jsonb default '[]',
    p_lease uuid default null,
    p_result jsonb default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  if coalesce(p_summary, '') !~ '\S' then
    perform _raise_invalid('a completed work item needs a summary of its result');
  end if;
  select * into v_item from work_items
   where id = p_work_item_id and state = 'completed' and outcome_data ->> 'summary' = p_summary;
  if found then
    return v_item;
  end if;
  perform _evidence_check(p_work_item_id, p_evidence);
  v_item := _fence(p_work_item_id, p_lease);
  perform _result_check(_result_schema_of(v_item), p_result);
  return _focus_end(v_item, 'completed', 'completed', null,
    jsonb_build_object('summary', p_summary, 'evidence', coalesce(p_evidence, '[]'))
    || case when p_result is not null then jsonb_build_object('result', p_result) else '{}' end);
end
$$;

comment on function work_complete(uuid, text, jsonb, uuid, jsonb) is
  'Completes a work item and returns its row. p_lease: the lease of the worker that drives it; null if no attempt is running (your own agent, working from the ledger). p_evidence: a JSON array of strings that support the summary: ids of the item''s tool calls and handles of artifacts, which must exist (see v_evidence), or free text. p_result: the answer as JSON, for programs. It must fit the result_schema of the item or its faculty, if there is one; WL002 lists everything that is wrong. Repeating the call changes nothing. Raises WL001, WL002, WL003, WL004, WL005.';

create or replace function work_fail(
    p_work_item_id uuid,
    p_reason text,
    p_lease uuid default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  if coalesce(p_reason, '') !~ '\S' then
    perform _raise_invalid('a failed work item needs a reason');
  end if;
  select * into v_item from work_items where id = p_work_item_id and state = 'failed' and state_reason = p_reason;
  if found then
    return v_item;
  end if;
  v_item := _fence(p_work_item_id, p_lease);
  return _focus_end(v_item, 'failed', 'failed', p_reason, null);
end
$$;

comment on function work_fail(uuid, text, uuid) is
  'Ends a work item as failed and returns its row; p_lease as in work_complete(). Repeating the call changes nothing. Raises WL001, WL002, WL003, WL004, WL005.';

create or replace function _evidence_check(p_work_item_id uuid, p_evidence jsonb)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_named text;
begin
  if jsonb_typeof(p_evidence) not in ('array', 'null') or exists (
    select from jsonb_array_elements(case jsonb_typeof(p_evidence) when 'array' then p_evidence else '[]' end) e where jsonb_typeof(e) <> 'string') then
    perform _raise_invalid('evidence must be an array of strings', 'Pass ids of tool calls, artifact handles, or free text.');
  end if;
  select e.named into v_named
    from jsonb_array_elements_text(case jsonb_typeof(p_evidence) when 'array' then p_evidence else '[]' end) as e(named)
    cross join lateral _evidence(p_work_item_id, e.named) as f
   where e.named ~ '^([0-9a-f]{16,64}|[0-9a-f]{8}-[0-9a-f-]{27}|(toolu|call)_[A-Za-z0-9_-]+)$' and f.tool_call_id is null and f.artifact_hash is null
   limit 1;
  if found then
    perform _raise_invalid(format('evidence "%s" is neither a tool call of this work nor an artifact', v_named));
  end if;
  select format('%s (%s)', e.named, k.tool_name) into v_named
    from jsonb_array_elements_text(case jsonb_typeof(p_evidence) when 'array' then p_evidence else '[]' end) as e(named)
    cross join lateral _evidence(p_work_item_id, e.named) as f
    join tool_calls k on k.id = f.tool_call_id
   where exists (select from touches x
                   join tool_calls c on c.id = x.tool_call_id
                  where x.work_item_id = p_work_item_id and x.kind = 'path' and x.action in ('create', 'modify', 'delete')
                    and c.status in ('completed', 'uncertain') and c.created_at > k.created_at)
   limit 1;
  if found then
    perform _raise_invalid(format('evidence "%s" is older than the last change of a file', v_named), 'Check again after that change, and pass the new call.');
  end if;
end
$$;

comment on function _evidence_check(uuid, jsonb) is 'Raises WL002 if evidence names a tool call or artifact that does not exist, or a call older than the last change of a file.';

create or replace function _evidence(p_work_item_id uuid, p_named text, out tool_call_id uuid, out artifact_hash text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (select k.id from tool_calls k where k.work_item_id = p_work_item_id and p_named in (k.provider_id, k.id::text) order by k.created_at desc limit 1),
         (select a.content_hash from artifacts a
           where p_named ~ '^[0-9a-f]{16,64}$' and a.content_hash >= p_named and a.content_hash < p_named || 'g' limit 1);
$$;

comment on function _evidence(uuid, text) is 'The tool call of a work item, or the artifact, that a string of evidence refers to; nulls: neither.';
