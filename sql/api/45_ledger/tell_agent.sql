-- Messages between agents: a row in the other's inbox, delivered like everything else there. The other's fence is not locked, because two agents that
-- write to each other at the same time would wait for each other.

create or replace function tell_agent(p_work_item_id uuid, p_to text, p_text text, p_lease uuid default null)
  returns table (work_item_id uuid, name text, message_id uuid, reads text)
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_item work_items := _fence(p_work_item_id, coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid));
  v_to uuid[];
  v_id uuid;
  v_since timestamptz;
begin
  if coalesce(p_text, '') !~ '\S' or char_length(p_text) > 2000 then
    perform _raise_invalid('a message to another agent needs a text of at most 2,000 characters', 'Say what matters, and where to find the rest.');
  end if;
  v_to := _agents_named(v_item, p_to);
  -- Messages are counted since the iteration's response; for an agent without iterations, over the last minute.
  v_since := coalesce(
    (select max(t.completed_at) from turns t where t.work_item_id = v_item.id and v_item.focus_id is not null), _now() - interval '1 minute');
  if (select count(distinct (i.created_at, i.content)) from inbox i
       where i.source_work_item_id = v_item.id and i.kind = 'agent_message' and i.created_at >= v_since) >= 10 then
    perform _raise_talked_out('an iteration can send at most ten messages', 'Continue your work; send the rest in one message next time.');
  end if;
  foreach v_id in array v_to loop
    work_item_id := v_id;
    select _agent_name(w), _reads_when(w) into name, reads from work_items w where w.id = v_id;
    -- A message that is still unread is not sent twice.
    message_id := (
      select i.id from inbox i
       where i.source_work_item_id = v_item.id and i.work_item_id = v_id and i.kind = 'agent_message' and i.consumed_at is null
         and i.content = p_text
       limit 1);
    if message_id is null and not _is_talked_out(v_item.id, v_id) then
      insert into inbox (work_item_id, kind, source_work_item_id, content) values (v_id, 'agent_message', v_item.id, p_text)
      returning id into message_id;
    end if;
    if message_id is null and cardinality(v_to) = 1 then
      perform _raise_talked_out(format('%s already has ten messages from you, unread or from the last ten minutes', name), 'Wait until it has read them.');
    elsif message_id is null then
      reads := 'it was not told: it already has ten messages from you, unread or from the last ten minutes';
    end if;
    return next;
  end loop;
end
$$;

comment on function tell_agent(uuid, text, text, uuid) is
  'Sends a message from the agent of a work item to another agent: select * from tell_agent(''…'', ''Coder/code'', ''I changed toCents()''). It becomes a row of the recipient''s inbox and is delivered once, as data between markers, with the recipient''s next request or, for a session of another program, by the next hook or MCP call (inbox_take()). It wakes nothing: an item that waits reads it when it continues. p_to: an item''s id (in any project), its last six or more characters, its name as digests and answers show it (Coder/code, Coder, code, [Coder/code, own test], Coder/code 1a2b3c or session 1a2b3c; looked up in its own tree first, then in its project and in work without one), parent, team (parent, siblings and own children that are not over), or a message that it was told (its sender). p_text: at most 2,000 characters. Limits: ten messages per iteration (per minute for a sender without iterations), and ten to one agent that are unread or from the last ten minutes. Repeating the same text while it is unread returns the existing message. Returns for each recipient: name, message_id (null: it was not told) and reads: when it will read the message. The sender''s digest lists recipients who have not read it. p_lease: required if the item is being driven. Raises WL001 (no such item, or nobody of that name), WL002 (text; several of that name), WL003 (it is over), WL004, WL005, WL009 (too many), 42501.';

