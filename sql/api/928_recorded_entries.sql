-- What a recorded session would have written into a ledger: its agent kept none.

create or replace function _recorded_entries(p_item work_items)
  returns table (seq bigint, entry_type text, content text)
  language sql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with line as materialized (
    select t.id, t.depth from turns t where t.work_item_id = p_item.id and p_item.work_type = 'import'
    union all
    -- The beginning that it shares with another.
    select t.id, t.depth from turns f join turns t on t.work_item_id = f.work_item_id and t.depth <= f.depth where f.id = p_item.fork_turn_id and p_item.work_type = 'import'
  ), call as materialized (
    select k.id, k.tool_name, _jsonb_of(k.input) as input, row_number() over (order by t.depth, k.ordinal) as n
      from line t join tool_calls k on k.turn_id = t.id
     where lower(k.tool_name) in ('todowrite', 'todo_write', 'write_todos', 'manage_todo_list', 'update_plan', 'taskcreate', 'taskupdate')
  ), task as (
    -- Tasks that are made one by one are numbered in that order.
    select c.input ->> 'subject' as what, u.input ->> 'status' as status, greatest(c.n, u.n) as n
      from (select input, n, row_number() over (order by n) as number from call where lower(tool_name) = 'taskcreate') c
      left join lateral (select input, n from call where lower(tool_name) = 'taskupdate' and input ->> 'taskId' = c.number::text and input ->> 'status' is not null order by n desc limit 1) u on true
    union all
    -- Of lists that are written whole each time, the newest that names a part says how it stands.
    (select distinct on (d.what) d.what, case when d.n < (select max(n) from call where lower(tool_name) not in ('taskcreate', 'taskupdate')) and d.status <> 'completed' then 'dropped' else d.status end, d.n
      from (select coalesce(p.value ->> 'content', p.value ->> 'step', p.value ->> 'title', p.value ->> 'description') as what, p.value ->> 'status' as status, c.n
              from call c cross join lateral jsonb_path_query(c.input, '$.*[*] ? (exists(@.status))', silent => true) as p(value)
             where lower(c.tool_name) not in ('taskcreate', 'taskupdate')) d
      order by d.what, d.n desc)
  ), said as (
    select t.depth, m.sequence, m.role, m.source, _result_text(m.content) as text
      from line t join messages m on m.turn_id = t.id
     where m.role = 'assistant' or m.source = 'human'
  )
  select 1000000 + t.n, 'step', t.what from task t where t.status = 'completed' and t.what ~ '\S'
  union all
  select 3000000, 'plan', string_agg(o.what, E'\n' order by o.n)
    from (select what, row_number() over (order by status = 'in_progress' desc, n) as n from task where coalesce(status, 'pending') in ('pending', 'in_progress', 'not-started', 'in-progress') and what ~ '\S') o where o.n <= 5
  union all
  select 2000000 + row_number() over (order by c.created_at), 'summary', e.summary
    from line t join compactions c on c.turn_id = t.id join elisions e on e.id = c.elision_id where e.summary ~ '\S'
  union all
  select 3000000 + row_number() over (order by f.n desc), 'error', f.what
    from (select row_number() over (order by t.depth desc, k.ordinal desc) as n,
                 format('%s: %s', concat_ws(' ', k.tool_name, _one_line(coalesce(x.target, _jsonb_of(k.input) ->> 'command', _jsonb_of(k.input) ->> 'cmd'), 60)), _one_line(_result_text(k.result), 200)) as what
            from line t join tool_calls k on k.turn_id = t.id left join touches x on x.tool_call_id = k.id and x.ordinal = 0
           where k.is_error and _result_text(k.result) <> '[engine] The record has no result for this call.'
           order by t.depth desc, k.ordinal desc limit 5) f
  union all
  select 4000000 - s.n, 'asked', s.text from (select text, row_number() over (order by depth desc, sequence desc) as n from said where source = 'human') s where s.n <= 3
  union all
  select * from (select 4000000, 'answer', text from said where role = 'assistant' and text ~ '\S' order by depth desc, sequence desc limit 1) a;
$$;

comment on function _recorded_entries(work_items) is
  'Of an imported session, as entries of a ledger: what its todo lists say (step, plan), the summaries of its compactions (summary), its newest failed calls (error), the newest three prompts of people (asked), its last answer (answer). Of any other work item nothing.';
