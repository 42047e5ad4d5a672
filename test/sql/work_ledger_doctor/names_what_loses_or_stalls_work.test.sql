-- work_ledger_doctor() says what is wrong, of which item, and what to do; of what is fine it says so once.
begin;
select plan(22);
set local work_ledger.now = '2026-01-01 12:00Z';

create function pg_temp.of(p_code text) returns text language sql as $$
  select string_agg(format('%s: %s', severity, says), '; ' order by says) from work_ledger_doctor() where code = p_code $$;

select is((select count(*) from work_ledger_doctor() where severity = 'fine' and code <> 'durability'), 25::bigint, 'a quiet ledger is fine in every check');
select is((select bool_and((remedy is null) = (severity = 'fine')) from work_ledger_doctor()), true, 'whatever is not fine has a remedy');

select agent('{"tools": ["look"]}', '{"max_concurrent": 1}');
select submit('Fix it');
select is(pg_temp.of('workers'), 'error: no worker is alive, but 1 item is due', 'work is due and nobody is there');
select lease_renew('w', '{}', '{}', 'here', 7, null, 4);
select is(pg_temp.of('workers'), 'fine: there is a worker for the work that is due', 'now somebody is');
update workers set version = '0.0.1';
select is(pg_temp.of('versions'), format('warning: worker w on here has version 0.0.1, the ledger has %s', work_ledger_version()), 'a worker of another version');

select drive();
select is(pg_temp.of('leases'), 'fine: no lease has expired', 'a lease that holds');
select later('1 minute');
select is(pg_temp.of('leases'), 'error: the lease of w expired 30 seconds ago', 'a lease that has expired');
select is((select work_item_id from work_ledger_doctor() where code = 'leases'), item(), 'and whose');

select from work_submit('translate', 'Into German');
select from work_submit('analyze', 'Look', p_faculty => 'nobody');
select is(pg_temp.of('routing'), 'error: no faculty accepts work type "translate"; error: there is no faculty "nobody"', 'what nobody takes');
select from generate_series(1, 30) n, work_submit('sing', 'Song ' || n);
select is((select count(*) from work_ledger_doctor() where code = 'routing'), 20::bigint, 'no more than twenty of a kind');
select ok((select bool_or(says like '%and 12 more like it') from work_ledger_doctor() where code = 'routing'), 'and how many more there are');

select faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look", "nowhere"], "model": "claude-opus-4-5", "fallback_model": "claude-opus-4-5", "truncate_closed_blocks": false, "elide_budget": 1000}, "budget": {"money": 5}}');
select faculty_save('{"name": "a-reader", "accepts": ["analyze"]}');
select is(pg_temp.of('tools'), 'warning: faculty "worker" names the tool nowhere, which is not registered', 'a tool that is not there');
select is((select count(*) from work_ledger_doctor() where code = 'settings' and severity = 'warning'), 5::bigint, 'settings without effect');
select ok((select bool_or(says = 'attempt 1 runs with an older configuration of faculty "worker"' and work_item_id = item()) from work_ledger_doctor() where code = 'settings'), 'one that does not hold yet');
select model_save('claude-opus-4-5');
update models set cooldown_ends_at = _now() + interval '1 hour', cooldown_reason = 'rate_limited';
set local timezone = 'Asia/Tokyo';
select is(pg_temp.of('cooldowns'), 'warning: model claude-opus-4-5 is cooling down until '
  || to_char((_now() + interval '1 hour') at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC: rate_limited', 'a model that rests, until when in UTC');
reset timezone;

-- What can only be if something wrote past the functions.
select is(pg_temp.of('invariants'), 'fine: slots, counters and leases of the newest 1,000 open items are consistent', 'nothing is broken');
update fences set ledger_count = 5 where work_item_id = item();
select is(pg_temp.of('invariants'), 'error: its ledger ends with entry 0, but its counter says 5', 'a counter that is wrong');
update fences set ledger_count = 0, attempt = 7 where work_item_id = item();
select is(pg_temp.of('invariants'), 'error: its fence and its row disagree', 'a fence that does not follow');
update fences set attempt = 1, lease_hash = null where work_item_id = item();
select is(pg_temp.of('invariants'), 'error: its attempt has a lease, but no worker drives it', 'a lease that only the attempt knows of');
update fences set lease_hash = '' where work_item_id = item();
update foci set lease_owner = null, lease_expires_at = null;
select is(pg_temp.of('invariants'), 'error: a worker drives it, but its attempt has no lease', 'a lease that only the fence knows of');
update fences set lease_hash = null where work_item_id = item();
update work_items set state = 'paused' where id = item();
select ok(pg_temp.of('invariants') like 'error: it is paused, but holds a slot%', 'a slot that is not given back');

create role ledger_reader;
do $do$
begin
  execute format('grant usage on schema %1$I to ledger_reader; grant select on all tables in schema %1$I to ledger_reader; grant execute on all functions in schema %1$I to ledger_reader', _ledger_schema());
end
$do$;
revoke select on journal_entries, people from ledger_reader;
revoke execute on function _dead_jobs(bigint[]) from ledger_reader;
create temporary table told (says text);
grant insert on told to ledger_reader;
set local role ledger_reader;
insert into told select string_agg(severity || ': ' || says, '; ') from work_ledger_doctor() where code in ('privileges', 'jobs');
reset role;
select is((select says from told), 'error: role ledger_reader may not read journal_entries; fine: not checked: only the owner may see graphile-worker''s jobs', 'a role is told what it may not see, but for what is the owner''s alone');

select * from finish();
rollback;
