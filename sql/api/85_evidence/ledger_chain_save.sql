-- Sets whether new work gets hash chains.

create or replace function ledger_chain_save(p_is_on boolean)
  returns ledger_chain
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_chain ledger_chain;
begin
  if p_is_on is null then
    perform _raise_invalid('p_is_on must be true or false');
  end if;
  insert into ledger_chain (is_on) values (p_is_on)
  on conflict (is_only) do update set is_on = excluded.is_on, updated_at = _now()
  returning * into v_chain;
  return v_chain;
end
$$;

comment on function ledger_chain_save(boolean) is
  'Whether work items submitted from now on get a chain of hashes over their entries and turns, which ledger_verify() walks; they do unless this says false. Items that are there keep theirs, or stay without. Returns the ledger_chain row. Raises WL002.';
