-- Facts about an agent's progress, derived from its calls: which files were changed and what still fails. A cut stores them as of the end of its
-- last turn, so that the next cut reads only the turns since.

create or replace function _facts_at(p_turn_id uuid)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_head turns;
  v_cut elisions;
begin
  if p_turn_id is null then
    return null;
  end if;
  v_head := _asking_turn(p_turn_id);
  select * into v_cut from elisions where id = (select elision_id from turns where id = p_turn_id) and standing is not null;
  return _facts_after(_facts_before(v_cut, _shown_turns(v_head, v_cut)), array(select t.id from unnest(_shown_turns(v_head, v_cut)) t));
end
$$;

comment on function _facts_at(uuid) is 'What files were changed and what fails when a turn has ended: see _facts_after().';

create or replace function _facts_before(p_cut elisions, p_shown turns[])
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
  v_is_afresh boolean;
begin
  if p_cut.standing is not null then
    return p_cut.standing::jsonb - 'text';
  elsif p_cut.id is not null then
    -- Made by a version that did not store facts, or for an imported session.
    return _facts_at(p_cut.last_turn_id);
  end if;
  select * into v_focus from foci where id = (p_shown[1]).focus_id;
  select w.ledger_epoch > 0 and not exists (
           select from work_ledger l where l.work_item_id = w.id and l.seq > w.ledger_epoch and l.attempt < v_focus.attempt)
    into v_is_afresh from work_items w where w.id = v_focus.work_item_id;
  return case when not v_is_afresh and _faculty_config(v_focus) #>> '{recover,mode}' is distinct from 'fresh' then _facts_at(_earlier_head(v_focus.id)) end;
end
$$;

comment on function _facts_before(elisions, turns[]) is 'The facts before the turns that are shown after a cut: those of the cut or, without one, of the attempt before, unless this one starts afresh.';

create or replace function _facts_after(p_before jsonb, p_turn_ids uuid[])
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with call as (
    -- Not the whole rows: keeping a row would read its result, however long.
    select k.id, k.tool_name, k.status, k.is_error, row_number() over (order by u.n, k.parent_call_id is not null, k.ordinal) as n
      from unnest(p_turn_ids) with ordinality as u(turn_id, n)
      join tool_calls k on k.turn_id = u.turn_id and k.completed_at is not null
  ), touch as (
    select x.target, count(*) as times, max(c.n) as n, (array_agg(x.action order by c.n desc))[1] = 'delete' as is_deleted
      from call c join touches x on x.tool_call_id = c.id and x.kind = 'path' and x.action in ('create', 'modify', 'delete')
     where c.status in ('completed', 'uncertain')
     group by x.target
  ), changed as (
    select coalesce(t.target, b.value ->> 0) as target, coalesce(t.times, 0) + coalesce((b.value ->> 1)::integer, 0) as times,
           coalesce(t.is_deleted, (b.value ->> 2)::boolean) as is_deleted, t.n, b.n as before
      from touch t full join jsonb_array_elements(p_before -> 'changed') with ordinality as b(value, n) on b.value ->> 0 = t.target
     order by t.n desc nulls last, b.n desc
     limit 200
  ), run as (
    -- The newest run of each command; a run that the engine rejected or stopped does not count.
    select distinct on (r.label) r.label, r.is_error, r.n, case when r.is_error then r.said end as said
      from (select _call_label(k) as label, c.is_error, c.n, _result_text(k.result) as said
              from call c
              join tool_calls k on k.id = c.id
             where c.tool_name not in ('ledger_append', 'ledger_read', 'recall_block', 'artifact_read', 'execute_code')
               and not _only_looks(k)
               -- Computing a label costs more than checking whether anything fails or failed.
               and (p_before ? 'failing' or exists (select from call e where e.is_error is not false))) r
     where not r.is_error
        or coalesce(r.said, '') !~ '^\[(engine|claim)\] (Not executed|Stopped|There is no tool|This worker does not have|The input does not match)'
     order by r.label, r.n desc
  ), failing as (
    select coalesce(r.label || coalesce(' (exit ' || _exit_code(r.said) || ')', ''), b.value ->> 0) as label,
           case when r.label is null then b.value ->> 1 else _last_line(r.said) end as words, coalesce(r.label, b.value ->> 2) as command, r.n, b.n as before
      from run r full join jsonb_array_elements(p_before -> 'failing') with ordinality as b(value, n) on b.value ->> 2 = r.label
     where r.is_error is not false
     order by r.n desc nulls last, b.n desc
     limit 30
  )
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'changed', (select jsonb_agg(jsonb_build_array(c.target, c.times, c.is_deleted) order by c.n nulls first, c.before) from changed c),
    'failing', (select jsonb_agg(jsonb_build_array(f.label, f.words, f.command) order by f.n nulls first, f.before) from failing f))), '{}');
$$;

comment on function _facts_after(jsonb, uuid[]) is
  'The facts after some turns, oldest first, given those before: {changed: [[path, times, is_deleted]], failing: [[what, last words, command]]}, each the oldest first; at most the newest 200 files and 30 commands. Null: none.';

create or replace function _only_looks(p_call tool_calls)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Quoted text and redirected errors do not matter; anything else that writes a file or runs another command is more than a look.
  select coalesce(
    regexp_replace(_command_of(p_call.input), '''[^'']*''|"[^"]*"|\d?>(&\d|\s*/dev/null)', ' ', 'g') ~ concat(
      '^\s*(cd\s+[^;&|<>]+&&)?', l.look, '(\|', l.look, ')*$'),
    (select bool_and(x.action in ('read', 'search')) from touches x where x.tool_call_id = p_call.id), false)
    from (values ('\s*(grep|egrep|rg|ag|ls|cat|bat|find|fd|head|tail|sed -n|nl|wc|sort|uniq|cut|which|stat|tree|file|pwd|'
            'git (status|log|diff|show|grep|branch))\M[^;&|<>\n]*')) as l(look);
$$;

comment on function _only_looks(tool_calls) is 'Whether a call only reads or searches: that it found nothing is no failure that anybody has to fix.';

create or replace function _facts_logged(p_work_item_id uuid)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('changed', jsonb_agg(jsonb_build_array(f.path, f.times, false) order by f.last))
    from (select content ->> 'filePath' as path, count(*) as times, max(created_at) as last
            from journal_entries
           where work_item_id = p_work_item_id and entry_type = 'file_written' and deleted_at is null and content ->> 'filePath' ~ '\S'
           group by 1 order by 3 desc limit 200) f
  having count(*) > 0;
$$;

comment on function _facts_logged(uuid) is 'The facts of a session that another program keeps, from its journal; see _facts_after().';
