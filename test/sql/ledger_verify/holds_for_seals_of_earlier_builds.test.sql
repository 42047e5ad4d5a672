-- A seal that says nothing of decisions, attempts and artifacts stays what it is: what it covers never changes, and it cannot be made of a newer one.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit();
select play('[[["look"]], ["done"]]');
select is(found('seals', $$ update seals set words = null where work_item_id = item() and turn_id is null $$), 'item is not as it was sealed, or the ledger is not as it was then',
  'a seal that stands for less shows that it does');
select is(found('seals', $$ alter table work_items disable trigger user; update work_items set state_reason = 'forged' where id = item();
  update seals s set words = _sealed_words(_salt(item()), s) where work_item_id = item() and turn_id is null $$)
  ~ 'item is not as it was sealed', true, 'nor can words be made to fit what was forged');
create function pg_temp.as_before() returns void language plpgsql as $$
declare
  v_seal seals;
  v_previous bytea;
begin
  for v_seal in select * from seals where work_item_id = item() order by n loop
    v_seal.words := null;
    v_seal.link := sha256(coalesce(v_previous, sha256(uuid_send(item()))) ||
      (select case when v_seal.turn_id is null then (select _item_hash(_salt(w.id), w) from work_items w where w.id = item())
                   else (select _turn_hash(_salt(item()), t, v_seal.message_count, v_seal.call_count) from turns t where t.id = v_seal.turn_id) end)
      || coalesce((select l.link from work_ledger l where l.work_item_id = item() and l.seq <= v_seal.ledger_count order by l.seq desc limit 1), sha256(uuid_send(item())))
      || timestamptz_send(v_seal.created_at)
      || convert_to(row(item(), v_seal.n, v_seal.turn_id, v_seal.message_count, v_seal.call_count, v_seal.ledger_count)::text, 'UTF8'));
    update seals set words = null, link = v_seal.link where work_item_id = item() and n = v_seal.n;
    v_previous := v_seal.link;
  end loop;
end
$$;
select is(found('seals', 'select pg_temp.as_before()'), 'nothing', 'a chain as the build before made it is valid');
select is(found('seals', $$ select pg_temp.as_before(); alter table foci disable trigger user; update foci set outcome = 'failed' $$) ~ 'sealed', false, 'and says nothing of what it did not cover');
select is(found('seals', $$ select pg_temp.as_before(); alter table work_items disable trigger user; update work_items set outcome_data = '{}' $$) ~ 'item is not as it was sealed', true, 'but all that it did');

select * from finish();
rollback;
