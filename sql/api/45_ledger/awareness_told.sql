-- What a digest tells of the ledgers of others: decisions, findings and errors.

create or replace function _awareness_told(p_work_item_id uuid, p_but uuid[], p_settings jsonb, p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_children boolean := p_settings ->> 'include_child_work';
  v_query tsquery := case when p_settings ->> 'rank_by' = 'relevance' then _relevance_query(p_work_item_id) end;
  v_decisions integer := p_settings ->> 'max_recent_decisions';
  v_findings integer := p_settings ->> 'max_recent_findings';
  v_errors integer := p_settings ->> 'max_recent_errors';
  -- What ranks is read before it is ranked. Of the decisions of one item the newest is told, or none, if that was told before.
  v_decisions_read integer := 5 * least(v_decisions, 1000);
  v_findings_read integer := case when v_query is null then v_findings when v_findings > 0 then 200 else 0 end;
  v_errors_read integer := case when v_query is null then v_errors when v_errors > 0 then 200 else 0 end;
begin
  return query
    select e.section, e.n, '- ' || t.line, t.source, t.age, null, e.work_item_id, e.seq, ''
      from (select r.*, row_number() over (partition by r.section order by r.rank desc, r.created_at desc, r.seq desc) as n
              from (select f.*, case when v_query is null or f.section = 6 then 0 else ts_rank_cd(to_tsvector('english', f.content), v_query) end as rank,
                           row_number() over (partition by f.section, f.work_item_id order by f.seq desc) as newer
                      from (select 6 as section, l.*
                              from _entries_of('decision', true, p_but, null, p_since, v_decisions_read) l where not v_children
                            union all
                            select 6, l.* from _entries_of('decision', false, p_but, null, p_since, v_decisions_read) l where v_children
                            union all
                            select 7, l.* from _entries_of('finding', true, p_but, p_focus_id, p_since, v_findings_read) l where not v_children
                            union all
                            select 7, l.* from _entries_of('finding', false, p_but, p_focus_id, p_since, v_findings_read) l where v_children
                            union all
                            select 8, l.* from _entries_of('error', true, p_but, p_focus_id, p_since, v_errors_read) l where not v_children
                            union all
                            select 8, l.* from _entries_of('error', false, p_but, p_focus_id, p_since, v_errors_read) l where v_children) f) r
             where r.section <> 6
                or r.newer = 1
                   and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = r.work_item_id and a.seq = r.seq)) e
     cross join lateral _told_entry(e.work_item_id, e.content, e.created_at, e.trust, e.tool_call_id) t
     where e.n <= case e.section when 6 then v_decisions when 7 then v_findings else v_errors end;
end
$$;

comment on function _awareness_told(uuid, uuid[], jsonb, uuid, timestamptz) is
  'The digest''s sections on decisions (the newest of each item), findings and errors that others, but some, recorded after p_since and of which the focus was not told yet; the newest first or, with rank_by = "relevance", findings and errors that share most words with the item''s description. Columns as in _awareness_entries().';

create or replace function _entries_of(p_entry_type text, p_is_root boolean, p_but uuid[], p_focus_id uuid, p_since timestamptz, p_max integer)
  returns table (content text, created_at timestamptz, seq integer, work_item_id uuid, trust text, tool_call_id uuid)
  language sql
  stable
  rows 10
begin atomic
  select l.content, l.created_at, l.seq, l.work_item_id, l.trust, l.tool_call_id
    from work_ledger l
   where l.entry_type = p_entry_type and not (p_is_root and l.is_child_work) and not l.is_inherited
     and l.created_at > p_since and l.work_item_id <> all (p_but)
     and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = l.work_item_id and a.seq = l.seq)
     and not exists (select from work_ledger r where r.work_item_id = l.work_item_id and r.retracts = l.seq)
   order by l.created_at desc
   limit p_max;
end;

comment on function _entries_of(text, boolean, uuid[], uuid, timestamptz, integer) is
  'The newest ledger entries of a type, but those of some work items, of which a focus was not told yet. Inlined, as _items_of() is.';

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
