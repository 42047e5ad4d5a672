-- A person removes a claim.

create or replace function claim_break(p_work_item_id uuid, p_key text, p_reason text default null)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  delete from claims where work_item_id = v_item.id and key = p_key;
  if not found then
    return false;
  end if;
  perform work_message(v_item.id, _one_line(format('Your claim on "%s" was broken by a person%s. Others may change it now: check it again before you do.',
    _one_line(p_key, 300), coalesce(': ' || nullif(_one_line(p_reason, 1000), ''), '')), 2000));
  return true;
end
$$;

comment on function claim_break(uuid, text, text) is
  'Takes away a claim of a work item: select claim_break(work_item_id, key, ''It is urgent'') from v_claims. Its agent is told, with p_reason, by a message that its journal records with the person this session acts for; for a session of another program, only the journal records it. The next time that work changes the thing, it claims it again, if no one else has by then. Returns false if there is no such claim. Raises WL001, WL003, 42501.';