create or replace function _raise_talked_out(p_message text, p_hint text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using errcode = 'WL009', message = p_message, hint = p_hint;
end
$$;

comment on function _raise_talked_out(text, text) is 'Raises WL009: enough was said.';

create or replace function _is_talked_out(p_from uuid, p_to uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select count(*) >= 10 from inbox i
   where i.source_work_item_id = p_from and i.work_item_id = p_to and i.kind = 'agent_message'
     and (i.consumed_at is null or i.created_at > _now() - interval '10 minutes');
$$;

comment on function _is_talked_out(uuid, uuid) is 'Whether an agent has sent another as many messages as it may for now.';

create or replace function _agent_name(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _source_label(d.driver, p_item.work_type) || ' ' || right(p_item.id::text, 6) from _driver(p_item.id, p_item.faculty) d;
$$;

comment on function _agent_name(work_items) is 'Who works on an item, for other agents: as digests name it, and the end of the item''s id, which no other one near it has.';

create or replace function _reads_when(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_item.work_type = 'journal' and _journal_state(p_item) = 'active' then 'it reads this at its next prompt or call'
           when p_item.work_type = 'journal' then format('its session is %s: it reads this if the session continues', _journal_state(p_item))
           when p_item.state = 'running' then 'it reads this with its next request'
           -- The engine states facts here, outside of any markers, so words by others (a reason, the name of a claim) are left out.
           else format('%s; it reads this when it continues (messages do not wake agents)', coalesce(
             case when p_item.state = 'waiting' then (
               select case y.waits_for when 'children' then y.why when 'work' then 'waits for other work' when 'claim' then 'waits for a claim'
                                       else 'waits for ' || y.waits_for end
                 from _why_waiting(p_item, (select t.id from turns t where t.work_item_id = p_item.id order by t.id desc limit 1)) y) end,
             p_item.state)) end;
$$;

comment on function _reads_when(work_items) is 'When the agent of an item that is not over will read a message, as a sentence.';

create or replace function _agents_named(p_item work_items, p_to text)
  returns uuid[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_to text := lower(btrim(translate(_one_line(p_to, 200), '[]"', '')));
  v_found uuid[];
  v_over work_items;
begin
  if v_to in ('team', 'the team', 'your team') then
    v_found := array(select w.id from _team_of(p_item.id) t(id) join work_items w on w.id = t.id where w.resolved_at is null);
  elsif v_to in ('parent', 'your parent') then
    v_found := array_remove(array[p_item.parent_id], null);
  else
    v_found := array(
      select i.source_work_item_id from inbox i
       where i.work_item_id = p_item.id and i.kind = 'agent_message' and v_to in (i.id::text, right(i.id::text, 6))
      union
      select w.id from work_items w where w.id = case when v_to ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then v_to::uuid end
      union
      select n.id from _agents_near(p_item, v_to) n where n.is_named);
  end if;
  select * into v_over from work_items w where w.id = any (v_found) and w.resolved_at is not null limit 1;
  if v_over.id is not null then
    raise exception using errcode = 'WL003', message = format('%s is %s and reads no more messages', _agent_name(v_over), v_over.state),
      hint = 'Tell an agent that needs it now, or record a finding: digests report findings.';
  elsif p_item.id = any (v_found) then
    perform _raise_invalid('that is you: messages go to other agents');
  elsif cardinality(v_found) > 1 and v_to !~ '^(the |your )?team$' then
    perform _raise_invalid(format('several agents are called "%s": name one by the end of its id', v_to), _agents_listed(v_found));
  elsif cardinality(v_found) = 0 then
    raise exception using errcode = 'WL001', message = format('no agent working near you is called "%s"', v_to),
      hint = coalesce(_agents_listed(array(select n.id from _agents_near(p_item, v_to) n limit 9)), 'No one else is working.');
  end if;
  return v_found;
end
$$;

comment on function _agents_named(work_items, text) is
  'The work items that an agent refers to by a name, see tell_agent(): one, or its team. Raises WL001 (none), WL002 (several), WL003 (over); the hint lists the possible names.';

create or replace function _agents_near(p_item work_items, p_name text)
  returns table (id uuid, is_named boolean)
  language sql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with near as (
    select w.id, w.resolved_at, w.work_type, w.faculty, w.created_at, w.heartbeat_ends_at, false as is_far
      from work_items w
     where w.root_id = p_item.root_id and w.id <> p_item.id
    union all
    select w.id, w.resolved_at, w.work_type, w.faculty, w.created_at, w.heartbeat_ends_at, true
      from (select o.* from work_items o
             where coalesce(o.project, '') = any (_awareness_projects(p_item.project, 'project'))
               and o.state = any ('{created,queued,running,waiting,paused}')
             order by o.created_at desc, o.id desc
             limit 1000) w
     where w.root_id <> p_item.root_id
  ),
  called as (
    select n.*, right(n.id::text, char_length(m.id_end)) = m.id_end and (m.name is null or m.name = any (l.names)) as is_meant,
           (p_name = any (l.names) or split_part(p_name, ', ', 1) = any (l.names)) and o.is_there as is_called, o.is_there
      from near n
     -- For example [Coder/code, own test], Coder/code 1a2b3c, 1a2b3c.
     cross join (select r[1] as name, r[2] as id_end from (select regexp_match(p_name, '^(?:(.*\S) )?([0-9a-f-]{6,36})$')) r(r)) m
     cross join lateral _driver(n.id, n.faculty) d
     cross join lateral (
       select array[lower(_source_label(d.driver, n.work_type)), lower(_faculty_label(d.driver)), lower(n.work_type),
                    case n.work_type when 'journal' then 'another session' end]) l(names)
     -- There are many sessions that nobody ended.
     cross join lateral (select n.resolved_at is null and (n.work_type <> 'journal' or n.heartbeat_ends_at > _now()) as is_there) o
  )
  select c.id,
         case when bool_or(c.is_meant) over () then c.is_meant
              else c.is_called and c.is_far = bool_and(c.is_far) filter (where c.is_called) over () end
    from called c
   where c.is_there or c.is_meant
   order by c.is_far, c.created_at desc, c.id desc;
$$;

comment on function _agents_near(work_items, text) is
  'Agents at work in an item''s tree, then elsewhere in its project (and in none), newest first; of sessions of other programs, only live ones. is_named: p_name refers to it: by the end of its id, alone or after one of its names, else by name, in the tree before elsewhere.';

create or replace function _agents_listed(p_ids uuid[])
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fenced('The agents there are, as data between the markers', string_agg(
           format('- %s (%s): %s', _agent_name(w), _state_words(w), _one_line(w.description, 80)), E'\n' order by i.n))
    from unnest(p_ids[:9]) with ordinality as i(id, n)
    join work_items w on w.id = i.id;
$$;

comment on function _agents_listed(uuid[]) is 'Up to nine agents, each with the end of its item''s id, its state and what it is to do, for another one. Null: there are none.';
