-- Digests of other work that quote erased work, and what its agent told others: they are in other conversations, not in the erased work's own.

create or replace function _quotes(p_ids uuid[])
  returns table (message_id uuid, work_item_id uuid, inbox_id uuid)
  language sql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select distinct m.id, t.work_item_id, null::uuid
    from unnest(p_ids) as i(id)
    join messages m on m.context ? 'shown' and m.context -> 'shown' @> jsonb_build_array(jsonb_build_array(i.id))
    join turns t on t.id = m.turn_id and t.work_item_id <> all (p_ids)
  union all
  select m.id, i.work_item_id, i.id
    from inbox i
    left join messages m on m.turn_id = i.turn_id and m.metadata ->> 'inbox_id' = i.id::text
   where i.source_work_item_id = any (p_ids) and i.kind = 'agent_message' and i.work_item_id <> all (p_ids) and i.content <> '[erased]';
$$;

comment on function _quotes(uuid[]) is 'The messages of other work whose digest tells of these items, and what their agents told others (inbox_id; message_id is null where no turn delivered it).';

create or replace function _quotes_erase(p_work_item_id uuid)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_quote record;
  v_count integer := 0;
  v_is_left boolean := false;
begin
  for v_quote in select q.* from _quotes(array[p_work_item_id]) q order by q.message_id, q.inbox_id loop
    if _is_told_over(v_quote.work_item_id) then
      perform _told_copies_erase(v_quote.work_item_id, v_quote.message_id) where v_quote.inbox_id is not null;
      update messages m
         set erased_hash = _message_words(_salt(v_quote.work_item_id), m),
             content = case
               when v_quote.inbox_id is not null then ('[' || _text_block('[engine] What another agent said stood here; it is erased.') || ']')::json
               when m.metadata ->> 'kind' = 'task' then _without_digest(m.content)
               else ('[' || _text_block('[engine] What other agents were doing stood here; some of it is erased.') || ']')::json end,
             context = m.context - 'shown'
       where m.id = v_quote.message_id;
      update inbox set content = '[erased]' where id = v_quote.inbox_id;
      delete from search_entries where id = v_quote.inbox_id and source = 'message';
      v_count := v_count + 1;
    elsif v_quote.message_id is null then
      -- No turn contains it, so no conversation changes. A transaction that is delivering it now has locked the row.
      update inbox set content = '[erased]', consumed_at = coalesce(consumed_at, _now())
       where id = (select i.id from inbox i where i.id = v_quote.inbox_id and i.turn_id is null for no key update skip locked);
      if found then
        delete from search_entries where id = v_quote.inbox_id and source = 'message';
        v_count := v_count + 1;
      else
        v_is_left := true;
      end if;
    else
      v_is_left := true;
    end if;
  end loop;
  -- The files that it and the readers worked on.
  delete from awareness_shown where work_item_id = p_work_item_id and path <> '' and not v_is_left;
  -- A transaction that was open while the words went may have told them, and commit later: the next run looks again.
  update erasures
     set quote_count = quote_count + v_count, is_quoted = v_is_left or erased_at is null or erased_at > _now() - interval '1 hour'
   where work_item_id = p_work_item_id;
  return v_count;
end
$$;

comment on function _quotes_erase(uuid) is
  'Replaces the digests in other work that tell of an erased item, and what its agent told others; those of work that is not over stay until it is, since the beginning of a conversation under way must not change. Returns how many.';

create or replace function _told_copies_erase(p_work_item_id uuid, p_message_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_marker text := (select substring(m.content::text from '<(data-[0-9a-f]{12})>') from messages m where m.id = p_message_id);
  v_ids uuid[] := array(select _told_with(p_work_item_id));
begin
  update elisions e
     set stubs = _without_told(e.stubs, v_marker)
   where e.focus_id in (select f.id from foci f where f.work_item_id = any (v_ids)) and strpos(e.stubs::text, v_marker) > 0;
  update messages m
     set erased_hash = _message_words(_salt(t.work_item_id), m), content = _without_told(m.content, v_marker)
    from turns t
   where t.id = m.turn_id and t.work_item_id = any (v_ids) and m.metadata ->> 'kind' = 'task' and strpos(m.content::text, v_marker) > 0;
end
$$;

comment on function _told_copies_erase(uuid, uuid) is
  'Replaces the copies of what another agent said in a message of this work: in the stubs of its cuts, in the first messages of later attempts, and in those of work that goes on from its turns.';

create or replace function _without_told(p_content json, p_marker text)
  returns json
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select regexp_replace(p_content::text, format('<%1$s>.*?</%1$s>', p_marker), '[engine] What another agent said stood here; it is erased.', 'g')::json;
$$;

comment on function _without_told(json, text) is 'Text blocks without what stands between these markers, which no other text has: see _fenced().';

create or replace function _has_quotes_to_go(p_work_item_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from _quotes(array[p_work_item_id]) q where _is_told_over(q.work_item_id));
$$;

comment on function _has_quotes_to_go(uuid) is 'Whether a digest of work that is over quotes an erased item.';

create or replace function _is_told_over(p_work_item_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select not exists (select from _told_with(p_work_item_id) t(id) join work_items w on w.id = t.id where w.resolved_at is null);
$$;

comment on function _is_told_over(uuid) is 'Whether no conversation goes on from the turns of an item: neither its own nor that of a fork.';

create or replace function _told_with(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive told(id) as (
    select p_work_item_id
    union
    select f.id from told t cross join lateral unnest(_erase_forks(array[t.id])) as f(id)
  )
  select t.id from told t;
$$;

comment on function _told_with(uuid) is 'A work item, and all other work that goes on from its turns.';

create or replace function _without_digest(p_content json)
  returns json
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select ('[' || string_agg(
           case when b.value ->> 'type' = 'text' and b.value ->> 'text' ~ '== AWARENESS ==' then _text_block(
             -- From the engine's introduction to the end of the text between markers; a digest comes last in its message.
             regexp_replace(b.value ->> 'text',
                            '(What else is going on|What is new elsewhere since you were last told), as of [^\n]*:\n\n'
                              '<(data-[0-9a-f]{12})>\n.*\n</\2>',
                            '[engine] What other agents were doing stood here; some of it is erased.'))
           else b.value::text end, ',' order by b.n) || ']')::json
    from json_array_elements(p_content) with ordinality as b(value, n);
$$;

comment on function _without_digest(json) is 'The blocks of a message without the digest that it holds.';
