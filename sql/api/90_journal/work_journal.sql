-- Reads the journal. Also has functions that its view (95_views/journal_views.sql) uses.

create or replace function journal_read(
    p_work_item_id uuid,
    p_since timestamptz default '-infinity',
    p_limit integer default null,
    p_importance text[] default null)
  returns table (id text, session_id uuid, sequence_num bigint, entry_type text, created_at timestamptz, content jsonb, token_estimate integer, importance text)
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_began_at timestamptz := (select w.created_at from work_items w where w.id = p_work_item_id);
  v_model text := _item_model(p_work_item_id);
begin
  if v_began_at is null then
    perform _raise_not_found('work item', p_work_item_id);
  elsif p_since is null or p_limit < 0 then
    perform _raise_invalid('p_since must not be null, and p_limit not negative');
  end if;
  return query
    select j.id, j.work_item_id, (extract(epoch from j.created_at - v_began_at) * 1000000)::bigint * 16 + floor(j.rank)::integer,
           j.entry_type, j.created_at, j.content,
           _tokens(char_length(j.content::text), v_model), j.importance
      from work_journal j
     where j.work_item_id = p_work_item_id and j.created_at >= p_since
       and j.created_at <= _journal_until(p_work_item_id, p_since, case when p_importance is null then p_limit end)
       and (p_importance is null or j.importance = any (p_importance))
     order by j.created_at, j.rank, j.id
     limit p_limit;
end
$$;

comment on function journal_read(uuid, timestamptz, integer, text[]) is
  'The journal of a work item, in order. p_since: only entries from this time on. p_limit: only the first ones. p_importance: only entries of these importances (low, normal, high, critical). Only the requested part is read, however long the journal is. sequence_num grows with time, with gaps; id never changes. An entry older than p_since may appear later, if its transaction commits later. Raises WL001, WL002.';

create or replace function journal_export(p_work_item_id uuid)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set timezone = 'UTC'
as $$
  select jsonb_build_object(
    'session', (
      select jsonb_build_object(
               'id', s.id, 'conversationId', s.conversation_id, 'originalPrompt', s.original_prompt, 'status', s.status,
               'createdAt', _ms(s.created_at), 'updatedAt', _ms(s.updated_at), 'completedAt', _ms(s.completed_at),
               'tokenEstimate', s.token_estimate, 'entryCount', s.entry_count)
        from work_sessions s
       where s.id = p_work_item_id),
    'entries', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'id', j.id, 'sessionId', j.session_id, 'sequenceNum', j.sequence_num, 'entryType', j.entry_type,
               'timestamp', _ms(j.created_at), 'content', j.content, 'tokenEstimate', j.token_estimate, 'importance', j.importance)
               order by j.created_at, j.sequence_num, j.id), '[]')
        from journal_read(p_work_item_id) j),
    'checkpoints', (select coalesce(jsonb_agg(to_jsonb(c) order by c.created_at), '[]') from work_checkpoints c where c.work_item_id = p_work_item_id),
    'rows', (
      select jsonb_object_agg(e.relation, e.rows)
        from (select relation, jsonb_agg("row") as rows from work_export(p_work_item_id) group by relation) e));
$$;

comment on function journal_export(uuid) is 'A session as one JSON document: {session, entries, checkpoints, rows: {table: [row]}}. rows contains everything that is stored about it and everything below it, see work_export(), which has no size limit; a document of more than about 200 MB cannot be made. Raises WL001.';

create or replace function _journal_until(p_work_item_id uuid, p_since timestamptz, p_limit integer)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Each of these rows is an entry, so the first p_limit entries are not later than the p_limit-th row of any kind.
  select case when p_limit is null then 'infinity' else least(
    'infinity',
    (select k.created_at
       from tool_calls k
      where k.work_item_id = p_work_item_id and k.created_at >= p_since and k.tool_name <> 'ledger_append'
      order by k.created_at offset greatest(p_limit - 1, 0)
      limit 1),
    (select l.created_at
       from work_ledger l
      where l.work_item_id = p_work_item_id and l.created_at >= p_since
      order by l.created_at offset greatest(p_limit - 1, 0)
      limit 1),
    (select j.created_at
       from journal_entries j
      where j.work_item_id = p_work_item_id and j.created_at >= p_since and j.deleted_at is null
      order by j.created_at offset greatest(p_limit - 1, 0)
      limit 1)) end;
$$;

comment on function _journal_until(uuid, timestamptz, integer) is 'A time until which a journal has at least p_limit entries from p_since on; infinity: without a limit, or it has fewer.';

create or replace function _item_model(p_work_item_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    (select c.config #>> '{engage,model}'
       from foci f
       join faculties c on c.content_hash = f.faculty_hash
      where f.work_item_id = p_work_item_id
      order by f.attempt desc
      limit 1),
    (select params ->> 'selectedModel' from work_items where id = p_work_item_id), 'claude-sonnet-5-5');
$$;

comment on function _item_model(uuid) is 'The model whose ratio is used to estimate the tokens of a work item''s journal and packet: that of its newest attempt, else the one named in params.selectedModel, else the default.';

create or replace function _journal_size(p_work_item_id uuid, p_from timestamptz, p_to timestamptz default 'infinity', out entries integer, out tokens bigint)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_chars bigint;
begin
  select count(*), coalesce(sum(char_length(j.content::text)), 0)
    into entries, v_chars
    from _journal_logged j
   where j.work_item_id = p_work_item_id and j.created_at >= p_from and j.created_at < p_to;
  if _was_worked_on(p_work_item_id) then -- otherwise it is not even planned
    select entries + count(*), v_chars + coalesce(sum(char_length(j.content::text)), 0)
      into entries, v_chars
      from _journal_done j
     where j.work_item_id = p_work_item_id and j.created_at >= p_from and j.created_at < p_to;
  end if;
  tokens := coalesce(_tokens(v_chars, _item_model(p_work_item_id)), 0);
end
$$;

comment on function _journal_size(uuid, timestamptz, timestamptz) is 'How many entries a journal has between two times, and their estimated tokens.';
