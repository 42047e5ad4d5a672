-- Stubs: the few lines that replace a closed block: its steps, what it changed, what failed, what people said in it.

create or replace function _stubs_of(p_cut elisions, p_turns turns[], p_after_seq integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(_text_block(s.stub), ',' order by n)
    from unnest(p_turns) as last
    -- Includes the rest of the previous block: what its stub left to the exchange that closed it, which leaves now.
    cross join generate_series(p_cut.first_block - 1, p_cut.last_block) as n
    cross join lateral (
      select case when n < p_cut.first_block then _stub_rest(p_cut.work_item_id, p_turns, p_after_seq, n)
                  else _block_stub(p_cut.work_item_id, p_turns, p_after_seq, n, last.depth) end as stub) s
   where last.id = p_cut.last_turn_id and s.stub <> '';
$$;

comment on function _stubs_of(elisions, turns[], integer) is 'The stubs of the blocks that a cut closes, as text blocks; null: there are none. p_turns: those shown before it. p_after_seq: as in _block_stub().';

create or replace function _block_stub(p_work_item_id uuid, p_turns turns[], p_after_seq integer, p_block integer, p_through_depth integer default null)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with turn as (
    select t.id, t.depth
      from unnest(p_turns) t
     cross join lateral _exchange_blocks(t.id, t.work_item_id, t.block) b
     where t.block <= p_block and b.block = p_block
  ),
  entry as (
    select e.*, (e.is_said and e.depth > p_through_depth) is true as is_below from _stub_entries(p_work_item_id, p_turns, p_after_seq, p_block) e
  ),
  own as (
    select array_agg(t.id order by t.depth) as turns, exists (select from entry e where e.entry_type = 'step' and e.is_auto) as is_drafted
      from turn t
  )
  select concat_ws(E'\n',
    coalesce(
      (select string_agg(e.line, E'\n' order by e.seq) from entry e where e.entry_type = 'step' and not e.is_below),
      (select format('[completed step %s: see below]', p_block) from entry e where e.is_below limit 1)),
    (select string_agg(format('- you were told: %s', _indent(s.said, '  ')), E'\n' order by t.depth, s.n)
       from turn t
       cross join lateral _told_in(t.id) s
      where t.depth > 0 or s.n >= 10000), -- what came with the task stays with it
    (select string_agg(e.line, E'\n' order by e.seq) from entry e where e.entry_type <> 'step' and not e.is_below),
    -- A step drafted by the engine already contains this.
    (select '- changed: ' || _changed_files(o.turns) from own o where not o.is_drafted),
    (select '- failed: ' || _failed_calls(o.turns) from own o where not o.is_drafted));
$$;

comment on function _block_stub(uuid, turns[], integer, integer, integer) is 'The stub of a closed block, for the agent of a work item, which may have retracted what it inherited with a fork: its steps, then a line for each message from a person or another agent and for each finding, decision and error recorded in it, then the files that its calls changed and the calls that failed. p_turns: turns that include those of the block and the turn that closed it. p_after_seq: any ledger entry older than the block. p_through_depth: the depth of the last turn that leaves; null: all leave. What a call of a later turn recorded is shown by that call, and by _stub_rest() once it leaves.';

create or replace function _stub_rest(p_work_item_id uuid, p_turns turns[], p_after_seq integer, p_block integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when not bool_or(e.entry_type = 'step') then format(E'[completed step %s: also]\n', p_block) else '' end
         || string_agg(e.line, E'\n' order by e.entry_type = 'step' desc, e.seq)
    from _stub_entries(p_work_item_id, p_turns, p_after_seq, p_block) e
   where e.is_said;
$$;

comment on function _stub_rest(uuid, turns[], integer, integer) is 'What the stub of the newest block of a cut did not say, since the exchange that closed the block was still shown: its steps, and what was recorded with them. p_turns: those shown since that cut. Null: nothing.';

create or replace function _stub_entries(p_work_item_id uuid, p_turns turns[], p_after_seq integer, p_block integer)
  returns table (seq integer, entry_type text, line text, is_auto boolean, depth integer, is_said boolean)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with turn as (
    select t.id, t.depth, t.work_item_id, t.block as asked_in, b.block,
           (select max(l.seq) from work_ledger l where l.turn_id = t.id and l.entry_type = 'step' and l.work_item_id = t.work_item_id) as last_step
      from unnest(p_turns) t
     cross join lateral _exchange_blocks(t.id, t.work_item_id, t.block) b
     where t.block <= p_block
  )
  select l.seq, l.entry_type,
         case
           when l.entry_type <> 'step' then format('- %s: %s', l.entry_type, _indent(l.content, '  '))
           else format('[completed step %s: %s]', p_block,
                  case when _is_retracted(p_work_item_id, l.seq) then '(taken back)' else _indent(l.content, '  ') end)
         end,
         l.is_auto, t.depth,
         -- False for entries by code, another tool or the engine, which no response shows.
         exists (select from tool_calls k where k.id = l.tool_call_id and k.parent_call_id is null and k.tool_name = 'ledger_append')
    from turn t
    join work_ledger l on l.work_item_id = t.work_item_id and l.seq > p_after_seq and l.turn_id = t.id
   -- What a response records up to its step belongs to the block that the step closes, even if its calls open the next one.
   where case when l.seq <= t.last_step then t.asked_in else t.block end = p_block
     and (l.entry_type = 'step' or l.entry_type in ('finding', 'decision', 'error') and not _is_retracted(p_work_item_id, l.seq));
$$;

comment on function _stub_entries(uuid, turns[], integer, integer) is 'The entries in the stub of a block, each as its line; arguments as in _block_stub(). depth: of the turn that recorded it; is_said: by a call of its own, which shows its words.';

create or replace function _told_in(p_turn_id uuid, p_is_whole boolean default false)
  returns table (n integer, said text, is_person boolean)
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Text that a client inserted automatically (changed files, reminders) was said by nobody: one line of it is enough.
  select m.sequence, case when m.source = 'event' and not p_is_whole then _one_line(_result_text(m.content), 240) else _result_text(m.content) end,
         m.source = 'human'
    from messages m
   where m.turn_id = p_turn_id and m.role = 'user' and m.source <> 'engine' and m.metadata ->> 'kind' is distinct from 'task'
  union all
  select 10000 + k.ordinal, format('[a person rejected your call: %s] %s', _call_label(k), a.reason), true
    from tool_calls k
    join approvals a on a.tool_call_id = k.id and a.decision = 'rejected' and a.reason ~ '\S'
   where k.turn_id = p_turn_id;
$$;

comment on function _told_in(uuid, boolean) is 'What people and other agents said in a turn: messages with its request and, with n from 10000 on, reasons for rejecting its calls. Text that a client inserted automatically is shortened to one line, unless p_is_whole. is_person: a person said it.';

create or replace function _told_by(p_message messages)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when p_message.role <> 'user' or p_message.metadata ->> 'kind' in ('task', 'child_result') then null
    when p_message.source = 'human' then 'person'
    when p_message.source = 'agent' then 'agent' end;

comment on function _told_by(messages) is
  'Who says a message to an agent: person, or agent (another one). Null: it is the task, a result, or words added by the engine, a hook or the client of a recorded session.';

create or replace function _changed_files(p_turn_ids uuid[])
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _list(array_agg(f.file order by f.n), 12)
    from (select _one_line(x.target, 200)
          || case
            when (array_agg(x.action order by u.n desc, k.created_at desc, k.ordinal desc))[1] = 'delete' then ' (deleted)'
            else '' end as file,
                 min(array[u.n, k.ordinal]) as n
            from unnest(p_turn_ids) with ordinality as u(turn_id, n)
            join tool_calls k on k.turn_id = u.turn_id and k.status in ('completed', 'uncertain')
            join touches x on x.tool_call_id = k.id and x.kind = 'path' and x.action in ('create', 'modify', 'delete')
           group by x.target) f;
$$;

comment on function _changed_files(uuid[]) is 'The files that the calls of these turns changed, in order, on one line; null: none.';

create or replace function _failed_calls(p_turn_ids uuid[], p_has_words boolean default false)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with call as (
    select row_number() over (order by u.n, k.parent_call_id is not null, k.ordinal) as n, _call_label(k) as label, k.is_error,
           case when k.is_error then _result_text(k.result) end as said
      from unnest(p_turn_ids) with ordinality as u(turn_id, n)
      join tool_calls k on k.turn_id = u.turn_id and k.completed_at is not null and k.tool_name not in ('ledger_append', 'ledger_read', 'execute_code')
     -- Computing a label costs more than checking whether any call failed.
     where exists (select from tool_calls e where e.turn_id = any (p_turn_ids) and e.is_error)
  )
  select _list(array_agg(f.line order by f.n), 6)
    from (select min(c.n) filter (where c.is_error) as n,
                 c.label
                   || coalesce(' (exit ' || (array_agg(_exit_code(c.said) order by c.n desc) filter (where c.is_error))[1] || ')', '')
                   || case when count(*) filter (where c.is_error) > 1 then ' ×' || count(*) filter (where c.is_error) else '' end
                   || case
                     when bool_or(not c.is_error)
                       and max(c.n) filter (where not c.is_error) > max(c.n) filter (where c.is_error) then ', passed after'
                     else '' end
                   || case
                     when p_has_words then coalesce(
                       ', last: "' || (array_agg(_last_line(c.said) order by c.n desc) filter (where c.is_error))[1] || '"', '')
                     else '' end as line
            from call c
           group by c.label
          having bool_or(c.is_error)) f;
$$;

comment on function _failed_calls(uuid[], boolean) is 'The failed calls of these turns on one line, each once, with its exit code, how often it failed, and whether it passed afterwards; p_has_words: with the last line of its output. Null: none.';

create or replace function _call_label(p_call tool_calls)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _one_line(coalesce(
           _command_of(_call_input(p_call)),
           concat_ws(' ', p_call.tool_name, (select x.target from touches x where x.tool_call_id = p_call.id order by x.ordinal limit 1))), 80);
$$;

comment on function _call_label(tool_calls) is 'A short label for a call: its command or, without one, its tool and target; at most 80 characters.';

create or replace function _exit_code(p_said text)
  returns text
  language sql
  immutable
  parallel safe
  return (regexp_match(right(p_said, 300) || E'\n' || left(p_said, 300), 'exit(?:ed with)? (?:code|status):?\s*(\d{1,3})', 'i'))[1];

comment on function _exit_code(text) is 'The exit code in a failed command''s result, as text; null: none found.';

create or replace function _last_line(p_said text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _one_line(l.line, 160)
    from regexp_split_to_table(right(p_said, 2000), E'\n') with ordinality as l(line, n)
   where l.line ~ '\S' and l.line !~* '^\s*[\[(]?(process )?(exit|exited with|killed)[^a-z]' and l.line !~* '^\s*\[exit code'
     and l.line !~ '^\s*</?\w+>\s*$'
   order by l.n desc
   limit 1;
$$;

comment on function _last_line(text) is 'The last line of a result, skipping lines that only report how the process ended, or hold nothing but a tag; null: none.';
