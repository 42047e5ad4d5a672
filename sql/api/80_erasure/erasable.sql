-- The list of where a work item's words are, table by table: what replaces them, and how the item's rows are found.

create or replace function _erasable()
  returns table (n integer, relation text, of_item text, becomes jsonb, hashed text[])
  language sql
  immutable
  parallel safe
  rows 25
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with turns_of as (select 'turn_id in (select x.id from turns x where x.work_item_id = item.id)' as condition),
  foci_of as (select 'focus_id in (select f.id from foci f where f.work_item_id = item.id)' as condition),
  labels_of as (
    -- A session in which several items continued keeps its words until the last of them is erased.
    select '(select f.session_label from foci f where f.work_item_id = item.id and ($2 = ''all'' or not exists (select from foci o '
           'join work_items i on i.id = o.work_item_id where o.session_label = f.session_label and i.id <> item.id and i.erased_at is null)) union '
           'select s.label from turns x join session_history h on h.turn_id = x.id join sessions s on s.label = h.session_label and s.head_turn_id = x.id '
           'where x.work_item_id = item.id union '
           -- A subagent's task is in the call that started it. If the subagent also has work of its own, the task is that work's words too.
           'select s.label from sessions s join foci f on f.session_label = s.parent_session_label where f.work_item_id = item.id and s.is_subagent '
           'and not exists (select from foci o join work_items i on i.id = o.work_item_id where o.session_label = s.label and i.erased_at is null))' as list
  )
  select e.n::integer, e.relation, e.of_item, e.becomes::jsonb, e.hashed::text[]
    from turns_of t
    cross join foci_of f
    cross join labels_of s
    cross join lateral (values
      ('turn_streams', 1, t.condition, null, null),
      ('subscriptions', 0, 'work_item_id = item.id', null, null),
      ('search_entries', 2, $q$work_item_id = item.id and ($2 <> 'ledger' or source in ('journal', 'message'))$q$, null, null),
      ('message_lints', 3, 'message_id in (select m.id from messages m where m.' || t.condition || ')', null, null),
      ('session_records', 4, 'session_label in ' || s.list, null, null),
      ('session_aliases', 5, 'session_label in ' || s.list, null, null),
      ('turn_workspaces', 6, t.condition, null, null),
      ('awareness_shown', 7, $q$path <> '' and focus_id in (select f.id from foci f where f.work_item_id = item.id union all select item.id)$q$, null, null),
      ('work_checkpoints', 8, 'work_item_id = item.id', null, null),
      ('touches', 9, 'tool_call_id in (select k.id from tool_calls k where k.' || t.condition || ')', null, null),
      ('hook_runs', 10, f.condition, $q${"command": "'[erased]'", "output": "case when t.output is not null then '[erased]' end", "error": "case when t.error is not null then '[erased]' end"}$q$, null),
      ('approvals', 11, 'work_item_id = item.id', $q${"input_hash": "''", "reason": "case when t.reason is not null then '[erased]' end"}$q$, null),
      ('journal_entries', 12, 'work_item_id = item.id', $q${"content": "null::jsonb", "deleted_at": "coalesce(t.deleted_at, _now())", "delete_reason": "'[erased]'"}$q$, null),
      -- Results of children are not in the index of the item's messages.
      ('inbox', 13, $q$id in (select n.id from inbox n where n.work_item_id = item.id and n.kind <> 'child_result' union all select n.id from work_items c join inbox n on n.source_work_item_id = c.id and n.kind = 'child_result' where c.parent_id = item.id)$q$, $q${"content": "'[erased]'"}$q$, null),
      ('compactions', 14, 'work_item_id = item.id', $q${"instructions": "case when t.instructions is not null then '[erased]' end", "error": "case when t.error is not null then '{\"message\": \"[erased]\"}'::jsonb end"}$q$, null),
      ('elisions', 15, f.condition, $q${"stubs": "'[{\"type\":\"text\",\"text\":\"[erased]\"}]'::json", "kept": "null::json", "standing": "null::json", "summary": "case when t.summary is not null then '[erased]' end"}$q$, null),
      ('messages', 16, t.condition, $q${"content": "'[{\"type\":\"text\",\"text\":\"[erased]\"}]'::json", "sent_content": "null::json", "context": "null::jsonb", "metadata": "case when t.metadata ->> 'kind' in ('task', 'digest', 'nudge', 'stall', 'message', 'child_result', 'agent_message') then jsonb_build_object('kind', t.metadata -> 'kind') end"}$q$, '{content,sent_content,context,metadata}'),
      ('tool_calls', 17, t.condition, $q${"input": "'{}'::json", "rewritten_input": "null::json", "result": "case when t.result is not null then '\"[erased]\"'::json end", "value": "null::json", "artifact_hash": "null::text"}$q$, '{input,rewritten_input,result,value,artifact_hash}'),
      ('work_ledger', 18, $q$work_item_id = item.id and $2 <> 'ledger'$q$, $q${"content": "'[erased]'", "data": "null::jsonb", "keep": "null::text[]"}$q$, '{content,data,keep}'),
      ('turns', 19, 'work_item_id = item.id', $q${"error": "case when t.error is not null then '{\"message\": \"[erased]\"}'::jsonb end", "workspace_path": "null::text"}$q$, '{error,workspace_path}'),
      ('foci', 20, 'work_item_id = item.id', $q${"error": "case when t.error is not null then '{\"message\": \"[erased]\"}'::jsonb end", "compaction_instructions": "null::text", "round_hash": "null::text"}$q$, null),
      ('sessions', 21, 'label in ' || s.list, $q${"task_description": "case when t.task_description is not null then '[erased]' end"}$q$, null),
      ('work_items', 22, $q$id = item.id and $2 <> 'ledger'$q$, $q${"description": "'[erased]'", "params": "'{}'::jsonb", "outcome_data": "case when t.outcome_data is not null then '{\"summary\": \"[erased]\"}'::jsonb end", "state_reason": "case when t.state_reason is not null then '[erased]' end", "dedup_key": "null::text", "workspace_dir": "null::text", "result_schema": "null::jsonb"}$q$, '{description,params,outcome_data}'),
      ('claims', 23, 'work_item_id = item.id', null, null),
      -- The row that says the entries exist goes first, since the entries are erased in portions.
      ('transcripts', 24, 'id in (select _transcripts_of(item.id))', $q${"summary": "null::text", "problem": "null::text", "deleted_at": "coalesce(t.deleted_at, _now())"}$q$, null),
      ('transcript_entries', 25, 'transcript_id in (select _transcripts_of(item.id))', null, null),
      ('memory_views', 26, 'work_item_id = item.id', null, null),
      ('followed_files', 28, 'work_item_id = item.id', null, null),
      -- What a note says today belongs to its project, not to the work that wrote it: see memory_erase().
      ('memory_versions', 27, $q$work_item_id = item.id and $2 <> 'ledger'$q$, $q${"content": "case when _memory_is_past(t) then (case when t.content is not null then '[erased]' end) else t.content end", "why": "case when not _memory_is_past(t) then t.why end", "erased_hash": "case when _memory_is_past(t) then _memory_words(t) else t.erased_hash end", "salt": "case when not _memory_is_past(t) then t.salt end"}$q$, null)
    ) as e(relation, n, of_item, becomes, hashed);
