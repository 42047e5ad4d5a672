begin;
select plan(10);

select from faculty_save('{"name": "afresh", "accepts": ["a"], "recover": {"mode": "fresh", "max_attempts": 3}, "awareness": {"enabled": false}}');
select from faculty_save('{"name": "onwards", "accepts": ["b"], "recover": {"max_attempts": 3}, "awareness": {"enabled": false}}');
create function pg_temp.fail_once(p_item uuid) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
begin
  perform iteration_begin(p_item, v_lease);
  perform ledger_append(p_item, 'finding', 'Found in the first attempt', p_lease => v_lease);
  for v_n in 1..4 loop
    perform iteration_fail(p_item, v_lease, '{"class": "malformed_response", "message": "garbage"}');
    update work_items set run_at = '2000-01-01' where id = p_item;
    exit when (select focus_id from work_items where id = p_item) is null;
    v_lease := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
    perform iteration_begin(p_item, v_lease);
  end loop;
end
$$;
create temporary table item as select work_type, id from work_submit('a', 'Mend it') union all select work_type, id from work_submit('b', 'Mend it');
select pg_temp.fail_once(id) from item;
create temporary table second as
  select i.work_type, i.id, iteration_begin(i.id, (focus_claim(i.id, 'w') ->> 'lease')::uuid) #>> '{request,messages,0,content,0,text}' as task from item i;

select matches((select task from second where work_type = 'a'), 'attempt 1: failed: malformed_response: garbage', 'what was tried before is told');
select matches((select task from second where work_type = 'a'), 'You start afresh', 'and that it is a new start');
select doesnt_match((select task from second where work_type = 'a'), 'Found in the first attempt', 'without the older ledger');
select is((select count(*) from ledger_read((select id from item where work_type = 'a'))), 0::bigint, 'which is hidden');
select is((select count(*) from ledger_read((select id from item where work_type = 'a'), p_is_everything => true)), 1::bigint, 'not lost');
select doesnt_match(ledger_read_formatted((select id from item where work_type = 'a')), 'first attempt', 'in no form');
select is((select seq from ledger_append((select id from item where work_type = 'a'), 'note', 'new', p_lease => (select lease_token from work_items where id = (select id from item where work_type = 'a')))), 2, 'numbers go on');
select is((select array_agg(seq) from ledger_read((select id from item where work_type = 'a'))), array[2], 'and new entries are read');
select matches((select task from second where work_type = 'b'), 'attempt 1: failed: malformed_response', 'the other way is told the same');
select matches((select task from second where work_type = 'b'), 'what it lists as done is done, and .*Found in the first attempt', 'and keeps its ledger');

select * from finish();
rollback;
