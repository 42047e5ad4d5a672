-- A ledger entry as other agents are told of it.

create or replace function _told_entry(p_work_item_id uuid, p_content text, p_created_at timestamptz, p_trust text, p_tool_call_id uuid)
  returns table (line text, source text, age text)
  language sql
  stable
  rows 1
begin atomic
  select _one_line(p_content, 240)
           -- Only a text with a dot before a letter can name a file; looking for names costs as much as the rest of the line.
           || coalesce(' [stale: ' || _one_line(
                case when p_content ~ '\.[A-Za-z]' then _stale_file(p_work_item_id, p_content, p_created_at, p_tool_call_id) end, 120)
              || ' has changed since]', ''),
         case i.state when 'running' then concat_ws(', ', _faculty_label(d.driver), _trust_label(p_trust), 'in progress')
                      else concat_ws(', ', _source_label(d.driver, i.work_type), _trust_label(p_trust)) end,
         case when i.state <> 'running' then _ago(p_created_at, _now()) end
    from work_items i
   cross join lateral _driver(i.id, i.faculty) d
   where i.id = p_work_item_id;
end;

comment on function _told_entry(uuid, text, timestamptz, text, uuid) is
  'One row: a ledger entry as a digest tells it, in one line, whose it is and from what it was known, how old. Inlined, as _items_of() is.';
