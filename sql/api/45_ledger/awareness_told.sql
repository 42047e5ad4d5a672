-- The entries of a digest that come from the ledgers of others: decisions, findings and errors.

create or replace function _awareness_told(
    p_work_item_id uuid, p_projects text[], p_but uuid[], p_settings jsonb, p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_own integer := coalesce(array_position(p_projects, ''), 1);
  v_is_child boolean[] := case when (p_settings ->> 'include_child_work')::boolean then '{false,true}' else '{false}' end;
  v_query tsquery := case when p_settings ->> 'rank_by' = 'relevance' then _relevance_query(p_work_item_id) end;
  v_decisions integer := p_settings ->> 'max_recent_decisions';
  v_findings integer := p_settings ->> 'max_recent_findings';
  v_errors integer := p_settings ->> 'max_recent_errors';
  v_root uuid := (select w.root_id from work_items w where w.id = p_work_item_id and (w.parent_id is not null or p_but <> array[w.id]));
  v_files text[] := _files_lately(p_work_item_id);
  v_has_near boolean := v_root is not null or v_files <> '{}';
begin
  return query
    select e.section, e.n, '- ' || t.line, t.source, t.age, null, e.work_item_id, e.seq, ''
      from (select r.*, row_number() over (partition by r.section order by r.is_far, r.rank desc, r.nearness desc, r.created_at desc, r.seq desc) as n
              from (select k.section, k.most, p.n > v_own as is_far, l.*,
                           case when v_query is null or k.section = 6 then 0 else ts_rank_cd(to_tsvector('english', l.content), v_query) end as rank,
                           case when k.section = 7 and v_has_near and p.n <= v_own then _nearness(l.work_item_id, v_root, v_files) else 0 end as nearness,
                           row_number() over (partition by k.section, l.work_item_id order by l.seq desc) as newer
                      -- Candidates are read first and then ranked. Only the newest decision of an item is told, or none if that one was told before.
                      from (values (6, 'decision', v_decisions, 5 * least(v_decisions, 1000), null),
                                   (7, 'finding', v_findings, case when v_query is null then v_findings when v_findings > 0 then 200 else 0 end, p_focus_id),
                                   (8, 'error', v_errors, case when v_query is null then v_errors when v_errors > 0 then 200 else 0 end, p_focus_id)
                           ) k(section, entry_type, most, read, focus_id)
                     cross join unnest(p_projects) with ordinality p(project, n)
                     cross join unnest(v_is_child) c(is_child)
                     cross join lateral _entries_of(
                       p.project, c.is_child, k.entry_type, p_but, k.focus_id, p_since,
                       case when k.section = 7 and v_has_near and p.n <= v_own then 3 * least(k.read, 1000) else k.read end) l) r
             where r.section <> 6
                or r.newer = 1
                   and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = r.work_item_id and a.seq = r.seq)) e
     cross join lateral _told_entry(e.work_item_id, e.content, e.created_at, e.trust, e.tool_call_id) t
     where e.n <= e.most;
end
$$;

comment on function _awareness_told(uuid, text[], uuid[], jsonb, uuid, timestamptz) is
  'The digest''s sections on decisions (the newest of each item), findings and errors that others of projects (see _awareness_projects()), but some, recorded after p_since and of which the focus was not told yet. The newest first; of three times as many findings those of the item''s tree, then of work that had to do with the same files; with rank_by = "relevance", before that findings and errors that share most words with the item''s description. Those of other projects last. Columns as in _awareness_entries().';

create or replace function _files_lately(p_work_item_id uuid)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(
    select x.target
      from (select k.id, k.created_at from tool_calls k where k.work_item_id = p_work_item_id order by k.created_at desc limit 50) k
      join touches x on x.tool_call_id = k.id and x.kind = 'path' and x.action <> 'search'
     group by x.target
     order by max(k.created_at) desc, x.target
     limit 20);
$$;

comment on function _files_lately(uuid) is 'Up to 20 files that the newest 50 calls of a work item touched, as calls name them, newest first.';

create or replace function _nearness(p_work_item_id uuid, p_root_id uuid, p_files text[])
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when w.root_id = p_root_id then 2
           when exists (select from touches x where x.work_item_id = w.id and x.kind = 'path' and x.target = any (p_files)) then 1
           else 0 end
    from work_items w
   where w.id = p_work_item_id;
$$;

comment on function _nearness(uuid, uuid, text[]) is 'How near work is to a reader that belongs to a tree and touched these files: 2 in the same tree, 1 with one of the files, else 0.';

create or replace function _entries_of(
    p_project text, p_is_child boolean, p_entry_type text, p_but uuid[], p_focus_id uuid, p_since timestamptz, p_max integer)
  returns table (content text, created_at timestamptz, seq integer, work_item_id uuid, trust text, tool_call_id uuid)
  language sql
  stable
  rows 10
begin atomic
  select l.content, l.created_at, l.seq, l.work_item_id, l.trust, l.tool_call_id
    from work_ledger l
   where coalesce(l.project, '') = p_project and l.is_child_work = p_is_child and l.entry_type = p_entry_type
     and l.entry_type in ('decision', 'finding', 'error') and not l.is_inherited and l.content <> '[erased]'
     and l.created_at > p_since and l.work_item_id <> all (p_but)
     and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = l.work_item_id and a.seq = l.seq)
     and not exists (select from work_ledger r where r.work_item_id = l.work_item_id and r.retracts = l.seq)
   order by l.created_at desc
   limit p_max;
end;

comment on function _entries_of(text, boolean, text, uuid[], uuid, timestamptz, integer) is
  'The newest ledger entries of a type in a project, but those of some work items, of which a focus was not told yet. Inlined, as _items_of() is.';

create or replace function _relevance_query(p_work_item_id uuid)
  returns tsquery
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(quote_literal(u.lexeme), ' | ')::tsquery
    from work_items w
    cross join lateral unnest(to_tsvector('english', left(w.description, 20000))) as u
   where w.id = p_work_item_id;
$$;

comment on function _relevance_query(uuid) is 'A query for any word of a work item''s description; null: it has none.';