$$;

comment on function _erasable() is
  'The tables with words of a work item, in the order in which they are erased. of_item: a condition on row t, with the item in item.id, and what is kept in $2: nothing, ledger, or all (in an export). becomes: for each column with words, what takes their place; null: the rows go. hashed: the columns whose salted hash stays in erased_hash, in the order of _entry_hash() and the like. What is not named (ids, keys of callers, times, counts, states) stays.';

create or replace function _transcripts_of(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 2
begin atomic
  select t.id from transcripts t where t.work_item_id = p_work_item_id
   union
  select a.id
    from transcripts m
    join transcripts a on a.session_id = m.session_id and a.project_key = m.project_key
   where m.work_item_id = p_work_item_id and m.subpath = '';
end;

comment on function _transcripts_of(uuid) is 'The transcripts that go with a work item: those that were read into it, and with that of a session those of its subagents.';

create or replace function _memory_is_past(p_version memory_versions)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from memory_files f where f.id = p_version.file_id and (f.is_deleted or f.version > p_version.version));
$$;

comment on function _memory_is_past(memory_versions) is 'Whether a version is not what its note says today.';

create or replace function _erasable_set(p_relation text, p_becomes jsonb, p_hashed text[], p_joined_by text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case p_joined_by
           when 'or' then string_agg(format('t.%I::text is distinct from (%s)::text', c.key, c.value), ' or ' order by c.key)
           when '+' then string_agg(format('coalesce(octet_length(t.%I::text), 0)', c.key), ' + ' order by c.key)
           else string_agg(format('%I = %s', c.key, c.value), ', ' order by c.key)
             || coalesce(
                  ', erased_hash = coalesce(t.erased_hash, sha256(uuid_send(gone.salt)'
                    || (select string_agg(format(' || _sized(t.%I::text)', h.name), '' order by h.n) from unnest(p_hashed) with ordinality as h(name, n))
                    || '))', '')
         end
    from jsonb_each_text(p_becomes) c;
$$;

comment on function _erasable_set(text, jsonb, text[], text) is 'From the columns with words of a table: the list of an update ('',''), the condition that there is something to erase (or), or what it takes in bytes (+).';

create or replace function _erase_count(p_item_ids uuid[], p_keep text)
  returns table (relation text, row_count bigint, bytes bigint)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_e record;
begin
  for v_e in select * from _erasable() order by n loop
    relation := v_e.relation;
    -- Dynamic, since the tables with words are a list, and no other code has to know all of them. One statement for all items, since
    -- planning it costs more than it does for one.
    execute format(
        'select coalesce(sum(t.row_count), 0), coalesce(sum(t.bytes), 0) from unnest($1) as item(id) '
        'cross join lateral (select count(*) as row_count, sum(%s) as bytes from %I t where (%s) and (%s)) t',
        coalesce(_erasable_set(v_e.relation, v_e.becomes, v_e.hashed, '+'), 'pg_column_size(t.*)'), v_e.relation, v_e.of_item,
        coalesce(_erasable_set(v_e.relation, v_e.becomes, v_e.hashed, 'or'), 'true'))
       into row_count, bytes using p_item_ids, p_keep;
    return next;
  end loop;
  return query
    select 'artifacts', count(*), coalesce(sum(octet_length(a.content)), 0)
      from artifacts a
     where exists (select from artifact_uses u where u.content_hash = a.content_hash and u.work_item_id = any (p_item_ids))
       and not exists (select from artifact_uses u where u.content_hash = a.content_hash and u.work_item_id <> all (p_item_ids));
end
$$;

comment on function _erase_count(uuid[], text) is 'What erasing these work items would take from each table: rows, and bytes of words.';

create or replace function _erase_rows(p_item_ids uuid[], p_keep text, p_limit bigint default null)
  returns table (work_item_id uuid, row_count bigint)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_e record;
  v_salts uuid[] := array(select _salt(i.id) from unnest(p_item_ids) with ordinality as i(id, n) order by i.n);
  v_count bigint := 0;
begin
  for v_e in select * from _erasable() order by n loop
    -- Dynamic, and one statement for all items: see _erase_count().
    for work_item_id, row_count in execute format(
        'with gone as materialized ('
        'select item.id, item.salt, t.ctid from unnest($1, $4) as item(id, salt) '
        'cross join lateral (select t.ctid from %1$I t where (%2$s) and (%3$s) limit $3) t), '
        'erased as (%4$s where t.ctid = gone.ctid returning gone.id) '
        'select id, count(*) from erased group by id',
        v_e.relation, v_e.of_item,
        -- Rows without words get their hash as well: without the salt it could not be computed later.
        concat_ws(' or ', coalesce(_erasable_set(v_e.relation, v_e.becomes, v_e.hashed, 'or'), 'true'),
          case when v_e.hashed is not null then 't.erased_hash is null and item.salt is not null' end),
        case
          when v_e.becomes is null then format('delete from %I t using gone', v_e.relation)
          else format('update %I t set %s from gone', v_e.relation, _erasable_set(v_e.relation, v_e.becomes, v_e.hashed, ','))
        end) using p_item_ids, p_keep, p_limit - v_count, v_salts
    loop
      v_count := v_count + row_count;
      return next;
    end loop;
    exit when v_count >= p_limit;
  end loop;
  if p_limit is null or v_count < p_limit then
    return query select u.work_item_id, u.row_count from _artifacts_unuse(p_item_ids, p_limit - v_count) u;
  end if;
end
$$;

comment on function _erase_rows(uuid[], text, bigint) is
  'Erases all rows of these work items, or of one item at most p_limit. Returns how many, in one or more rows for an item; fewer than p_limit: none is left.';

create or replace function _artifacts_unuse(p_item_ids uuid[], p_limit bigint)
  returns table (work_item_id uuid, row_count bigint)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hashes text[];
  v_ids uuid[];
begin
  with gone as (
    delete from artifact_uses t
     where t.ctid = any (array(select u.ctid from artifact_uses u where u.work_item_id = any (p_item_ids) limit p_limit))
    returning t.content_hash, t.work_item_id
  )
  select array_agg(g.content_hash), array_agg(g.work_item_id) into v_hashes, v_ids from gone g;
  perform _artifacts_collect(v_hashes);
  return query select i.id, count(*) from unnest(v_ids) as i(id) group by i.id;
end
$$;

comment on function _artifacts_unuse(uuid[], bigint) is
  'Forgets at most p_limit artifacts that work items use (null: all), removes those that nothing else uses, and returns how many it forgot of each.';

create or replace function _artifacts_collect(p_hashes text[])
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hashes text[];
  v_count bigint;
begin
  -- Locks first: a transaction that begins to use one now waits, and stores it again; one that has already begun holds the lock.
  v_hashes := array(select content_hash from artifacts where content_hash = any (p_hashes) order by 1 for update skip locked);
  delete from artifacts a
   where a.content_hash = any (v_hashes)
     and not exists (select from artifact_uses u where u.content_hash = a.content_hash)
     and not exists (select from tool_calls k where k.artifact_hash = a.content_hash);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function _artifacts_collect(text[]) is 'Removes those of these artifacts that nothing uses, and returns how many.';
