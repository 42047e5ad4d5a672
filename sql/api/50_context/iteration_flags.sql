-- Everything that may be due around a request, in one read. Deciding functions get the flags as an argument, and query further only if a flag says so.

create or replace function _iteration_flags(p_item work_items, p_focus foci, p_config jsonb, p_turn turns default null)
  returns iteration_flags
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_last turns := p_turn;
  v_head turns := p_turn;
  v_projects text[] := _awareness_projects(p_item.project, p_config #>> '{awareness,scope}');
  v_flags iteration_flags;
begin
  if p_turn.id is null then
    select t.* into v_last from sessions s join turns t on t.id = s.head_turn_id where s.label = p_focus.session_label;
    v_head := case v_last.turn_type when 'compaction' then _asking_turn(v_last.id) else v_last end;
  end if;
  select v_last, v_head, o.head_turn_id is not distinct from v_last.id,
         _is_watched(e.watch_ends_at),
         (exists (select from budgets) or exists (select from daily_budgets)) and _resources_limited(p_item.id) <> '{}',
         exists (select from models m
                  where m.name in (p_config #>> '{engage,model}', (select c.model from turn_configs c where c.content_hash = v_head.config_hash))
                    and m.cooldown_ends_at is not null),
         exists (select from inbox i where i.work_item_id = p_item.id and i.consumed_at is null),
         exists (select from turns t where t.parent_turn_id = v_last.id),
         (select max(r.created_at) from work_ledger r where r.retracts is not null),
         -- Each write of a row changes its place or its writer.
         (select md5(work_ledger_build() || string_agg(a.xmin::text || a.ctid::text, ' ' order by a.name)) from abilities a),
         coalesce((
           select t.iteration
             from (select l.turn_id from work_ledger l where l.work_item_id = p_item.id and l.focus_id = p_focus.id order by l.seq desc limit 1) l
             join turns t on t.id = l.turn_id), 0),
         c.calls, c.open, c.waiting, c.done,
         (select h.id from hook_runs h where h.focus_id = v_head.focus_id and h.turn_id = v_head.id and h.hook = 'check' and h.status = 'failed'),
         -- News are entries by others, and work that began or ended. Items that share a directory of the host may also have touched files.
         m.mark is distinct from n.mark
         or p_config #>> '{engage,workspace}' = 'host'
            and exists (select from work_items w
                         where coalesce(w.project, '') = any (v_projects) and (w.parent_id is null) = any ('{true,false}') and w.state = 'running'
                           and w.state in ('created', 'queued', 'running', 'waiting', 'paused', 'completed') and w.id <> p_item.id),
         case when c.open = 0 and c.waiting = 0 then b.boundary end, x
    into v_flags
    from fences e
   cross join lateral (
     -- Since it was last told everything: a digest of news may have left some out, or its request may have been given up.
     select coalesce(d.news_since_at, coalesce(d.created_at, p_focus.created_at) - interval '1 minute') as since, coalesce(d.news_mark, '') as mark
       from (select) o
       left join lateral (
         select * from awareness_digests d where d.focus_id = p_focus.id and (d.entries = 0 or not d.is_delta) order by d.iteration desc limit 1) d on true
     offset 0) n
   cross join lateral _news_mark(p_item.id, v_projects, n.since) m
    left join sessions o on o.label = p_focus.session_label
   cross join lateral (
     select count(*) as calls, count(*) filter (where k.parent_call_id is null and k.completed_at is null and k.status <> 'waiting') as open,
            count(*) filter (where k.status = 'waiting') as waiting,
            (array_agg(k.id order by k.ordinal) filter (where k.tool_name = 'work_complete' and k.status = 'completed'))[1] as done
       from tool_calls k
      where k.turn_id = v_head.id) c
    left join lateral _boundaries(v_head.id, v_head.work_item_id) b on true
    left join lateral _exchange(v_head.id) x on v_head.id is not null and c.open = 0 and c.waiting = 0
   where e.work_item_id = p_item.id;
  return v_flags;
end
$$;

comment on function _iteration_flags(work_items, foci, jsonb, turns) is
  'What is due for a focus after a turn (null: after the newest of its session), as of now. The caller holds the item''s fence, so only what belongs to others can change meanwhile: a cooldown, a budget, retractions; the next read shows those.';
