-- A claim and the first stage of its iteration, in one call.

create or replace function focus_begin(
    p_work_item_id uuid,
    p_worker_id text,
    p_lease_seconds integer default 30)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_claim record;
  v_begin json;
begin
  select * into v_claim from _focus_claim(p_work_item_id, p_worker_id, p_lease_seconds);
  if v_claim.answer ->> 'kind' = 'claimed' and v_claim.answer ->> 'directory' is null and not v_claim.has_told then
    begin
      v_begin := iteration_begin(p_work_item_id, (v_claim.answer ->> 'lease')::uuid);
    exception when others then
      null; -- the caller of that stage gets the same error, and gives the attempt up
    end;
  end if;
  return json_build_object('claim', v_claim.answer, 'begin', v_begin);
end
$$;

comment on function focus_begin(uuid, text, integer) is
  'focus_claim() and the first iteration_begin() in one transaction: {claim: what focus_claim() returns, begin: what iteration_begin() returns}. begin is null if the item was not claimed, or if iteration_begin() has yet to be called: because the worker must check the directory first, other items had to be told of the claim, or the stage failed. Raises WL001, WL002.';
