-- Inbox of an agent that another program drives: that program asks for it.

create or replace function inbox_take(p_work_item_id uuid)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[];
begin
  perform _check_submitter(p_work_item_id);
  -- Usually there is nothing, and then no lock is needed.
  if not exists (
    select from inbox i
      join work_items w on w.id = i.work_item_id and w.work_type ~ '^(journal$|ldg:)'
     where i.work_item_id = p_work_item_id and i.consumed_at is null and i.kind <> 'child_result') then
    return null;
  end if;
  perform _fence(p_work_item_id, null);
  v_ids := array(select i.id from inbox i where i.work_item_id = p_work_item_id and i.consumed_at is null and i.kind <> 'child_result'
                  order by i.created_at, i.id limit 100);
  update inbox set consumed_at = _now() where id = any (v_ids);
  return (select string_agg(_inbox_text(i), E'\n\n' order by i.created_at, i.id) from inbox i where i.id = any (v_ids));
end
$$;

comment on function inbox_take(uuid) is
  'What people and other agents have said to a session of another program or a task of Agent OS since the last call, as text for its model. Each message is returned once. Hooks and the MCP server call it. Null: nothing is waiting, or workers drive the item and deliver its messages. Raises WL001, WL003 (it is over, and messages are waiting), 42501.';
