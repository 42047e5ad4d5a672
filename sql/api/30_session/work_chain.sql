-- Work that continues other work that has ended: the items of one conversation.

create or replace function work_chain(p_work_item_id uuid)
  returns table (
    n integer, work_item_id uuid, how text, by text, said text, state text, state_reason text, created_at timestamptz, resolved_at timestamptz)
  language plpgsql
  stable
  rows 3
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from work_items w where w.id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select (row_number() over (order by w.created_at, w.id))::integer, w.id,
           case when e.state = 'completed' then 'continue' when e.id is not null then 'retry' end,
           w.continued_by, i.content, w.state, w.state_reason, w.created_at, w.resolved_at
      from _chain_of(p_work_item_id) c(id)
      join work_items w on w.id = c.id
      left join work_items e on e.id = w.continues_id
      left join inbox i on i.id = w.continued_with
     order by w.created_at, w.id;
end
$$;

comment on function work_chain(uuid) is
  'The items of one conversation, oldest first: the given one, those it continues, and those that continue it (work_continue(), work_retry()): select n, work_item_id, how, said from work_chain(''…''). how: continue or retry; null: the conversation began with it. by: who continued it. said: with which message. An item that nobody continued is alone. Raises WL001.';

create or replace function _past_of(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive past(id) as (
    select w.continues_id from work_items w where w.id = p_work_item_id and w.continues_id is not null
    union all
    select w.continues_id from past p join work_items w on w.id = p.id where w.continues_id is not null
  )
  select id from past;
$$;

comment on function _past_of(uuid) is 'The items that a work item continues, nearest first.';

create or replace function _chain_of(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 3
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive later(id) as (
    select p_work_item_id
    union all
    select w.id from later l join work_items w on w.continues_id = l.id
  )
  select id from later
  union all
  select * from _past_of(p_work_item_id);
$$;

comment on function _chain_of(uuid) is 'A work item, those that it continues, and those that continue it.';

create or replace function _head_of(p_focus foci)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    -- The session has since continued in another item.
    (select c.fork_turn_id
       from work_items c join foci f on f.work_item_id = c.id and f.attempt = 1
      where c.continues_id = p_focus.work_item_id and f.session_label = p_focus.session_label
      order by c.created_at, c.id
      limit 1),
    (select s.head_turn_id from sessions s where s.label = p_focus.session_label));
$$;

comment on function _head_of(foci) is 'The newest turn of an attempt''s conversation: the head of its session or, if a later item continues that session, the turn from which it does. Null: it has none.';
