-- The journal page by page, newest first, for people who scroll. The cost of a page does not grow with the journal.

create or replace function journal_page(
    p_work_item_id uuid,
    p_before text default null,
    p_limit integer default 60,
    p_types text[] default null,
    p_importance text[] default null,
    p_query text default null)
  returns table (
    "position" text, id text, source_id uuid, entry_type text, importance text, created_at timestamptz, content jsonb, token_estimate integer)
  language plpgsql
  stable
  rows 60
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_model text := _item_model(p_work_item_id);
  v_query text := lower(btrim(to_json(nullif(p_query, ''))::text, '"')); -- as written inside JSON
  v_before record := _journal_place(p_before);
  v_to timestamptz := v_before.at;
  v_from timestamptz;
  v_window integer;
  v_read integer := 0;
  v_rows integer;
  v_left integer := p_limit;
begin
  perform _check_page(p_limit, 500);
  perform _check_word('a type of journal entry', t, array(select jsonb_object_keys(_journal_keys()))) from unnest(p_types) t;
  perform _check_word('an importance', i, '{low,normal,high,critical}') from unnest(p_importance) i;
  if not exists (select from work_items w where w.id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  v_window := p_limit;
  loop
    v_from := _journal_since(p_work_item_id, v_to, v_window);
    return query
      select _journal_position(j.created_at, j.rank, j.id), j.id, j.source_id, j.entry_type, j.importance, j.created_at, j.content,
             _tokens(char_length(j.content::text), v_model)
        from work_journal j
       where j.work_item_id = p_work_item_id and j.created_at >= v_from and j.created_at <= v_to
         and (j.created_at, j.rank, j.id) < (v_before.at, v_before.rank, v_before.id)
         and (p_types is null or j.entry_type = any (p_types))
         and (p_importance is null or j.importance = any (p_importance))
         and (v_query is null or strpos(lower(jsonb_path_query_array(j.content, 'strict $.** ? (@.type() == "string")')::text), v_query) > 0)
       order by j.created_at desc, j.rank desc, j.id desc
       limit v_left;
    get diagnostics v_rows = row_count;
    v_left := v_left - v_rows;
    v_read := v_read + v_window;
    exit when v_left = 0 or v_from = '-infinity';
    v_before := _journal_place(_journal_position(v_from, -1, ''));
    if v_read >= 2000 then
      "position" := _journal_position(v_from, -1, '');
      id := null;
      return next;
      exit;
    end if;
    v_to := v_from;
    v_window := least(v_window * 4, 1000);
  end loop;
end
$$;

comment on function journal_page(uuid, text, integer, text[], text[], text) is
  'A page of a work item''s journal, newest first: select * from journal_page(''…''), then journal_page(''…'', p_before => the last row''s position). p_limit: 1 to 500 entries. p_types, p_importance: only these. p_query: only entries that contain this text, ignoring case. A call reads only the newest few thousand entries before p_before, however long the journal is. If they do not fill the page, its last row has a position and nothing else, and the next call continues from there. A page that is not full and has no such row is the last one. position: where an entry is in the journal, for p_before only. source_id: the row that the entry is made from. token_estimate: tokens. Raises WL001, WL002.';

create or replace function _journal_position(p_at timestamptz, p_rank numeric, p_id text)
  returns text
  language sql
  immutable
  parallel safe
  return (extract(epoch from p_at) * 1000000)::bigint || '/' || trunc(p_rank * 1000) || '/' || p_id;

comment on function _journal_position(timestamptz, numeric, text) is 'The place of a journal entry in its order (created_at, rank, id), as text.';

create or replace function _journal_place(p_position text, out at timestamptz, out rank numeric, out id text)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parts text[] := regexp_match(p_position, '^(\d{1,18})/(-?\d{1,7})/(.{0,200})$');
begin
  if p_position is null then
    at := 'infinity';
    rank := 0;
    id := '';
    return;
  elsif v_parts is null or v_parts[1]::bigint > 253402300799000000 then
    perform _raise_invalid(format('"%s" is not the position of an entry', _one_line(p_position, 60)),
      'Pass the position of the last row of the page before, or null.');
  end if;
  at := timestamptz 'epoch' + v_parts[1]::bigint * interval '1 microsecond';
  rank := v_parts[2]::numeric / 1000;
  id := v_parts[3];
end
$$;

comment on function _journal_place(text) is 'The values from which _journal_position() made a text; for null, the end of every journal. Raises WL002.';

create or replace function _journal_since(p_work_item_id uuid, p_to timestamptz, p_count integer)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(greatest(
    (select k.created_at from tool_calls k
      where k.work_item_id = p_work_item_id and k.created_at < p_to
      order by k.created_at desc offset p_count - 1 limit 1),
    (select t.completed_at from turns t
      where t.work_item_id = p_work_item_id and t.completed_at < p_to
      order by t.completed_at desc offset p_count - 1 limit 1),
    (select l.created_at from work_ledger l
      where l.work_item_id = p_work_item_id and l.created_at < p_to
      order by l.created_at desc offset p_count - 1 limit 1),
    (select j.created_at from journal_entries j
      where j.work_item_id = p_work_item_id and j.created_at < p_to
      order by j.created_at desc offset p_count - 1 limit 1)), '-infinity');
$$;

comment on function _journal_since(uuid, timestamptz, integer) is 'The time from which a journal has about p_count entries before p_to; -infinity: it has fewer. Reads at most that many rows of four tables.';
