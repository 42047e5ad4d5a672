-- Three queries, each on a partial index of its own and capped, so that what a digest costs does not grow with the ledger.

create or replace function awareness_digest(p_work_item_id uuid default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_now timestamptz := _now();
  v_item work_items;
  v_settings jsonb := _faculty_defaults() -> 'awareness';
  v_since timestamptz;
  v_children boolean;
  v_active text;
  v_completed text;
  v_findings text;
begin
  if p_work_item_id is not null then
    select * into v_item from work_items where id = p_work_item_id;
    if not found then
      perform _raise_not_found('work item', p_work_item_id);
    end if;
    select coalesce(
        (select f.config from foci o join faculties f on f.content_hash = o.faculty_hash where o.id = v_item.focus_id),
        (_faculty_for(v_item.faculty, v_item.work_type)).config) -> 'awareness'
      into v_settings;
    v_settings := coalesce(v_settings, _faculty_defaults() -> 'awareness');
  end if;
  v_since := v_now - make_interval(hours => least((v_settings ->> 'lookback_hours')::numeric, 876000)::integer);
  v_children := (v_settings ->> 'include_child_work')::boolean;

  select string_agg(format('- [%s] %s', _source_label(w.id, w.faculty, w.work_type), _one_line(w.description, 240))
           || coalesce(E'\n  Plan: ' || _one_line(w.plan, 240), ''), E'\n' order by w.created_at desc, w.id desc)
    into v_active
    from (select i.*,
                 (select l.content from work_ledger l where l.work_item_id = i.id and l.entry_type = 'plan' order by l.seq desc limit 1) as plan
            from work_items i
           where i.state = 'running' and i.id is distinct from p_work_item_id and (v_children or i.parent_id is null)
           order by i.created_at desc, i.id desc
           limit (v_settings ->> 'max_running')::integer) w;

  select string_agg(format('- [%s] %s (%s)', _source_label(w.id, w.faculty, w.work_type), _one_line(w.description, 240), _ago(w.resolved_at, v_now))
           || coalesce(E'\n  Outcome: ' || _one_line(w.outcome_data ->> 'summary', 240), ''), E'\n' order by w.resolved_at desc, w.id desc)
    into v_completed
    from (select *
            from work_items
           where state = 'completed' and resolved_at > v_since and id is distinct from p_work_item_id
             and (v_children or parent_id is null)
           order by resolved_at desc, id desc
           limit (v_settings ->> 'max_recent_completed')::integer) w;

  select string_agg(format('- %s (%s)', _one_line(e.content, 240),
           case e.state when 'running' then _faculty_label(e.work_item_id, e.faculty) || ', in progress'
                        else _source_label(e.work_item_id, e.faculty, e.work_type) || ', ' || _ago(e.created_at, v_now) end), E'\n' order by e.created_at desc, e.seq desc)
    into v_findings
    from (select l.content, l.created_at, l.seq, l.work_item_id, i.state, i.faculty, i.work_type
            from work_ledger l
            join work_items i on i.id = l.work_item_id
           where l.entry_type = 'finding' and l.created_at > v_since and l.work_item_id is distinct from p_work_item_id
             and (v_children or i.parent_id is null)
           order by l.created_at desc
           limit (v_settings ->> 'max_recent_findings')::integer) e;

  return concat_ws(E'\n\n', '== AWARENESS ==',
    E'Currently active:\n' || v_active,
    E'Recently completed:\n' || v_completed,
    E'Recent findings:\n' || v_findings,
    case when coalesce(v_active, v_completed, v_findings) is null then 'Nothing else is active, and nothing was completed or found lately.' end);
end
$$;

comment on function awareness_digest(uuid) is
  'What else is going on, for the agent of this work item: other items that run, with their plans; those completed lately, with their outcomes; findings of other agents. Caps and lookback are those of the item''s faculty ([faculty.awareness]; default 10, 20, 20 and 24 hours; child items only with include_child_work). Its own entries are not in it. Every entry is one line of at most 240 characters. Without an item: for an onlooker. Raises WL001.';

create or replace function _faculty_label(p_work_item_id uuid, p_faculty text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when n.name ~ '[A-Z]' then n.name else initcap(translate(n.name, '-_', '  ')) end
    from (select coalesce(
            (select f.faculty from foci f where f.work_item_id = p_work_item_id order by f.attempt desc limit 1),
            p_faculty) as name) n;
$$;

comment on function _faculty_label(uuid, text) is 'The faculty that works or worked on an item (else the one asked for), as people write it: computer-use is Computer Use. Null where none did.';

create or replace function _source_label(p_work_item_id uuid, p_faculty text, p_work_type text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws('/', _faculty_label(p_work_item_id, p_faculty), _one_line(p_work_type, 60));
$$;

comment on function _source_label(uuid, text, text) is 'Where an entry comes from, for a digest: faculty/work type.';
