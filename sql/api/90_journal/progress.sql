-- The progress of a work item, derived from what it recorded.

create or replace function _was_worked_on(p_work_item_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from foci where work_item_id = p_work_item_id) or exists (select from turns where work_item_id = p_work_item_id);
$$;

comment on function _was_worked_on(uuid) is 'Whether a work item has an attempt or a turn, and so may have calls. Sessions of programs that only log have none, so queries about calls are not planned for them.';

create or replace function _calls_uncertain(p_work_item_id uuid)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(format('%s %s', k.tool_name, _one_line(_call_input(k)::text, 200)) order by k.created_at desc), '{}')
    from tool_calls k
   where k.work_item_id = p_work_item_id and k.is_error and k.status = 'uncertain';
$$;

comment on function _calls_uncertain(uuid) is 'The calls of a work item that may or may not have happened, a line each, newest first.';

create or replace function _files_written(p_work_item_id uuid, p_turns uuid[])
  returns table (path text, at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select x.target, k.completed_at
    from touches x join tool_calls k on k.id = x.tool_call_id
   where p_turns is null and x.work_item_id = p_work_item_id and x.kind = 'path'
     and x.action in ('create', 'modify', 'delete') and k.status = 'completed'
  union all
  select x.target, k.completed_at
    from tool_calls k join touches x on x.tool_call_id = k.id
   where k.turn_id = any (p_turns) and x.kind = 'path' and x.action in ('create', 'modify', 'delete') and k.status = 'completed';
$$;

comment on function _files_written(uuid, uuid[]) is 'The files that calls of a work item changed, in these turns (null: ever), and when.';

create or replace function _progress_of(
    p_item work_items,
    p_turns uuid[],
    out steps text[], out work text[], out asked text, out decisions text[], out errors text[], out plan text[], out uncertain text[],
    out files text[], out children text[])
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with logged as materialized (
    select * from journal_entries where work_item_id = p_item.id and deleted_at is null order by created_at desc, id desc limit 2000
  ), entry as (
    select seq, entry_type, content from work_ledger where work_item_id = p_item.id and seq > greatest(p_item.ledger_epoch, ledger_count(p_item) - 2000)
       and retracts is null and seq <> all (array(select r.retracts from work_ledger r where r.work_item_id = p_item.id and r.retracts is not null))
    union all
    select 1000000 + row_number() over (order by created_at), case when entry_type = 'summary' and not content ? 'model' then 'step' else entry_type end,
           case entry_type
             when 'decision' then concat_ws(': ', nullif(content ->> 'question', ''), content ->> 'chosenOption')
             when 'error' then content ->> 'message'
             else content ->> 'currentStatus' end
      from logged where entry_type in ('decision', 'error', 'summary')
    union all
    select 1000000 + row_number() over (order by created_at), 'plan', (select string_agg(s, E'\n') from jsonb_array_elements_text(content -> 'planSteps') s)
      from logged where entry_type = 'thinking' and jsonb_typeof(content -> 'planSteps') = 'array'
    union all
    select * from _recorded_entries(p_item) where _is_recorded(p_item) -- otherwise it is not even planned
  )
  select (select coalesce(array_agg(content order by seq desc), '{}') from entry where entry_type = 'step'),
         (select coalesce(array_agg(
                   case entry_type
                     when 'finding' then 'Found: '
                     when 'summary' then 'Its own summary: '
                     when 'answer' then 'Said last: '
                     when 'asked' then 'Was asked: '
                     else ''
                   end || content order by seq desc), '{}')
            from entry where entry_type in ('step', 'finding', 'summary', 'answer', 'asked')),
         (select coalesce((select content ->> 'message' from logged where entry_type = 'user_feedback' order by created_at desc, id desc limit 1),
                          (select content from entry where entry_type = 'asked' order by seq desc limit 1))),
         (select coalesce(array_agg(content order by seq desc), '{}') from entry where entry_type = 'decision'),
         (select coalesce(array_agg(content order by last desc), '{}')
            from (select content, max(seq) as last from entry where entry_type = 'error' group by content) e),
         (select _plan_items(case when seq >= 1000000 then content else _plan_text(_newest_plan(p_item.id)) end)
            from entry where entry_type = 'plan' and content ~ '\S' order by seq desc limit 1),
         case when _was_worked_on(p_item.id) then _calls_uncertain(p_item.id) else '{}' end,
         (select coalesce(array_agg(path order by last desc), '{}')
            from (select path, max(at) as last
                    from (select w.path, w.at from _files_written(p_item.id, p_turns) w where _was_worked_on(p_item.id)
                          union all
                          select content ->> 'filePath', created_at from logged where entry_type = 'file_written') f
                   group by path) g),
         (select coalesce(array_agg(format('child %s (%s) is %s', id, _one_line(description, 100), state) order by created_at), '{}')
            from work_items
           where parent_id = p_item.id and resolved_at is null);
$$;

comment on function _progress_of(work_items, uuid[]) is 'What a work item recorded, newest first, from the newest 2,000 entries of its ledger and of those logged to its journal: steps; work (steps and findings); asked, what a person last asked in a journal session; decisions; errors (each once); plan, its open parts; uncertain, calls that may or may not have happened; files that it wrote (in p_turns; null: ever); unfinished children. For an imported session, which has no ledger, _recorded_entries() takes its place.';

create or replace function _state_line(p_item work_items, p_steps text[], p_asked text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws(
           '; ',
           case p_item.work_type when 'journal' then _journal_state(p_item) else p_item.state end
           || coalesce(': ' || _one_line(p_item.state_reason, 200), ''),
    'outcome: ' || _one_line(p_item.outcome_data ->> 'summary', 1000),
    (select format('attempt %s, iteration %s', f.attempt, f.iteration) from foci f where f.work_item_id = p_item.id order by f.attempt desc limit 1),
    'last step: ' || _one_line(p_steps[1], 300), 'asked last: ' || _one_line(p_asked, 300));
$$;

comment on function _state_line(work_items, text[], text) is 'One line on the state of a work item.';

create or replace function _recorded_entries(p_item work_items)
  returns table (seq bigint, entry_type text, content text)
  language sql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with line as materialized (
    select t.id, t.depth from turns t where t.work_item_id = p_item.id and _is_recorded(p_item)
    union all
    -- The beginning that it shares with another session.
    select t.id, t.depth
      from turns f
      join turns t on t.work_item_id = f.work_item_id and t.depth <= f.depth
     where f.id = p_item.fork_turn_id and _is_recorded(p_item)
  ), call as materialized (
    select k.id, k.tool_name, _jsonb_of(k.input) as input, row_number() over (order by t.depth, k.ordinal) as n
      from line t join tool_calls k on k.turn_id = t.id
     where lower(k.tool_name) in ('todowrite', 'todo_write', 'write_todos', 'manage_todo_list', 'update_plan', 'taskcreate', 'taskupdate')
  ), task as (
    -- Tasks that are created one by one are numbered in that order.
    select c.input ->> 'subject' as what, u.input ->> 'status' as status, greatest(c.n, u.n) as n
      from (select input, n, row_number() over (order by n) as number from call where lower(tool_name) = 'taskcreate') c
      left join lateral (select input, n
                           from call
                          where lower(tool_name) = 'taskupdate' and input ->> 'taskId' = c.number::text and input ->> 'status' is not null
                          order by n desc
                          limit 1) u on true
    union all
    -- For lists that are rewritten as a whole, the newest list that contains an item gives its status.
    (select distinct on (d.what) d.what,
            case
              when d.n < (select max(n) from call where lower(tool_name) not in ('taskcreate', 'taskupdate')) and d.status <> 'completed'
                then 'dropped'
              else d.status
            end,
            d.n
       from (select coalesce(p.value ->> 'content', p.value ->> 'step', p.value ->> 'title', p.value ->> 'description') as what,
                    p.value ->> 'status' as status, c.n
              from call c cross join lateral jsonb_path_query(c.input, '$.*[*] ? (exists(@.status))', silent => true) as p(value)
             where lower(c.tool_name) not in ('taskcreate', 'taskupdate')) d
      order by d.what, d.n desc)
  ), said as (
    select t.depth, m.sequence, m.role, m.source,
           case m.role when 'user' then _result_text(m.content)
             else (select string_agg(b ->> 'text', E'\n') from json_array_elements(m.content) b where b ->> 'type' = 'text') end as text
      from line t join messages m on m.turn_id = t.id
     where m.role = 'assistant' or m.source = 'human'
  )
  select 1000000 + t.n, 'step', t.what from task t where t.status = 'completed' and t.what ~ '\S'
  union all
  select 3000000, 'plan', string_agg(o.what, E'\n' order by o.n)
    from (select what, row_number() over (order by status = 'in_progress' desc, n) as n
            from task
           where coalesce(status, 'pending') in ('pending', 'in_progress', 'not-started', 'in-progress') and what ~ '\S') o
    where o.n <= 5
  union all
  select 2000000 + row_number() over (order by c.created_at), 'summary', e.summary
    from line t join compactions c on c.turn_id = t.id join elisions e on e.id = c.elision_id where e.summary ~ '\S'
  union all
  select 3000000 + row_number() over (order by f.n desc), 'error', f.what from _recorded_failures(array(select id from line)) f
  union all
  select 4000000 - s.n, 'asked', s.text
    from (select text, row_number() over (order by depth desc, sequence desc) as n from said where source = 'human') s
   where s.n <= 3
  union all
  select 3000000 + row_number() over (order by d.depth, d.sequence, d.n), 'decision', d.what
    from (select s.depth, s.sequence, d.n, d.what
            from said s cross join lateral _decided_in(s.text) d
           where s.role = 'assistant'
           order by s.depth desc, s.sequence desc, d.n desc limit 10) d
  union all
  select * from (select 4000000, 'answer', text from said where role = 'assistant' and text ~ '\S' order by depth desc, sequence desc limit 1) a;
$$;

comment on function _recorded_entries(work_items) is
  'Substitute for the ledger of an imported session: its todo lists (step, plan), the summaries of its compactions (summary), its newest failed calls (error), what it said that it decided (decision), the newest three prompts of people (asked), its last answer (answer). No rows for other work items.';

create or replace function _recorded_failures(p_turn_ids uuid[])
  returns table (n bigint, what text)
  language sql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select row_number() over (order by t.depth desc, k.ordinal desc),
         format(
           '%s: %s',
           concat_ws(' ', k.tool_name, _one_line(coalesce(x.target, _command_of(k.input)), 60)),
           _one_line(_result_text(k.result), 200))
    from turns t join tool_calls k on k.turn_id = t.id left join touches x on x.tool_call_id = k.id and x.ordinal = 0
   where t.id = any (p_turn_ids) and k.is_error and _result_text(k.result) <> '[engine] The record has no result for this call.'
   order by t.depth desc, k.ordinal desc limit 5;
$$;

comment on function _recorded_failures(uuid[]) is 'The newest five calls of a recorded session that failed, numbered from the newest.';

create or replace function _decided_in(p_text text)
  returns table (n bigint, what text)
  language sql
  immutable
  parallel safe
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select m.n, _one_line(translate(m.found[1], '*', ''), 400)
    from regexp_matches(
           p_text,
           '(?in)(?:^|[.!?:]\s)[\s>*#-]*((?:decision|decided)\**:[^\n]{3,250}|(?:I|we)(?:''ve| have)? (?:decided|chose|opted|settled on)\M[^\n.]{3,250})', 'g')
         with ordinality as m(found, n);
$$;

comment on function _decided_in(text) is 'The decisions stated in a text: "Decision: ...", "I decided to ...".';
